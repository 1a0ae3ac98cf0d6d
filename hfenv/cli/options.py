"""Option types that several commands share, so that they are named and explained once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from hfenv.cli.output import FindingsFormat, Format
from hfenv.errors import UsageError

FORMAT_VARIABLE = "HFENV_FORMAT"


def new_app(**options: Any) -> typer.Typer:
    """A Typer application as all commands have it: plain help, no completion flags, errors left to `main`."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, **options)


def _format(kind: type[Format] | type[FindingsFormat]) -> Callable[..., str]:
    """Fills in HFENV_FORMAT where the option isn't given.

    One value of the variable serves every command of a shell or a CI job: a format that only findings have leaves the
    commands that have none at their default.
    """

    def chosen(ctx: typer.Context, param: typer.CallbackParam, value: Format | FindingsFormat) -> str:
        wanted = os.environ.get(FORMAT_VARIABLE, "")
        source = ctx.get_parameter_source(param.name or "")
        if not wanted or source is None or source.name != "DEFAULT":
            return str(value.value)
        names = [each.value for each in FindingsFormat]
        if wanted not in names:
            raise UsageError(f"{FORMAT_VARIABLE} is '{wanted}', which is no format.", f"Formats: {', '.join(names)}.")
        return wanted if wanted in [each.value for each in kind] else str(value.value)

    return chosen


_FORMAT_HELP = f"How to print the result; {FORMAT_VARIABLE} sets another default."
FormatOption = Annotated[
    Format, typer.Option("--format", help=_FORMAT_HELP, callback=_format(Format), show_default=True)
]
FindingsFormatOption = Annotated[
    FindingsFormat, typer.Option("--format", help=_FORMAT_HELP, callback=_format(FindingsFormat), show_default=True)
]
HubOption = Annotated[
    str,
    typer.Option("--hub", help="hf, local (the embedded hub) or a URL.", envvar="HFENV_HUB", metavar="hf|local|URL"),
]
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="Use only what is in the cache.", envvar=["HFENV_OFFLINE", "HF_HUB_OFFLINE"])
]
TrustOption = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run the environment's code and reward from a remote repository.")
]
LockOption = Annotated[
    Path | None,
    typer.Option("--lock", envvar="HFENV_LOCK", metavar="FILE", help="Load only what this lock file locks."),
]
LockFileOption = Annotated[
    Path, typer.Option("--lock-file", envvar="HFENV_LOCK", metavar="FILE", help="The lock file.")
]
AgainstOption = Annotated[
    str | None,
    typer.Option("--against", metavar="REF", help="Compare with this revision instead of the last release."),
]

_NUMBERS = ("int", "integer", "float")


def spelt_out(command: Any) -> Any:
    """The command with its arguments and values named alike in every help: `REF`, `[PATH]`, `--limit N`."""
    for each in getattr(command, "commands", {}).values():
        spelt_out(each)
        # The first sentence whole, where the list would cut it at the width of a line.
        each.short_help = each.short_help or (each.help or "").replace("\n", " ").partition(". ")[0].rstrip(".") + "."
    for param in command.params:
        if param.metavar is not None or getattr(param, "is_flag", False):
            continue
        if param.param_type_name == "argument":
            name = param.name.upper()
            several = "..." if param.nargs != 1 else ""
            shown = f"{name if param.required else f'[{name}]'}{several}"
            # A required one would stand in braces otherwise, which no other usage line has.
            param.make_metavar = lambda *_, shown=shown, **__: shown
        else:
            kind = param.type.name.removesuffix(" range")
            choices = getattr(param.type, "choices", None)
            plain = "N" if kind in _NUMBERS else "PATH" if kind == "path" else "TEXT"
            param.metavar = "|".join(map(str, choices)) if choices else plain
    return command
