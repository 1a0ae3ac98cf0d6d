"""`hfenv changelog`: print what changed, per component and version; with `--since`, what changes for somebody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from hfenv.cli.common import component_named, environment_folder
from hfenv.cli.escapes import visible_lines
from hfenv.cli.options import FormatOption, HubOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.components.changessince import VersionNotes, all_notes
from hfenv.components.ownership import Component
from hfenv.components.versions import is_version, parse_version
from hfenv.errors import UsageError
from hfenv.hub.changelogs import Changelogs, Since, folder_changelogs, hub_changelogs, versions_since
from hfenv.hub.client import Hub, connect
from hfenv.hub.references import HubReference, LocalReference, Reference, parse_reference

app = new_app()
_NAMES = [component.value for component in Component]
_Notes = Mapping[Component, Sequence[VersionNotes]]


@app.command()
def changelog(
    ref: Annotated[
        str | None,
        typer.Argument(help="An environment's folder or org/name@VERSION; or a component of the folder here."),
    ] = None,
    component: Annotated[str | None, typer.Argument(help="code, tasks or reward; all three without it.")] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="What you have: a release (1.0.0), code=1.0.0, a hash or another REF."),
    ] = None,
    path: Annotated[Path | None, typer.Option("--path", help="The environment's folder.")] = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Print the changelogs; with --since, only what changes for somebody who moves on from there.

    Of a repository, nothing is fetched but release.json and the changelogs.
    """
    if component is None and ref in _NAMES:
        ref, component = None, ref
    if ref is not None and path is not None:
        raise UsageError(f"'{ref}' and --path {path} name two environments.", "Give one of them.")
    chosen = [component_named(component)] if component else list(Component)
    reference = parse_reference(ref) if ref is not None else LocalReference(environment_folder(path or Path()))
    with _opened(reference, since, hub, offline=offline) as opened:
        if isinstance(reference, HubReference) and opened is not None:
            found = hub_changelogs(opened, reference)
        else:
            found = folder_changelogs(environment_folder(_folder(reference)), card=since is not None)
        had = versions_since(opened, found, since) if since is not None else None
    if had is not None:
        chosen = [one for one in chosen if one in had.versions]
        _refuse_older(found, had, chosen)
    notes = {
        one: all_notes(found.texts[one], one, found.history, since=had.versions[one] if had else None) for one in chosen
    }
    text = visible_lines(_changes(found, had, notes) if had else _whole(found.texts, chosen))
    Output(fmt).result("changelog", _data(found, had, notes), text, quiet=text)


def _folder(reference: Reference) -> Path:
    return reference.path if isinstance(reference, LocalReference) else Path()


@contextmanager
def _opened(reference: Reference, since: str | None, hub: str, *, offline: bool) -> Iterator[Hub | None]:
    """A connection, where the call may need one: a folder and its own releases don't."""
    own = since is None or is_version(since) or "=" in since
    if isinstance(reference, LocalReference) and own:
        yield None
        return
    with connect(hub, offline=offline) as opened:
        yield opened


def _refuse_older(found: Changelogs, had: Since, chosen: Sequence[Component]) -> None:
    for component in chosen:
        before, now = had.versions[component], found.versions[component]
        if now is not None and is_version(now) and parse_version(before) > parse_version(now):
            raise UsageError(
                f"{found.name} has {component.value} {now}, which is older than {before}.",
                "Name the newer one as REF and the older one with --since.",
            )


def _data(found: Changelogs, had: Since | None, notes: _Notes) -> dict[str, Any]:
    data: dict[str, Any] = {
        "components": {
            component.value: [
                {
                    "version": one.version,
                    "date": one.date,
                    "text": one.text,
                    "release": one.release,
                    "pending": one.pending,
                    "breaking": one.breaking,
                }
                for one in several
            ]
            for component, several in notes.items()
        },
        "revision": found.revision,
    }
    if had is not None:
        data["versions"] = {component.value: found.versions[component] for component in notes}
        data["since"] = {
            "release": had.release,
            "versions": {component.value: had.versions[component] for component in notes},
        }
    return data


def _whole(texts: Mapping[Component, str], chosen: Sequence[Component]) -> str:
    return "\n\n".join(texts[c].strip() or f"({c.value} has no changelog yet)" for c in chosen)


def _changes(found: Changelogs, had: Since, notes: _Notes) -> str:
    """Markdown: a changelog of the usual form for each component, with a line that sums all of them up above."""
    breaking = [component.value for component, several in notes.items() if any(one.breaking for one in several)]
    start = had.release or ", ".join(f"{c.value} {had.versions[c]}" for c in notes)
    if not any(notes.values()):
        return f"Nothing changes from {start} to {found.name}."
    blocks = [f"What changes from {start} to {found.name}: {_summed(breaking)}."]
    for component, several in notes.items():
        if not several:
            continue
        now = found.versions[component] or several[0].version
        blocks.append(f"# {component.value} {had.versions[component]} -> {now}")
        for one in several:
            date = f" - {one.date}" if one.date else ""
            release = f" (release {one.release})" if one.release else " (not released yet)" if one.pending else ""
            blocks.append(f"## [{one.version}]{date}{release}{' - BREAKING' if one.breaking else ''}")
            if one.text:
                blocks.append(one.text)
    return "\n\n".join(blocks)


def _summed(breaking: Sequence[str]) -> str:
    return f"{' and '.join(breaking)} with breaking changes" if breaking else "nothing that breaks"
