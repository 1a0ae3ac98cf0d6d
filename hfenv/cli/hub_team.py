"""`hfenv hub token`, `org` and `quota`: who may use the embedded hub, and how much of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv import paths
from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import UsageError

if TYPE_CHECKING:
    from hfenv.localhub.accounts import OrgRole
    from hfenv.localhub.organisations import Organisations
    from hfenv.localhub.quotas import Quotas
    from hfenv.localhub.users import TokenStore

token_app = new_app(no_args_is_help=True, help="Users' tokens: create, list, revoke.")
org_app = new_app(no_args_is_help=True, help="Organisations: namespaces of several users.")
quota_app = new_app(no_args_is_help=True, help="How much a namespace may store.")

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

RootOption = Annotated[
    Path | None, typer.Option("--root", help="Storage folder.", show_default="the hub folder of HFENV_HOME")
]


def storage_root(given: Path | None) -> Path:
    return paths.expanded(given) if given else paths.local_hub_root()


def _store(root: Path | None) -> TokenStore:
    from hfenv.localhub.users import TokenStore

    return TokenStore(storage_root(root))


def _made(root: Path | None) -> Path:
    """The storage folder, made if it is missing."""
    from hfenv.localhub.storage import Storage

    return Storage(storage_root(root)).root


@token_app.command("create")
def create_token(
    user: Annotated[str, typer.Argument(help="The user's name, and the namespace they may write.")],
    read_only: Annotated[
        bool, typer.Option("--read-only", help="May read private repositories, but not write.")
    ] = False,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="A fine-grained token: read:ORG, write:ORG, read:ORG/NAME or write:ORG/NAME; repeatable."),
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days after which it expires.")] = None,
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make a token and print it, once: only its hash is stored."""
    from hfenv.localhub.accounts import Role, Scope

    if scope and read_only:
        raise UsageError("--scope and --read-only don't go together.", "Write the scopes as read:NAME.")
    output, scopes = Output(fmt), [Scope.parse(text) for text in scope or ()]
    role = Role.FINE_GRAINED if scopes else Role.READ if read_only else Role.WRITE
    life = None if days is None else timedelta(days=days)
    text = _store(_made(root)).create(user, role, scopes, life)
    data = {"user": user, "role": role.value, "scopes": [str(each) for each in scopes], "days": days, "token": text}
    output.result("hub token create", data, text, text)
    may = f"opens {', '.join(map(str, scopes))} alone" if scopes else f"may {role.value}"
    end = f", is good for {days} days" if days else ""
    output.note(f"Give it to tools as HF_TOKEN. It is {user}'s, {may}{end}, and can't be printed again.")


