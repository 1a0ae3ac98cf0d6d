"""`hfenv pull`: fetch a release, verify it, and lay it out as a folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from hfenv.cli.common import component_named, environment_folder
from hfenv.cli.escapes import said
from hfenv.cli.options import FormatOption, HubOption, LockOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.cli.report.text import number
from hfenv.components.ownership import Component
from hfenv.errors import ExitCode, UsageError
from hfenv.hub.client import connect
from hfenv.hub.locking.lookup import locked_entry
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.pull import PullResult
from hfenv.hub.pull import pull as pull_release
from hfenv.hub.references import LocalReference, parse_reference
from hfenv.hub.update import UpdateResult
from hfenv.hub.update import update as update_folder

app = new_app()


@app.command()
def pull(
    ref: Annotated[
        str | None,
        typer.Argument(help="org/name, org/name@1.4.0, @^1.2, @HASH or @main; with --update a folder."),
    ] = None,
    to: Annotated[Path | None, typer.Option("--to", help="A folder that is new or empty.")] = None,
    only: Annotated[str | None, typer.Option("--only", help="One component: code, tasks or reward.")] = None,
    lock: LockOption = None,
    update: Annotated[
        bool, typer.Option("--update", help="Merge what changed on the hub into a folder that was pulled or pushed.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --update: say what would change.")] = False,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Fetch a release into a folder, every file verified; the folder appears whole or not at all.

    With --update, bring a working folder up to date: what changed on the hub only is taken over, what changed on both
    sides is merged, and what can't be is marked and listed (exit 5).
    """
    output = Output(fmt)
    if update:
        if to is not None or only is not None or lock is not None:
            raise UsageError(
                "--update works in the folder itself, on all of it, and takes what the hub has now.",
                "Leave out --to, --only and --lock (HFENV_LOCK).",
            )
        _update(Path(ref or "."), output, hub, offline=offline, dry_run=dry_run)
        return
    if dry_run:
        raise UsageError("--dry-run belongs to --update.", "What a release holds: hfenv info NAMESPACE/NAME")
    if ref is None:
        raise UsageError("What to pull isn't named.", "Write hfenv pull NAMESPACE/NAME, or hfenv pull --update.")
    pin = locked_entry(lock, ref, hub=hub) if lock else None
    reference = pin.pinned if pin else parse_reference(ref)
    if isinstance(reference, LocalReference):
        raise UsageError(f"{ref} is a local folder.", "Name what to pull as namespace/name, with @REVISION if need be.")
    component = component_named(only) if only else None
    connection = Reach(hub, offline).to(pin) if pin else connect(hub, offline=offline)
    with connection as opened, output.progress(None, f"Fetching {ref}", unit="B") as advance:
        result = pull_release(opened, reference, to, only=component, pin=pin, progress=advance)
    for notice in result.notices:
        output.warn(notice)
    if result.unreleased:
        output.warn(f"{result.repo}@{result.revision} differs from its release record: it is no release.")
    output.result("pull", _data(result), lambda: _render(result), quiet=str(result.folder))


def _data(result: PullResult) -> dict[str, Any]:
    return {
        "repo": result.repo,
        "revision": result.revision,
        "release": result.release,
        "versions": {c.value: version for c, version in result.versions.items()},
        "folder": str(result.folder),
        "files": result.files,
        "unreleased": result.unreleased,
        "notices": list(result.notices),
    }


def _update(root: Path, output: Output, hub: str, *, offline: bool, dry_run: bool) -> None:
    with connect(hub, offline=offline) as opened, output.progress(None, f"Updating {root}", unit="B") as advance:
        result = update_folder(opened, environment_folder(root), dry_run=dry_run, progress=advance)
    data = {
        "repo": result.repo,
        "base": result.base,
        "revision": result.revision,
        "release": result.release,
        "folder": str(result.folder),
        "updated": list(result.updated),
        "merged": list(result.merged),
        "deleted": list(result.deleted),
        "conflicts": [{"path": conflict.path, "reason": conflict.reason} for conflict in result.conflicts],
        "dry_run": dry_run,
    }
    output.result("pull", data, lambda: _render_update(result, dry_run=dry_run), quiet=result.revision)
    if result.conflicts:
        raise typer.Exit(ExitCode.CONFLICT)


def _render_update(result: UpdateResult, *, dry_run: bool) -> str:
    if not result.moved:
        return f"{result.repo} didn't move since {result.base[:12]}: nothing to do."
    lines = [f"  take    {said(path)}" for path in result.updated]
    lines += [f"  merge   {said(path)}" for path in result.merged]
    lines += [f"  delete  {said(path)}" for path in result.deleted]
    lines += [f"  CONFLICT  {said(conflict.path)} {said(conflict.reason)}" for conflict in result.conflicts]
    done = "Would bring" if dry_run else "Brought"
    lines.append(f"{done} {result.folder} from {result.base[:12]} to {result.revision[:12]} of {result.repo}.")
    if result.release is not None:
        lines.append(f"Its last release is {result.release}: versions count from there (hfenv status).")
    if result.conflicts:
        lines.append("Settle what is marked and remove each .remote file: until then validate and push refuse.")
    return "\n".join(lines)


def _render(result: PullResult) -> str:
    versions = ", ".join(f"{c.value} {version}" for c, version in result.versions.items())
    runs = set(result.versions) != {Component.TASKS}
    trust = (
        "Its code isn't trusted yet: read it, then pass --trust-remote-code, or "
        f"hfenv trust add {shlex.quote(str(result.folder))}"
    )
    return (
        f"Pulled {number(result.files, 'file')} of {result.repo}@{result.revision} into {result.folder}\n"
        f"Release {result.release or '-'}: {versions}; every file verified." + (f"\n{trust}" if runs else "")
    )
