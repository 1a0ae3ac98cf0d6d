"""`hfenv diff`: whether numbers of two environments may stand in one table, and everything that differs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.escapes import escaped_json
from hfenv.cli.options import FormatOption, HubOption, OfflineOption, TrustOption, new_app
from hfenv.cli.output import Format, Output, coloured
from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX, check_replaceable
from hfenv.errors import StorageError
from hfenv.hub.client import Hub, connect
from hfenv.hub.references import HubReference, parse_reference

if TYPE_CHECKING:
    from hfenv.components.tasks.diff import TaskDifference
    from hfenv.components.tasks.pair import TaskPair
    from hfenv.diffing.result import EnvironmentDifference

app = new_app()


@app.command()
def diff(
    old: Annotated[str, typer.Argument(help="The older one: a folder, org/name@1.0.0, org/name@HASH, ...")],
    new: Annotated[str, typer.Argument(help="The newer one, in the same forms.")],
    rows: Annotated[int, typer.Option("--rows", min=0, help="How many tasks, changes and files are shown.")] = 20,
    rows_out: Annotated[
        Path | None, typer.Option("--rows-out", help="Write every task that differs to this file of JSON Lines.")
    ] = None,
    code: Annotated[bool, typer.Option("--code", help="Show the lines of the code that differ, too.")] = False,
    probe: Annotated[
        bool, typer.Option("--probe", help="Replay the probes under both rewards, which runs their code.")
    ] = False,
    trust_remote_code: TrustOption = False,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Say whether numbers of both may stand in one table, then what differs.

    Code, tasks and reward with the version step that each change needs; tasks row by row; the reward's source; the
    card and the packages. Nothing of either side is run without --probe, and components that are the same aren't
    fetched.
    """
    from hfenv.diffing.comparing import Wanted, compare_references
    from hfenv.specify import Origin

    output = Output(fmt)
    references = (parse_reference(old), parse_reference(new))
    if rows_out is not None:
        check_replaceable(rows_out)
    origin = Origin(hub, offline, trust_remote_code, allow_unreleased=True, isolation="process")
    wanted = Wanted(code, origin if probe else None)
    remote = any(isinstance(reference, HubReference) for reference in references)
    with _hub(hub, remote, offline=offline) as opened, output.progress(None, "Fetching", unit="B") as advance:
        found = compare_references(opened, *references, wanted, progress=advance)
    shown = _read(found.tasks, rows, rows_out)
    _warn(output, found)

    from hfenv.cli.report.differences import render
    from hfenv.cli.report.differences_data import data

    written = str(rows_out) if rows_out is not None else None
    output.result(
        "diff",
        data(found, shown, written) if fmt is Format.JSON else {},
        lambda: render(found, shown, most=rows, colour=coloured()),
        quiet=found.comparable.line,
    )


def _warn(output: Output, found: EnvironmentDifference) -> None:
    for side in found.sides:
        if side.release is None:
            output.warn(f"{side.name} is no release: {side.note}.")
    if found.probes is not None and found.probes.problem:
        output.warn(f"The probes weren't replayed: {found.probes.problem}")


@contextmanager
def _hub(hub: str, remote: bool, *, offline: bool) -> Iterator[Hub | None]:
    if not remote:
        yield None
        return
    with connect(hub, offline=offline) as opened:
        yield opened


def _read(tasks: TaskPair | None, most: int, out: Path | None) -> list[TaskDifference]:
    """The first rows; all of them go to the file, where there is one."""
    if out is None:
        return list(tasks.rows(most)) if tasks is not None and most else []
    found = tasks.rows() if tasks is not None else iter(())
    shown = list(islice(found, most))
    try:
        with _staged(out) as place, place.open("w", encoding="utf-8", newline="\n") as stream:
            from hfenv.cli.report.differences_data import row_data

            for several in (shown, found):
                stream.writelines(escaped_json(json.dumps(row_data(row), ensure_ascii=False)) + "\n" for row in several)
    except OSError as error:
        raise StorageError.of(error) from error
    return shown


@contextmanager
def _staged(out: Path) -> Iterator[Path]:
    """A file beside the one that is wanted, which takes its name when all is written."""
    handle, name = mkstemp(dir=out.parent, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX)
    os.close(handle)
    staged = Path(name)
    try:
        yield staged
        staged.chmod(0o644)
        staged.replace(out)
    finally:
        staged.unlink(missing_ok=True)
