"""What a component means at a release: its semantic digest, and what the next gate compares with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hfenv.components.code.source import without_collector
from hfenv.components.meaning.digest import meanings, parts_of, python_sources, semantic_digest
from hfenv.components.meaning.shape import Shape
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import RECORD_NAME, Component
from hfenv.components.probes import read_probes
from hfenv.components.release import RecordedComponent
from hfenv.components.snapshot import Snapshot
from hfenv.components.tasks import record as task_record
from hfenv.components.tasks.index import RECORDED_TASKS, TaskIndex, index_tasks, task_source
from hfenv.errors import UnreadableError


@dataclass(frozen=True, slots=True)
class Meaning:
    """A component's meaning: `shape` for code and reward, `tasks` for tasks, of a reward also digests of `probes`."""

    semantic: str
    shape: Shape | None = None
    tasks: TaskIndex | None = None
    probes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As a record holds it, beside the semantic digest."""
        if self.shape is not None:
            found = {"shape": self.shape.to_json()}
            return found | {"probes": list(self.probes)} if self.probes else found
        return {} if self.tasks is None else {"tasks": task_record.to_json(self.tasks)}


def describe(component: Component, folder: Snapshot, *, most: int | None = RECORDED_TASKS) -> Meaning:
    """A component as it lies in a folder.

    `most` bounds the tasks that are described one by one. Raises UnreadableError, with the place, for Python or tasks
    that can't be read, and NotFoundError for a split without files.
    """
    root, files, block = folder.root, folder.files, folder.manifest.raw
    if component is Component.TASKS:
        tasks = index_tasks(task_source(root, folder.manifest, files)).index(most)
        return Meaning(semantic_digest(component, root, files, block, tasks=tasks.meaning), tasks=tasks)
    # Shape and digest rest on the same reading of the same files.
    with without_collector():
        sources = python_sources(root, parts_of(component, files))
        found = meanings(root, parts_of(component, files), sources)
    shape = shape_of(component, root, files, block, sources=sources, known=found)
    own = read_probes(root, files) if component is Component.REWARD else ()
    probes = tuple(sorted(probe.digest for probe in own))
    return Meaning(semantic_digest(component, root, files, block, found=found), shape, probes=probes)


def described(recorded: RecordedComponent, meaning: Meaning) -> RecordedComponent:
    """A component with its meaning, as it goes into a record."""
    return recorded.with_meaning(meaning.semantic, meaning.to_json())


def recorded_meaning(component: Component, recorded: RecordedComponent) -> Meaning | None:
    """What a release recorded of a component's meaning; None where it did so in no way that is known here.

    Raises UnreadableError where it was damaged.
    """
    data: Mapping[str, Any] | None = recorded.described
    if data is None:
        return None
    where = f"{RECORD_NAME}, {component.value}"
    if component is Component.TASKS:
        return Meaning(recorded.semantic, tasks=task_record.from_json(data.get("tasks"), where))
    try:
        return Meaning(recorded.semantic, Shape.from_json(component, data["shape"]), probes=_texts(data))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableError(
            f"{where} holds no shape ({type(error).__name__}: {error}).",
            "hfenv writes this file; take it back from version control or pull the release again.",
        ) from None


def recorded_probes(recorded: RecordedComponent) -> frozenset[str]:
    """Digests of the probes whose expected scores are those of a released reward."""
    return frozenset(_texts(recorded.described or {}))


def _texts(data: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(digest) for digest in data.get("probes") or ())
