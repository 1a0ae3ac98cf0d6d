"""`hfenv sync`: download and verify exactly what is locked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.common import component_named
from hfenv.cli.options import FormatOption, HubOption, LockFileOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import NotFoundError, NotLockedError
from hfenv.hub.locking.reaching import Reach

if TYPE_CHECKING:
    from hfenv.hub.locking.lockfile import Entry, LockFile

app = new_app()


@app.command()
def sync(
    refs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REF]...", help="Only these; one that isn't locked yet is locked first."),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", help="One component: code, tasks or reward.")] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Leave the lock file as it is; refuse a REF that isn't in it.")
    ] = False,
    lock_file: LockFileOption = Path("hfenv.lock"),
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make everything that hfenv.lock locks available on this machine, every file verified.

    Afterwards it loads without any request. What became known about it since (yanked releases, advisories) is told, and
    doesn't stop it: hfenv lock --check does.
    """
    from hfenv.cli.report.locked import entry_data
    from hfenv.locked.sync import sync as synchronise

    output = Output(fmt)
    component = component_named(only) if only else None
    reach = Reach(hub, offline)
    entries = _entries(lock_file, refs or [], reach, frozen=frozen)
    done = []
    with output.progress(None, "Fetching", unit="B") as advance:
        for one in synchronise(entries, reach, only=component, progress=advance):
            for notice in one.notices:
                output.warn(notice)
            done.append(one)
    if not all(one.asked for one in done):
        output.note("The hub wasn't asked for news; what was known before is told.")
    data = {
        "lock_file": str(lock_file),
        "entries": [
            {**entry_data(one.entry), "files": one.files, "bytes": one.size, "notices": list(one.notices)}
            for one in done
        ],
    }
    rows = [(one.entry.ref, one.entry.release or "-", one.files, f"{one.size / 1e6:.1f} MB") for one in done]
    human = f"{table(('environment', 'release', 'files', 'size'), rows)}\nAll is here and verified."
    output.result("sync", data, human, quiet="\n".join(one.entry.ref for one in done))


def _entries(path: Path, refs: list[str], reach: Reach, *, frozen: bool) -> tuple[Entry, ...]:
    """The entries that were named, locked first where they aren't yet and may be."""
    from hfenv.hub.locking.editing import add, chosen, lock_or_new, settle
    from hfenv.hub.locking.lockfile import write_lock
    from hfenv.hub.locking.lookup import satisfies
    from hfenv.hub.locking.reading import read_lock

    lock = read_lock(path) if frozen or not refs else lock_or_new(path)
    settled, changes = settle(lock, reach) if not frozen else (lock, [])
    if frozen and (stale := [entry.ref for entry in lock.entries if not satisfies(entry, entry.reference)]):
        raise NotLockedError(
            f"{stale[0]} is locked as something else in {path}, and --frozen leaves that file as it is.",
            f"Lock it again first: hfenv lock --lock-file {path}",
        )
    missing = [ref for ref in refs if not _is_in(settled, ref)]
    if frozen and missing:
        raise NotLockedError(
            f"{missing[0]} isn't locked in {path}, and --frozen leaves that file as it is.",
            f"Lock it first: hfenv lock {missing[0]} --lock-file {path}",
        )
    if missing:
        settled, added = add(settled, missing, reach)
        changes += added
    if any(change.word != "kept" for change in changes):
        write_lock(settled)
    return chosen(settled, refs)


def _is_in(lock: LockFile, ref: str) -> bool:
    from hfenv.hub.locking.editing import chosen

    try:
        return bool(chosen(lock, [ref]))
    except NotFoundError:
        return False
