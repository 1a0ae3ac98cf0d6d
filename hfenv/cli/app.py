"""The entry point: a table of commands whose modules are imported only when they are called."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from hfenv.cli.options import new_app, spelt_out
from hfenv.cli.output import Output
from hfenv.cli.start import INTERRUPTED
from hfenv.errors import HfenvError, StorageError, UsageError


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: where it lives, under which heading the help lists it, and its line there."""

    name: str
    group: str
    help: str

    @property
    def module(self) -> str:
        return f"hfenv.cli.{self.name}"


START, VERSIONS, REGISTRY, TRUST, MORE = "Start", "Versions", "Registry", "Trust and audit", "More"

ENTRIES = (
    Entry("init", START, "Scaffold an environment from a template."),
    Entry("run", START, "Roll out a policy and print what it earned."),
    Entry("push", START, "Publish a release to the hub."),
    Entry("pull", START, "Fetch a release and verify it."),
    Entry("lock", START, "Pin environments by commit and digests; check and move the pins."),
    Entry("sync", START, "Download and verify exactly what is locked."),
    Entry("validate", VERSIONS, "Check card, layout, tasks, reward and versions."),
    Entry("rule", VERSIONS, "What a rule of validate asks, and why."),
    Entry("status", VERSIONS, "What changed since the last release, per component."),
    Entry("bump", VERSIONS, "Raise a component's version and write its changelog."),
    Entry("diff", VERSIONS, "Whether numbers of two versions fit together, and what differs."),
    Entry("changelog", VERSIONS, "Print changelogs, or what changes since a version."),
    Entry("tasks", VERSIONS, "Write the samples of tasks that a generator makes."),
    Entry("probe", VERSIONS, "Turns with known scores, to see what an edited reward does."),
    Entry("rescore", VERSIONS, "Recorded rollouts under another reward version."),
    Entry("search", REGISTRY, "Find environments on the hub."),
    Entry("info", REGISTRY, "What is known of an environment on the hub."),
    Entry("versions", REGISTRY, "Its releases, one by one."),
    Entry("review", REGISTRY, "Rate a release, or print its reviews."),
    Entry("yank", REGISTRY, "Mark a release as one that nobody should start to use."),
    Entry("advise", REGISTRY, "Publish what is wrong with a range of versions."),
    Entry("alias", REGISTRY, "Names such as stable for a release."),
    Entry("cache", REGISTRY, "List, verify, repair and prune what was fetched."),
    Entry("trust", TRUST, "Which remote code may run on this machine."),
    Entry("card", MORE, "The card for other tools: schema, extract, preview."),
    Entry("hub", MORE, "The embedded hub: serve it; users, organisations, quotas, space."),
    Entry("demo", MORE, "The whole round trip on the embedded hub."),
)


class _Commands(TyperGroup):
    """Lists commands from the table; imports a command's module only to run it or to print its own help."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [entry.name for entry in ENTRIES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        names = [entry.name for entry in ENTRIES]
        if cmd_name not in names:
            near = get_close_matches(cmd_name, names, n=1)
            guess = f"Did you mean 'hfenv {near[0]}'? " if near else ""
            raise UsageError(f"There is no command '{cmd_name}'.", f"{guess}hfenv --help lists them.")
        command = spelt_out(typer.main.get_command(import_module(f"hfenv.cli.{cmd_name}").app))
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for group in dict.fromkeys(entry.group for entry in ENTRIES):
            with formatter.section(group):
                formatter.write_dl([(entry.name, entry.help) for entry in ENTRIES if entry.group == group])


app = new_app(cls=_Commands, no_args_is_help=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"hfenv {version('hfenv')}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Registry and packaging tool for reinforcement-learning environments on the Hugging Face Hub."""


def main() -> None:
    """Run the command line; every error a user can cause ends as one sentence and its exit code."""
    try:
        app()
    except HfenvError as error:
        Output().error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        Output().error(StorageError.of(error))
        sys.exit(StorageError.exit_code)
