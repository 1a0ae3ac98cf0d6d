"""Pull: fetch a commit, verify it against its record, and lay it out as a folder, whole or not at all."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX, sweep
from hfenv.components.ownership import CARD_NAME, RECORD_NAME, Component, owner_of
from hfenv.errors import IntegrityError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress
from hfenv.hub.locking.lockfile import Entry
from hfenv.hub.locking.using import check_used
from hfenv.hub.notices import notices
from hfenv.hub.references import HubReference
from hfenv.hub.resolve import check_promises, resolve
from hfenv.hub.state import FolderState, write_state
from hfenv.hub.verify import Verified, verified_commit
from hfenv.hub.wire_errors import from_os_error


@dataclass(frozen=True, slots=True)
class PullResult:
    """What was pulled and where it lies; `notices` say what the card at the head has against it."""

    repo: str
    revision: str
    release: str | None
    versions: Mapping[Component, str]
    folder: Path
    files: int
    unreleased: bool
    notices: tuple[str, ...] = ()


def pull(
    hub: Hub,
    reference: HubReference,
    target: Path | None = None,
    *,
    only: Component | None = None,
    pin: Entry | None = None,
    progress: Progress | None = None,
) -> PullResult:
    """Fetch what a reference names into a folder that is new or empty (default: the repository's name).

    With a `pin`, it is what is locked.
    """
    target = (target or Path(reference.repo.split("/")[1])).resolve()
    _refuse_occupied(target)
    resolved = resolve(hub, reference) if pin is None else pin.resolved_commits()
    if len(set(resolved.commits.values())) > 1:
        raise UsageError(
            f"{reference.text} mixes revisions, which can be loaded but not laid out as one folder.",
            "Pull one release, or one component with --only.",
        )
    components = (only,) if only else tuple(Component)

    def wanted(path: str) -> bool:
        owner = owner_of(path)
        return owner in components if owner else only is None or path in (CARD_NAME, RECORD_NAME)

    verified = verified_commit(hub, resolved.repo, resolved.revision, components, wanted, progress=progress)
    if resolved.release or resolved.versions:
        check_promises(resolved, dict.fromkeys(Component, verified.record))
    if resolved.release and verified.unreleased:
        raise IntegrityError(
            f"{resolved.repo}@{resolved.revision} differs from its release record: it isn't {resolved.release}.",
            "Its tag or its files were changed after the release; name a commit by its hash to look at it.",
        )
    try:
        check_used(pin, dict.fromkeys(components, verified))
        _lay_out(hub, verified, wanted, target)
    finally:
        verified.let_go()
    return PullResult(
        repo=resolved.repo,
        revision=resolved.revision,
        release=verified.record.release if verified.record else None,
        versions={c: state.version for c, state in verified.components.items()},
        folder=target,
        files=sum(1 for path in verified.listing if wanted(path)),
        unreleased=verified.unreleased,
        notices=notices(hub, resolved, dict.fromkeys(components, verified.record)),
    )


def _refuse_occupied(target: Path) -> None:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists and isn't an empty folder.", "Choose another one with --to FOLDER.")


def _lay_out(hub: Hub, verified: Verified, wanted: Callable[[str], bool], target: Path) -> None:
    """Copy to a folder beside the target, then rename, so that a pull that fails leaves nothing behind."""
    staged: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent)
        staged = Path(mkdtemp(dir=target.parent, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX))
        staged.chmod(0o755)
        executable = verified.executable_paths()
        for path in sorted(verified.listing):
            if not (verified.files / path).is_file() or not wanted(path):
                continue
            destination = staged / path
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(verified.files / path, destination)
            if path in executable:
                destination.chmod(destination.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        write_state(staged, FolderState(hub.key, verified.repo, verified.commit, pulled=True))
        if target == Path.cwd():
            # A working folder can't be replaced under its process; what it gets it gets by renames.
            for child in sorted(staged.iterdir()):
                child.rename(target / child.name)
        else:
            if target.is_dir():
                target.rmdir()
            staged.rename(target)
    except OSError as error:
        raise from_os_error(error, str(target)) from error
    finally:
        if staged is not None:
            shutil.rmtree(staged, ignore_errors=True)