@token_app.command("list")
def list_tokens(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """List tokens by id; the tokens themselves aren't stored."""
    tokens = _store(root).tokens()
    rows = [
        {
            "id": each.id,
            "user": each.user,
            "role": each.role.value,
            "created": each.created,
            "expires": each.expires,
            "scopes": [str(scope) for scope in each.scopes],
        }
        for each in tokens
    ]
    lines = [
        [
            each.id,
            each.user,
            each.role.value,
            each.created[:10],
            (each.expires or "never")[:10],
            " ".join(map(str, each.scopes)) or "-",
        ]
        for each in tokens
    ]
    text = table(("id", "user", "role", "created", "expires", "scopes"), lines) if rows else "No tokens."
    Output(fmt).result("hub token list", {"tokens": rows}, text, "\n".join(each.id for each in tokens))


@token_app.command("revoke")
def revoke_token(
    token: Annotated[str, typer.Argument(help="The token's id, or the token.")],
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make a token invalid at once, for running servers too."""
    gone = _store(root).revoke(token)
    Output(fmt).result(
        "hub token revoke", {"id": gone.id, "user": gone.user}, f"Revoked token {gone.id} of {gone.user}.", gone.id
    )


# Organisations

OrgArgument = Annotated[str, typer.Argument(help="The organisation.")]
UserArgument = Annotated[str, typer.Argument(help="A user's name.")]


def _organisations(root: Path) -> Organisations:
    from hfenv.localhub.organisations import Organisations

    return Organisations(root)


def _role(text: str) -> OrgRole:
    from hfenv.localhub.accounts import OrgRole

    try:
        return OrgRole(text)
    except ValueError:
        raise UsageError(f"'{text}' isn't a role.", "A role is read, contributor, write or admin.") from None


@org_app.command("create")
def create_org(
    org: OrgArgument,
    admin: Annotated[str, typer.Option(help="The user who administrates it.")],
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make an organisation, whose members share a namespace."""
    folder = _made(root)
    _organisations(folder).create(org, admin, _store(folder).users())
    Output(fmt).result("hub org create", {"org": org, "admin": admin}, f"{org}: {admin} is its administrator.", org)


@org_app.command("add")
def add_member(
    org: OrgArgument,
    user: UserArgument,
    role: Annotated[str, typer.Option(help="read, contributor, write or admin.")] = "write",
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make a user a member, or give a member another role. A contributor writes what they made themselves."""
    _organisations(storage_root(root)).set_role(org, user, _role(role))
    Output(fmt).result("hub org add", {"org": org, "user": user, "role": role}, f"{org}: {user} has {role}.", user)


@org_app.command("remove")
def remove_member(
    org: OrgArgument, user: UserArgument, root: RootOption = None, fmt: FormatOption = Format.HUMAN
) -> None:
    """Take a member out; their token stops working for the organisation at once."""
    _organisations(storage_root(root)).remove(org, user)
    Output(fmt).result("hub org remove", {"org": org, "user": user}, f"{org}: {user} isn't a member any more.", user)


@org_app.command("delete")
def delete_org(org: OrgArgument, root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """Forget an organisation; its repositories stay, for the administrator of the hub."""
    _organisations(storage_root(root)).delete(org)
    Output(fmt).result("hub org delete", {"org": org}, f"There is no organisation {org} any more.", org)


@org_app.command("list")
def list_orgs(
    org: Annotated[str | None, typer.Argument(help="One organisation.")] = None,
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """List organisations and their members."""
    store = _organisations(storage_root(root))
    found = {org: store.members(org)} if org else store.all()
    rows = [
        {"org": name, "user": user, "role": role.value}
        for name, members in sorted(found.items())
        for user, role in sorted(members.items())
    ]
    text = table(("organisation", "user", "role"), [list(row.values()) for row in rows]) if rows else "None."
    Output(fmt).result("hub org list", {"members": rows}, text, "\n".join(sorted(found)))


# Quotas


def _quotas(root: Path) -> Quotas:
    from hfenv.localhub.quotas import Quotas

    return Quotas(root)


def _size(text: str) -> int | None:
    number = text.upper().rstrip("BKMGT")
    unit = text.upper()[len(number) :]
    if text == "none":
        return None
    try:
        return int(float(number) * _UNITS["" if unit == "B" else unit])
    except (ValueError, KeyError, OverflowError):
        raise UsageError(f"'{text}' isn't a size.", "Write bytes or 500MB, 10GB, 1TB; `none` is no limit.") from None


@quota_app.command("set")
def set_quota(
    namespace: Annotated[str, typer.Argument(help="A user or an organisation; * is everybody without their own.")],
    size: Annotated[str, typer.Option("--bytes", help="All its repositories together, such as 10GB.")] = "none",
    files: Annotated[int | None, typer.Option(min=1, help="Files in a repository.")] = None,
    root: RootOption = None,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Limit what a namespace may store; without options it has no limits."""
    from hfenv.localhub.quotas import Quota

    quota = Quota(_size(size), files)
    _quotas(_made(root)).set(namespace, quota)
    data = {"namespace": namespace, "bytes": quota.bytes, "files": quota.files}
    text = f"{namespace}: {_shown(quota.bytes)} bytes, {_shown(quota.files)} files in a repository."
    Output(fmt).result("hub quota set", data, text, namespace)


def _shown(limit: int | None) -> str:
    return "unlimited" if limit is None else f"{limit:,}"


@quota_app.command("list")
def list_quotas(root: RootOption = None, fmt: FormatOption = Format.HUMAN) -> None:
    """List quotas."""
    found = sorted(_quotas(storage_root(root)).all().items())
    rows = [{"namespace": name, "bytes": quota.bytes, "files": quota.files} for name, quota in found]
    lines = [[name, _shown(quota.bytes), _shown(quota.files)] for name, quota in found]
    text = table(("namespace", "bytes", "files"), lines) if rows else "No quotas."
    Output(fmt).result("hub quota list", {"quotas": rows}, text, "\n".join(name for name, _ in found))
