"""`hfenv tasks`: samples of tasks that a generator makes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hfenv.cli.common import environment_folder
from hfenv.cli.options import FormatOption, TrustOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import FindingsError

if TYPE_CHECKING:
    from hfenv.sampling import SampledSplit, SampleReport

app = new_app(no_args_is_help=True)


@app.callback()
def _tasks() -> None:
    """Tasks that a generator makes (tasks.generator and tasks.seeds on the card)."""


@app.command()
def sample(
    path: Annotated[Path, typer.Argument(help="The environment's folder.")] = Path(),
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Tasks of each split; by default as many as there are, or 100.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 for an old sample.")] = False,
    trust_remote_code: TrustOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Write the sample of each generated split: the tasks of its first seeds.

    Runs the generator twice, in processes of their own, and refuses one that makes different tasks. The viewer,
    `load_dataset`, `validate`, `status` and `diff` read the samples and run nothing.
    """
    from hfenv.sampling import check_samples, write_samples

    root = environment_folder(path)
    if check:
        report = check_samples(root, trust_remote_code=trust_remote_code)
    else:
        report = write_samples(root, most=most, trust_remote_code=trust_remote_code)
    data = {
        "fresh": report.fresh,
        "written": not check,
        "splits": {split.split: _data(split) for split in report.splits},
    }
    quiet = "\n".join(split.path for split in report.splits if split.stale)
    Output(fmt).result("tasks sample", data, lambda: _render(report, check), quiet=quiet)
    if check and not report.fresh:
        raise FindingsError("The samples aren't what the generator makes today.", "Write them anew: hfenv tasks sample")


def _data(split: SampledSplit) -> dict[str, Any]:
    return {
        "path": split.path,
        "seeds": [split.seeds.first, split.seeds.stop],
        "tasks": split.tasks,
        "stale": [{"id": task.id, "fields": list(task.fields)} for task in split.stale],
    }


def _render(report: SampleReport, check: bool) -> str:
    if not report.splits:
        return "No split is generated."
    return "\n".join(_line(split, check) for split in report.splits)


def _line(split: SampledSplit, check: bool) -> str:
    line = f"{split.path}: the first {split.tasks:,} of {split.seeds.count:,} {split.split} tasks"
    if not split.stale:
        return f"{line}, {'up to date' if check else 'as before'}"
    return f"{line}; {'out of date' if check else 'changed'}: {split.told}"
