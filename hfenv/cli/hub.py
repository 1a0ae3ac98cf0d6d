"""`hfenv hub`: serve the embedded hub, and tell where it is and who may use it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv import paths
from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import UsageError

if TYPE_CHECKING:
    from hfenv.localhub.users import Token, TokenStore

app = new_app(no_args_is_help=True, help="The embedded hub: serve, env, path, token.")
token_app = new_app(no_args_is_help=True, help="Users' tokens: create, list, revoke.")
app.add_typer(token_app, name="token")

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

RootOption = Annotated[
    Path | None, typer.Option("--root", help="Storage folder.", show_default="the hub folder of HFENV_HOME")
]


def _root(given: Path | None) -> Path:
    return paths.expanded(given) if given else paths.local_hub_root()


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 picks a free one.")] = 8177,
    token: Annotated[
        list[str] | None,
        typer.Option(metavar="USER:TOKEN", help="A user's token, good while this server runs; may be repeated."),
    ] = None,
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Serve the embedded hub until Ctrl-C."""
    from hfenv.localhub.serve import serve as run

    output, folder = Output(fmt), _root(root)
    tokens = [_parse_token(text) for text in token or ()]
    if host not in _LOOPBACK:
        output.warn(f"Listening on {host}: other machines can reach this hub, and tokens travel unencrypted.")

    def ready(url: str) -> None:
        data = {"url": url, "root": str(folder), "pid": os.getpid()}
        output.result("hub serve", data, f"{url}\nReady. Storage: {folder}. Stop with Ctrl-C.", url)
        if not tokens and not _store(folder).tokens():
            output.note("There are no users yet, so nobody can write. Make one with: hfenv hub token create NAME")

    run(folder, host=host, port=port, tokens=tokens, on_ready=ready)
    output.note("Stopped.")


def _parse_token(text: str) -> Token:
    from hfenv.localhub.users import Role, Token, check_user

    user, colon, secret = text.partition(":")
    if not colon or not user or not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        # The text itself isn't repeated: it may be half a secret.
        raise UsageError(
            "A --token isn't of the form USER:TOKEN.", "Write a user's name, a colon and a token without spaces."
        )
    return Token.of(secret, check_user(user), Role.WRITE)


@app.command()
def env(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """Print what other tools need set.

    In a shell: eval "$(hfenv hub env)"
    """
    from hfenv.localhub.clientenv import variables
    from hfenv.localhub.serve import DEFAULT_HOST, DEFAULT_PORT, running_server

    output, folder = Output(fmt), _root(root)
    running = running_server(folder)
    endpoint = running or f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
    found = variables(endpoint, paths.cache_root() / "hf-local")
    lines = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in found.items())
    output.result("hub env", {"variables": found, "running": running is not None}, lines, lines)
    if running is None:
        output.note("No server runs over this storage folder; these lines are for: hfenv hub serve")
    if (given := os.environ.get("HF_TOKEN")) and _store(folder).find(given) is None:
        output.note("HF_TOKEN is set, but not to a stored token of this hub, which may refuse it. See: hfenv hub token")


@app.command()
def path(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """Print the storage folder."""
    folder = str(_root(root))
    Output(fmt).result("hub path", {"path": folder}, folder, folder)


def _store(root: Path) -> TokenStore:
    from hfenv.localhub.users import TokenStore

    return TokenStore(root)


@token_app.command("create")
def create_token(
    user: Annotated[str, typer.Argument(help="The user's name, and the namespace they may write.")],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="May read private repositories, but not write.")
    ] = False,
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make a token and print it, once: only its hash is stored."""
    from hfenv.localhub.storage import Storage
    from hfenv.localhub.users import Role

    output, role = Output(fmt), Role.READ if read_only else Role.WRITE
    text = _store(Storage(_root(root)).root).create(user, role)
    output.result("hub token create", {"user": user, "role": role.value, "token": text}, text, text)
    output.note(f"Give it to tools as HF_TOKEN. It is {user}'s, may {role.value}, and can't be printed again.")


@token_app.command("list")
def list_tokens(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """List tokens by id; the tokens themselves aren't stored."""
    tokens = _store(_root(root)).tokens()
    rows = [{"id": each.id, "user": each.user, "role": each.role.value, "created": each.created} for each in tokens]
    text = table(("ID", "USER", "ROLE", "CREATED"), [list(row.values()) for row in rows]) if rows else "No tokens."
    Output(fmt).result("hub token list", {"tokens": rows}, text, "\n".join(row["id"] for row in rows))


@token_app.command("revoke")
def revoke_token(
    token: Annotated[str, typer.Argument(help="The token's id, or the token.")],
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make a token invalid at once, for running servers too."""
    gone = _store(_root(root)).revoke(token)
    Output(fmt).result(
        "hub token revoke", {"id": gone.id, "user": gone.user}, f"Revoked token {gone.id} of {gone.user}.", gone.id
    )
