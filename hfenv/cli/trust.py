"""`hfenv trust`: which remote code may run on this machine without being asked about again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.escapes import said, visible_lines
from hfenv.cli.options import FormatOption, HubOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import ExitCode, NotFoundError
from hfenv.hub.client import hub_key, hub_name
from hfenv.hub.references import check_repo_id
from hfenv.runtime.trust import TrustEntry, TrustStore

if TYPE_CHECKING:
    from hfenv.trusting import TrustChange

app = new_app(no_args_is_help=True)


@app.callback()
def _trust() -> None:
    """Which remote code may run here: exactly the code and reward that you looked at, by their digests."""


@app.command("list")
def show(fmt: FormatOption = Format.HUMAN) -> None:
    """Print what is trusted."""
    entries = TrustStore().entries
    names = {hub_key(name): name for name in ("hf", "local")}
    rows = [
        (e.repo, names.get(e.endpoint, e.endpoint), *((digest or "-")[:12] for digest in digests))
        for e in entries
        for digests in [(e.code, e.reward, e.policies, e.tasks)]
    ]
    human = (
        table(("repository", "hub", "code", "reward", "policies", "tasks"), rows) if rows else "Nothing is trusted yet."
    )
    quiet = "\n".join(entry.repo for entry in entries)
    Output(fmt).result("trust list", {"trusted": [_data(e) for e in entries]}, human, quiet=quiet)


@app.command()
def add(
    ref: Annotated[str, typer.Argument(help="org/name with @VERSION or @HASH, or a pulled folder.")],
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Trust the code, the reward, the policies and, where there is one, the generator of tasks of a release.

    Another version of them will be asked about again.
    """
    from hfenv.specify import Origin
    from hfenv.trusting import trust

    found = trust(ref, origin=Origin(hub), now=time.time())
    entry = found.entry
    human = f"Trusted: {entry.repo}, code {entry.code[:12]}, reward {entry.reward[:12]}"
    data = {"trusted": [_data(entry)], "revision": found.commit or None}
    Output(fmt).result("trust add", data, human, quiet=entry.repo)


@app.command()
def diff(
    ref: Annotated[str, typer.Argument(help="org/name, with @VERSION or @HASH if need be, or a pulled folder.")],
    patches: Annotated[bool, typer.Option("--patch/--no-patch", help="Show the lines that differ.")] = True,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Show what changed in code, reward and policies since something of this repository was trusted last.

    Nothing is run. Exits 1 where something differs, 0 where exactly this is trusted.
    """
    from hfenv.specify import Origin
    from hfenv.trusting import since_trusted

    found = since_trusted(ref, origin=Origin(hub, offline))
    files = None if found.files is None else [asdict(change) for change in found.files]
    data = {
        "repo": found.now.entry.repo,
        "trusted": found.trusted,
        "since": found.seen.commit if found.seen else None,
        "revision": found.now.commit or None,
        "parts": list(found.parts),
        "files": files,
        "why": found.why,
    }
    quiet = "\n".join(found.parts)
    Output(fmt).result("trust diff", data, lambda: "\n".join(_changed(found, ref, patches=patches)), quiet=quiet)
    if not found.trusted:
        raise typer.Exit(ExitCode.FINDINGS)


def _changed(found: TrustChange, ref: str, *, patches: bool) -> Iterator[str]:
    repo = found.now.entry.repo
    if found.trusted:
        yield f"Exactly this code, reward and policies of {repo} are trusted."
        return
    since = f" at {found.seen.commit[:12]}" if found.seen else ""
    yield said(f"Since {repo} was trusted{since}, this changed: {', '.join(found.parts)}.")
    if found.files is None:
        yield said(f"Which lines can't be told: {found.why}")
    for change in found.files or ():
        note = f" ({change.unseen})" if change.unseen else ""
        yield said(f"  {change.kind:8} {change.path} ({change.part}){note}")
    for change in found.files or () if patches else ():
        if change.patch:
            yield "\n" + visible_lines(change.patch.rstrip("\n"))
    yield ""
    yield said(f"Read it, then: hfenv trust add {ref}")


@app.command()
def remove(
    repo: Annotated[str, typer.Argument(help="org/name")], hub: HubOption = "hf", fmt: FormatOption = Format.HUMAN
) -> None:
    """Trust nothing of a repository any more."""
    gone = TrustStore().remove(hub_key(hub_name(hub)), check_repo_id(repo))
    if not gone:
        raise NotFoundError(
            f"Nothing of {repo} is trusted on {hub_name(hub)}.", "See hfenv trust list; name the hub with --hub."
        )
    Output(fmt).result("trust remove", {"removed": [_data(e) for e in gone]}, f"{len(gone)} removed.", quiet=repo)


def _data(entry: TrustEntry) -> dict[str, str | None]:
    return {
        "repo": entry.repo,
        "hub": entry.endpoint,
        "code": entry.code,
        "reward": entry.reward,
        "policies": entry.policies,
        "tasks": entry.tasks or None,
    }
