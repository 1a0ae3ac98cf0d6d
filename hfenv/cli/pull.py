"""`hfenv pull`: fetch a release, verify it, and lay it out as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import component_named
from hfenv.cli.options import FormatOption, HubOption, LockOption, OfflineOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.locking.lookup import locked_entry
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.pull import PullResult
from hfenv.hub.pull import pull as pull_release
from hfenv.hub.references import LocalReference, parse_reference

app = new_app()


@app.command()
def pull(
    ref: Annotated[str, typer.Argument(help="org/name, org/name@1.4.0, org/name@^1.2, org/name@HASH or @main.")],
    to: Annotated[Path | None, typer.Option("--to", help="A folder that is new or empty.")] = None,
    only: Annotated[str | None, typer.Option("--only", help="One component: code, tasks or reward.")] = None,
    lock: LockOption = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Fetch a release into a folder, every file verified; the folder appears whole or not at all."""
    output = Output(fmt)
    pin = locked_entry(lock, ref, hub=hub) if lock else None
    reference = pin.pinned if pin else parse_reference(ref)
    if isinstance(reference, LocalReference):
        raise UsageError(f"{ref} is a local folder.", "Name what to pull as namespace/name, with @REVISION if need be.")
    component = component_named(only) if only else None
    connection = Reach(hub, offline).to(pin) if pin else connect(hub, offline=offline)
    with connection as opened, output.progress(None, f"Fetching {ref}", unit="B") as advance:
        result = pull_release(opened, reference, to, only=component, pin=pin, progress=advance)
    data = {
        "repo": result.repo,
        "revision": result.revision,
        "release": result.release,
        "versions": {c.value: version for c, version in result.versions.items()},
        "folder": str(result.folder),
        "files": result.files,
        "unreleased": result.unreleased,
        "notices": list(result.notices),
    }
    for notice in result.notices:
        output.warn(notice)
    if result.unreleased:
        output.warn(f"{result.repo}@{result.revision} differs from its release record: it is no release.")
    output.result("pull", data, lambda: _render(result), quiet=str(result.folder))


def _render(result: PullResult) -> str:
    versions = ", ".join(f"{c.value} {version}" for c, version in result.versions.items())
    return (
        f"Pulled {result.files} files of {result.repo}@{result.revision} into {result.folder}\n"
        f"Release {result.release or '-'}: {versions}; every file verified.\n"
        f"Its code isn't trusted yet: read it, then pass --trust-remote-code or `hfenv trust add`."
    )
