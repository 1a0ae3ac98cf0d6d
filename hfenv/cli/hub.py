"""`hfenv hub`: serve the embedded hub, and tell where it is and who may use it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv import paths
from hfenv.cli import hub_team as team
from hfenv.cli.common import age_seconds
from hfenv.cli.hub_team import RootOption, storage_root
from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import UsageError

if TYPE_CHECKING:
    from hfenv.localhub.users import Token, TokenStore

app = new_app(no_args_is_help=True, help="The embedded hub: serve it, its users, organisations and quotas.")
app.add_typer(team.token_app, name="token")
app.add_typer(team.org_app, name="org")
app.add_typer(team.quota_app, name="quota")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 picks a free one.")] = 8177,
    token: Annotated[
        list[str] | None,
        typer.Option(metavar="USER:TOKEN", help="A user's token, good while this server runs; may be repeated."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="A proxy in front whose X-Forwarded headers are believed; may be repeated."
        ),
    ] = None,
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Serve the embedded hub until Ctrl-C."""
    from hfenv.localhub.serve import is_loopback
    from hfenv.localhub.serve import serve as run

    output, folder = Output(fmt), storage_root(root)
    tokens = [_parse_token(text) for text in token or ()]
    if not is_loopback(host) and not proxy:
        output.warn(f"Listening on {host}: other machines can reach this hub, and tokens travel unencrypted.")

    def ready(url: str) -> None:
        data = {"url": url, "root": str(folder), "pid": os.getpid()}
        output.result("hub serve", data, f"{url}\nReady. Storage: {folder}. Stop with Ctrl-C.", url)
        if not tokens and not _store(folder).tokens():
            output.note("There are no users yet, so nobody can write. Make one with: hfenv hub token create NAME")

    run(folder, host=host, port=port, tokens=tokens, proxies=proxy or (), on_ready=ready)
    output.note("Stopped.")


def _parse_token(text: str) -> Token:
    from hfenv.localhub.accounts import Role, check_account
    from hfenv.localhub.users import Token

    user, colon, secret = text.partition(":")
    if not colon or not user or not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        # The text itself isn't repeated: it may be half a secret.
        raise UsageError(
            "A --token isn't of the form USER:TOKEN.", "Write a user's name, a colon and a token without spaces."
        )
    return Token.of(secret, check_account(user), Role.WRITE)


@app.command()
def env(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """Print what other tools need set.

    In a shell: eval "$(hfenv hub env)"
    """
    from hfenv.localhub.clientenv import variables
    from hfenv.localhub.serve import DEFAULT_HOST, DEFAULT_PORT, running_server

    output, folder = Output(fmt), storage_root(root)
    running = running_server(folder)
    endpoint = running or f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
    found = variables(endpoint, paths.cache_root() / "hf-local")
    lines = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in found.items())
    output.result("hub env", {"variables": found, "running": running is not None}, lines, lines)
    if running is None:
        output.note("No server runs over this storage folder; these lines are for: hfenv hub serve")
    if (given := os.environ.get("HF_TOKEN")) and not _store(folder).knows(given):
        output.note("HF_TOKEN is set, but not to a stored token of this hub, which may refuse it. See: hfenv hub token")


@app.command()
def path(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """Print the storage folder."""
    folder = str(storage_root(root))
    Output(fmt).result("hub path", {"path": folder}, folder, folder)


def _store(root: Path) -> TokenStore:
    from hfenv.localhub.users import TokenStore

    return TokenStore(root)


@app.command()
def gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would go, and delete nothing.")] = False,
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="How old garbage must be, at least two hours: 12h, 30d.")
    ] = "1d",
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Delete large files that no commit names, leftovers and unreachable git objects; servers may go on running."""
    from datetime import timedelta

    from hfenv.localhub.collecting import collect
    from hfenv.localhub.storage import Storage

    found = collect(Storage(storage_root(root)), older_than=timedelta(seconds=age_seconds(older_than)), dry_run=dry_run)
    total = sum(each.size for each in found)
    rows = [{"kind": each.kind, "path": str(each.path), "bytes": each.size} for each in found]
    lines = [[each.kind, f"{each.size:,}", str(each.path)] for each in found]
    verb = "would go" if dry_run else "went"
    text = f"{table(('kind', 'bytes', 'path'), lines)}\n{total:,} bytes {verb}." if rows else "Nothing to collect."
    data = {"garbage": rows, "bytes": total, "dry_run": dry_run}
    Output(fmt).result("hub gc", data, text, "\n".join(str(each.path) for each in found))
