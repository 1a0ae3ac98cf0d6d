"""Tags of a release: made where they are missing, and never believed to stand where they should without a look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hfenv.components.release import ReleaseRecord
from hfenv.errors import ConflictError
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.lineage import earliest_commit, missing_tags
from hfenv.hub.patience import patiently
from hfenv.hub.resolve import Refs, read_refs


def make_missing(
    hub: Hub, repo: str, record: ReleaseRecord, refs: Refs, revision: str, *, new: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Make the tags that a record should have and the hub hasn't; returns their names.

    Those in `new` belong to this revision, the others where the record first appeared. Raises ConflictError for one
    that was made elsewhere meanwhile.
    """
    made = []
    for tag, carries in missing_tags(record, refs).items():
        target = revision if tag in new else earliest_commit(hub, repo, revision, carries)
        _make(hub, repo, tag, target)
        made.append(tag)
    return tuple(made)


def with_tags(refs: Refs, tags: tuple[str, ...], revision: str) -> Refs:
    """References with tags that were just made, so that nobody has to be asked for them."""
    known: Mapping[str, str] = {**refs.tags, **{tag: refs.tags.get(tag, revision) for tag in tags}}
    return replace(refs, tags=known)


def _make(hub: Hub, repo: str, tag: str, target: str) -> None:
    def make() -> None:
        with hub.translated(repo):
            hub.api.create_tag(repo, tag=tag, revision=target, repo_type=REPO_TYPE)

    try:
        patiently(make)
    except ConflictError:
        # The answer to the first attempt got lost, or another push finished the same release.
        there = read_refs(hub, repo).tags.get(tag)
        if there != target:
            raise ConflictError(
                f"Tag {tag} of {repo} was made by another push a moment ago, at {there or 'no commit'}.",
                f"It belongs at {target[:12]}; look at both commits, remove the wrong tag, then push again.",
            ) from None
