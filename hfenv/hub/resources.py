"""Resources that tasks refer to, as verified local files: in the environment's folder or in another repository."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.manifest import Manifest, Resource
from hfenv.card.quoting import one_line
from hfenv.components.hashing import hash_file
from hfenv.errors import IntegrityError, NotFoundError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import Progress, fetch_one, list_commit, missing
from hfenv.hub.policy import check_source
from hfenv.hub.references import HubReference, parse_reference
from hfenv.hub.resolve import resolve

log = logging.getLogger("hfenv")

_PREFIX = "hf://datasets/"

Connect = Callable[[], AbstractContextManager[Hub]]


@dataclass(frozen=True, slots=True)
class LocalResource:
    """A resource as a file on this machine, and the SHA-256 of what it holds."""

    path: Path
    sha256: str


def local_resources(
    root: Path, block: Manifest, known: Mapping[str, str], connected: Connect, *, progress: Progress | None = None
) -> dict[str, LocalResource]:
    """The card's resources as local files by name; those in other repositories are fetched and checked.

    `root` is the folder of the environment and `known` maps the paths that it consists of to their SHA-256;
    `connected` opens the hub that the caller named, when a resource needs one. How many bytes will come is logged
    before the first of them does.
    """
    found = {}
    for resource in block.resources:
        if resource.path is None:
            continue
        if resource.path not in known:
            raise NotFoundError(
                f"Resource '{resource.name}' ({resource.path}) isn't there.",
                "Build or fetch it as the environment's README says; a file that is ignored counts as none.",
            )
        found[resource.name] = LocalResource(root / resource.path, known[resource.path])
    if any(resource.path is None and resource.uri is not None for resource in block.resources):
        with connected() as hub:
            found.update(_fetched(hub, block, progress))
    return {resource.name: found[resource.name] for resource in block.resources if resource.name in found}


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """A resource's place in another repository, at a commit that is settled."""

    resource: Resource
    repo: str
    commit: str
    path: str

    @property
    def name(self) -> str:
        return f"Resource '{self.resource.name}'"


def _fetched(hub: Hub, block: Manifest, progress: Progress | None) -> dict[str, LocalResource]:
    """What lies in other repositories, held against the card; all sizes are told before anything comes."""
    places = [_located(hub, one, one.uri) for one in block.resources if one.path is None and one.uri is not None]
    for place in places:
        _announce(hub, place)
    found = {}
    for place in places:
        local = fetch_one(hub, place.repo, place.commit, place.path, progress=progress)
        digest = hash_file(local)
        if place.resource.sha256 is not None and digest != place.resource.sha256:
            raise IntegrityError(f"{place.name} doesn't have the digest on the card.", "Tell its author.")
        found[place.resource.name] = LocalResource(local, digest)
    return found


def _located(hub: Hub, resource: Resource, uri: str) -> _Elsewhere:
    """A file in another dataset repository, `hf://datasets/ORG/NAME@HASH/PATH`, with the size that the card says."""
    name = f"Resource '{resource.name}'"
    repo, at, rest = uri.removeprefix(_PREFIX).partition("@")
    commit, slash, path = rest.partition("/")
    reference = parse_reference(f"{_PREFIX}{repo}@{commit}") if at and slash else None
    if not uri.startswith(_PREFIX) or not isinstance(reference, HubReference):
        raise UsageError(
            f"{name} has the address {uri}, which can't be fetched.", f"Write {_PREFIX}ORG/NAME@HASH/PATH."
        )
    check_source(hub.key, reference.repo)
    sha = resolve(hub, reference).revision
    file = list_commit(hub, repo, sha).get(path)
    if file is not None and resource.size is not None and file.size != resource.size:
        raise IntegrityError(f"{name} has {file.size} bytes, not the {resource.size} on the card.", "Tell its author.")
    return _Elsewhere(resource, repo, sha, path)


def _announce(hub: Hub, place: _Elsewhere) -> None:
    """Say what is about to be downloaded, unless it is here already."""
    file = list_commit(hub, place.repo, place.commit).get(place.path)
    if file is not None and not hub.offline and missing(hub, place.repo, place.commit, [file]):
        log.warning("%s", one_line(f"{place.name}: {file.size:,} bytes to fetch from {place.repo} ({place.path})."))
