"""Resources that tasks refer to, as verified local files: in the environment's folder or in another repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from hfenv.card.manifest import Manifest, Resource
from hfenv.components.hashing import hash_file
from hfenv.errors import IntegrityError, NotFoundError, UsageError
from hfenv.hub.client import Hub
from hfenv.hub.fetch import fetch_one, list_commit
from hfenv.hub.policy import check_source
from hfenv.hub.references import HubReference, parse_reference
from hfenv.hub.resolve import resolve

_PREFIX = "hf://datasets/"


Connect = Callable[[], AbstractContextManager[Hub]]


@dataclass(frozen=True, slots=True)
class LocalResource:
    """A resource as a file on this machine, and the SHA-256 of what it holds."""

    path: Path
    sha256: str


def local_resources(
    root: Path, block: Manifest, known: Mapping[str, str], connected: Connect
) -> dict[str, LocalResource]:
    """The card's resources as local files by name; those in other repositories are fetched and checked.

    `root` is the folder of the environment and `known` maps the paths that it consists of to their SHA-256;
    `connected` opens the hub that the caller named, when a resource needs one.
    """
    found = {}
    for resource in block.resources:
        if resource.path is not None:
            if resource.path not in known:
                raise NotFoundError(
                    f"Resource '{resource.name}' ({resource.path}) isn't there.",
                    "Build or fetch it as the environment's README says; a file that is ignored counts as none.",
                )
            found[resource.name] = LocalResource(root / resource.path, known[resource.path])
        elif resource.uri is not None:
            with connected() as hub:
                found[resource.name] = _fetch(hub, resource, resource.uri)
    return found


def _fetch(hub: Hub, resource: Resource, uri: str) -> LocalResource:
    """A file in another dataset repository, `hf://datasets/ORG/NAME@HASH/PATH`, held against what the card says."""
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
    local = fetch_one(hub, repo, sha, path)
    digest = hash_file(local)
    if resource.sha256 is not None and digest != resource.sha256:
        raise IntegrityError(f"{name} doesn't have the digest on the card.", "Tell its author.")
    return LocalResource(local, digest)
