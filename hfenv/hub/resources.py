"""Resources that tasks refer to, as verified local files: in the environment's folder or in another repository."""

from __future__ import annotations

from pathlib import Path

from hfenv.card.manifest import Manifest
from hfenv.errors import IntegrityError, NotFoundError, UsageError
from hfenv.hub.client import Hub, connect
from hfenv.hub.fetch import fetch, list_commit
from hfenv.hub.references import HubReference, parse_reference
from hfenv.hub.resolve import resolve

_RESOURCE_PREFIX = "hf://datasets/"


def local_resources(root: Path, block: Manifest, hub: Hub | None = None) -> dict[str, Path]:
    """The card's resources as local files by name; those in other repositories are fetched and checked.

    `root` is the folder of the environment; without an open `hub` one is opened when a resource needs it.
    """
    found = {}
    for resource in block.resources:
        if resource.path is not None:
            path = root / resource.path
            if not path.is_file():
                raise NotFoundError(
                    f"Resource '{resource.name}' ({resource.path}) isn't there.",
                    "Build or fetch it as the environment's README says.",
                )
            found[resource.name] = path
        elif resource.uri is not None:
            found[resource.name] = _remote_resource(hub, resource.name, resource.uri, resource.sha256)
    return found


def _remote_resource(hub: Hub | None, name: str, uri: str, sha256: str | None) -> Path:
    """A resource in another dataset repository, `hf://datasets/ORG/NAME@HASH/PATH`, checked against its digest."""
    repo, at, rest = uri.removeprefix(_RESOURCE_PREFIX).partition("@")
    commit, slash, path = rest.partition("/")
    if not (uri.startswith(_RESOURCE_PREFIX) and at and slash):
        raise UsageError(
            f"Resource '{name}' has the address {uri}, which can't be fetched.",
            "Write hf://datasets/ORG/NAME@HASH/PATH.",
        )
    reference = parse_reference(f"{repo}@{commit}")
    if hub is None:
        with connect() as opened:
            return _fetch_resource(opened, reference, name, path, sha256)
    return _fetch_resource(hub, reference, name, path, sha256)


def _fetch_resource(hub: Hub, reference: object, name: str, path: str, sha256: str | None) -> Path:
    if not isinstance(reference, HubReference):
        raise UsageError(f"Resource '{name}' names no repository.", "Write hf://datasets/ORG/NAME@HASH/PATH.")
    commit = resolve(hub, reference).revision
    listing = list_commit(hub, reference.repo, commit)
    if path not in listing:
        raise NotFoundError(f"Resource '{name}': {reference.repo}@{commit} has no file {path}.", "Correct its uri.")
    cached = fetch(hub, reference.repo, commit, lambda candidate: candidate == path)
    content = cached.verify([listing[path]])[path]
    if sha256 is not None and content.sha256 != sha256:
        raise IntegrityError(
            f"Resource '{name}' has the digest {content.sha256}, not the one on the card.", "Tell its author."
        )
    return cached.files / path
