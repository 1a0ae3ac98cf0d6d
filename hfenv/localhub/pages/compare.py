"""The difference between two revisions, and that which one commit made."""

from __future__ import annotations

from itertools import islice
from typing import Any

from starlette.responses import Response

from hfenv.components.ownership import Component
from hfenv.components.release import ReleaseRecord
from hfenv.localhub.errors import bad_request
from hfenv.localhub.gitstore import GitRepo
from hfenv.localhub.pages.differing import file_changes, task_changes
from hfenv.localhub.pages.releases import record_at
from hfenv.localhub.pages.repository import Shown, check_files, frame, opened
from hfenv.localhub.pages.visit import Visit


def show(visit: Visit) -> Response:
    """`compare/BEFORE...AFTER`."""
    before, dots, after = visit.call.param("pair").partition("...")
    if not dots or not before or not after:
        raise bad_request("Name two revisions, as in v1.0.0...v1.1.0.")
    shown = opened(visit, after)
    check_files(visit, shown.repo)
    base = shown.repo.commit(before)
    return visit.page(
        "compare.html.jinja",
        **frame(visit, shown, "versions"),
        **_differences(shown.repo.git, base, shown.commit),
        before=before,
        after=after,
        old_commit=base,
    )


def commit(visit: Visit) -> Response:
    """One commit: who made it, what it says, what it changed."""
    shown = opened(visit, visit.call.param("revision"))
    check_files(visit, shown.repo)
    git = shown.repo.git
    parent = _parent(shown)
    return visit.page(
        "commit.html.jinja",
        **frame(visit, shown, "history"),
        **_differences(git, parent, shown.commit),
        info=git.commit_info(shown.commit),
        parent=parent,
    )


def _parent(shown: Shown) -> str | None:
    # Children come before their parents, so that the second one is the first one's parent.
    walked = list(islice(shown.repo.git.history(shown.commit), 2))
    return walked[1].id if len(walked) > 1 else None


def _differences(git: GitRepo, before: str | None, after: str) -> dict[str, Any]:
    old, new = record_at(git, before) if before else None, record_at(git, after)
    changes, more = file_changes(git, before, after)
    return {
        "versions": _versions(old, new),
        "splits": task_changes(old, new),
        "changes": changes,
        "more": more,
    }


def _versions(old: ReleaseRecord | None, new: ReleaseRecord | None) -> list[tuple[str, str, str]]:
    """Release and components, with their versions before and after."""
    if old is None and new is None:
        return []
    found = [("release_of", old.release if old else "", new.release if new else "")]
    for component in Component:
        versions = [record.components[component].version if record else "" for record in (old, new)]
        found.append((component.value, versions[0], versions[1]))
    return found
