"""Which of a commit's files loading needs: those of a component, the policies beside code, one split of the tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress

from hfenv.card.manifest import Manifest
from hfenv.components.digest import canonical_json
from hfenv.components.ownership import Component, owner_of
from hfenv.components.taskfiles import select
from hfenv.errors import NotFoundError
from hfenv.hub.verify import Verified
from hfenv.runtime.policies import POLICY_FOLDERS
from hfenv.runtime.tasks import choose_split

RESOURCE_FOLDER = "tasks/resources/"


def needed_by(*components: Component) -> Callable[[str], bool]:
    """Which files loading these components needs; the code brings the policies along."""

    def wanted(path: str) -> bool:
        return owner_of(path) in components or (Component.CODE in components and is_policy(path))

    return wanted


def policies_digest(block: Manifest, files: Mapping[str, str]) -> str:
    """SHA-256 over the card's policies and the Python files beside which they stand; a report there changes nothing."""
    own = sorted((path, digest) for path, digest in files.items() if is_policy(path) and path.endswith(".py"))
    return hashlib.sha256(canonical_json(["hfenv-policies-1", dict(block.policies), own]).encode()).hexdigest()


def is_policy(path: str) -> bool:
    """Whether a path is that of a policy or of what stands beside one."""
    return path.split("/", maxsplit=1)[0] in POLICY_FOLDERS and owner_of(path) is None


def files_of(component: Component, files: Mapping[str, str]) -> dict[str, str]:
    """Those of some files, by path, that loading a component needs."""
    wanted = needed_by(component)
    return {path: digest for path, digest in files.items() if wanted(path)}


def both(one: Callable[[str], bool], other: Callable[[str], bool]) -> Callable[[str], bool]:
    """What two choices have in common."""
    return lambda path: one(path) and other(path)


def split_only(card: Verified, split: str | None) -> Callable[[str], bool]:
    """Leaves out what only other splits need, and resources that the card doesn't name.

    Their digests are those that the hub and the record give. Where tasks are made by a generator, everything counts:
    what it reads nobody knows, and all of it is trusted as a whole.
    """
    section = card.manifest.tasks
    name = choose_split(section, split)
    if section.generator is not None:
        return lambda path: True
    chosen = set(select(card.listing, section.splits[name]))
    named = {resource.path for resource in card.manifest.resources}
    others = set()
    for other in section.splits:
        if other != name:
            with suppress(NotFoundError):
                others.update(select(card.listing, section.splits[other]))

    def kept(path: str) -> bool:
        if path in chosen or path in named:
            return True
        return path not in others and not path.startswith(RESOURCE_FOLDER)

    return kept
