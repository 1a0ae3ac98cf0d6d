"""`hfenv lock`: a trainer's pins, made, checked, moved and exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.options import FindingsFormatOption, HubOption, LockFileOption, OfflineOption, new_app
from hfenv.cli.output import FindingsFormat, Output
from hfenv.errors import ExitCode, UsageError
from hfenv.hub.locking.reaching import Reach

if TYPE_CHECKING:
    from hfenv.findings import Report
    from hfenv.hub.locking.editing import Change
    from hfenv.hub.locking.lockfile import LockFile

app = new_app()


@dataclass(frozen=True, slots=True)
class _Call:
    """What was asked for."""

    names: tuple[str, ...]
    path: Path
    reach: Reach
    beside: bool
    fmt: FindingsFormat
    out: Output


@app.command()
def lock(
    refs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REF]...", help="What to lock: org/name, org/name@^1.2, org/name@code=1.0.0, ..."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Ask what has become of what is locked; for CI.")] = False,
    licenses: Annotated[bool, typer.Option("--licenses", help="Print the licences of what is locked.")] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Move REFs (or all) within what was asked for; say what changes.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take REFs out of the file.")] = False,
    requirements: Annotated[
        bool, typer.Option("--requirements", help="Export what all need, for pip and uv; REF is the file to write.")
    ] = False,
    beside: Annotated[
        bool, typer.Option("--beside", help="Add REF even where its repository is locked already.")
    ] = False,
    lock_file: LockFileOption = Path("hfenv.lock"),
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FindingsFormatOption = FindingsFormat.HUMAN,
) -> None:
    """Pin environments by commit and digests in hfenv.lock.

    Without a REF, only what doesn't fit its own `ref` any more is resolved again. Exit code 1: --check or
    --requirements found something.
    """
    modes: dict[str, tuple[bool, Callable[[_Call], None]]] = {
        "--check": (check, _check),
        "--licenses": (licenses, _licences),
        "--upgrade": (upgrade, _upgrade),
        "--remove": (remove, _remove),
        "--requirements": (requirements, _requirements),
    }
    asked = [name for name, (wanted, _) in modes.items() if wanted]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} can't be done in one call.", "Give one of them.")
    call = _Call(tuple(refs or ()), lock_file, Reach(hub, offline), beside, fmt, Output(fmt.plain))
    (modes[asked[0]][1] if asked else _add)(call)


def _add(call: _Call) -> None:
    from hfenv.hub.locking.editing import add, lock_or_new, settle
    from hfenv.hub.locking.reading import read_lock

    if call.names:
        lock = lock_or_new(call.path)
        lock, changes = add(lock, call.names, call.reach, beside=call.beside)
    else:
        lock, changes = settle(read_lock(call.path), call.reach)
    _write(call, lock, changes)


def _remove(call: _Call) -> None:
    from hfenv.hub.locking.editing import remove
    from hfenv.hub.locking.reading import read_lock

    _write(call, *remove(read_lock(call.path), call.names))


def _upgrade(call: _Call) -> None:
    from hfenv.cli.report.locked import upgrade_data, upgrade_text
    from hfenv.hub.locking.editing import upgrade
    from hfenv.hub.locking.reading import read_lock
    from hfenv.locked.upgrade import explain

    lock, changes = upgrade(read_lock(call.path), call.names, call.reach)
    moves = [(change.before, change.after) for change in changes if change.word == "moved"]
    with call.out.progress(None, "Comparing", unit="B") as advance:
        told = [explain(old, new, call.reach, progress=advance) for old, new in moves if old and new]
    _write(call, lock, changes, {"upgrades": [upgrade_data(one) for one in told]}, [upgrade_text(one) for one in told])


def _write(
    call: _Call,
    lock: LockFile,
    changes: Sequence[Change],
    more: dict[str, object] | None = None,
    texts: Sequence[str] = (),
) -> None:
    """Write the file, tell what is known against what is new in it, and print what became of the entries."""
    from hfenv.cli.report.locked import changes_data, changes_table
    from hfenv.hub.locking.known import known_marks
    from hfenv.hub.locking.lockfile import write_lock

    written = write_lock(lock)
    for change in changes:
        entry = change.after
        if entry is not None and (marks := known_marks(entry.key, entry.repo)) is not None:
            versions = {component: locked.version for component, locked in entry.components.items()}
            for notice in marks.notices(entry.repo, entry.release or None, versions):
                call.out.warn(notice)
    where = f"{'Wrote' if written else 'Nothing changed in'} {lock.path}."
    blocks = [*texts, *([changes_table(changes)] if changes else []), where]
    data = {"lock_file": str(lock.path), "changed": written, "entries": changes_data(changes), **(more or {})}
    call.out.result("lock", data, "\n\n".join(blocks), quiet=str(lock.path) if written else "")


def _check(call: _Call) -> None:
    from hfenv.hub.locking.checking import check_lock
    from hfenv.hub.locking.editing import chosen
    from hfenv.hub.locking.reading import read_lock

    lock = read_lock(call.path)
    _found(call, check_lock(lock, chosen(lock, call.names), call.reach), "lock --check")


def _licences(call: _Call) -> None:
    from hfenv.cli.report.locked import licences_data, licences_table
    from hfenv.hub.locking.editing import chosen
    from hfenv.hub.locking.reading import read_lock

    entries = chosen(read_lock(call.path), call.names)
    call.out.result("lock --licenses", {"entries": licences_data(entries)}, lambda: licences_table(entries))


def _requirements(call: _Call) -> None:
    from hfenv.cli.report.locked import needs_data
    from hfenv.components.files import write_all
    from hfenv.findings import Report
    from hfenv.hub.locking.needs import contradictory, needs_of
    from hfenv.hub.locking.reading import read_lock

    if len(call.names) > 1:
        raise UsageError("--requirements writes one file.", "Name it, or leave it out to print what would stand there.")
    lock = read_lock(call.path)
    needs = needs_of(lock.entries)
    if needs.contradictions:
        _found(call, Report.of(contradictory(lock, needs), ("lock-needs",)), "lock --requirements")
    text = needs.to_text(lock.path.name)
    data: dict[str, object] = needs_data(needs)
    if call.names in ((), ("-",)):
        call.out.result("lock --requirements", data, text.rstrip("\n"), quiet=text.rstrip("\n"))
        return
    write_all({Path(call.names[0]): text.encode()})
    written = f"Wrote {len(needs.lines)} requirements to {call.names[0]}."
    call.out.result("lock --requirements", {**data, "file": call.names[0]}, written, quiet=call.names[0])


def _found(call: _Call, report: Report, command: str) -> None:
    """Print findings; ends the command where there are any."""
    from hfenv.cli.report.printing import print_findings
    from hfenv.cli.report.validated import Checked, Validated

    validated = Validated((Checked(str(call.path), report),))
    print_findings(validated, call.fmt, call.out, command)
    if not validated.ok:
        raise typer.Exit(ExitCode.FINDINGS)
