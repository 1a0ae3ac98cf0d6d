"""Option types that several commands share, so that they are named and explained once."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hfenv.cli.output import Format


def new_app(**options: Any) -> typer.Typer:
    """A Typer application as all commands have it: plain help, no completion flags, errors left to `main`."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False, **options)


FormatOption = Annotated[
    Format, typer.Option("--format", help="How to print the result.", envvar="HFENV_FORMAT", show_default=True)
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
