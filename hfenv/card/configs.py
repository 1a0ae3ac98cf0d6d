"""The Hub's `configs` as they follow from the splits, so that `load_dataset` and the viewer show the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NAME = "tasks"


def configs_from(present: Any, splits: Mapping[str, Sequence[str]]) -> list[Any]:
    """`configs` with a config `tasks` made from patterns by split, in the place where it stands, else at the end.

    Other configs stay as they are. So does what else the config says, and its files where they are the splits' in
    another of the Hub's forms. It becomes the default unless that is said already.
    """
    listed = list(present) if isinstance(present, list) else []
    index = index_of(listed)
    before = {"config_name": NAME} if index is None else listed[index]
    others = [config for i, config in enumerate(listed) if i != index and isinstance(config, dict)]
    own = dict(before)
    if "default" not in own and not any(config.get("default") is True for config in others):
        own["default"] = True
    if files_of(own.pop("data_files", None)) == {split: tuple(patterns) for split, patterns in splits.items()}:
        own["data_files"] = before["data_files"]
    else:
        own["data_files"] = _files(splits)
    if index is None:
        return [*listed, own]
    return [*listed[:index], own, *listed[index + 1 :]]


def index_of(present: Sequence[Any]) -> int | None:
    """Where config `tasks` stands in `configs`; None where there is none."""
    found = (i for i, config in enumerate(present) if isinstance(config, dict) and config.get("config_name") == NAME)
    return next(found, None)


def _files(splits: Mapping[str, Sequence[str]]) -> list[Any]:
    """One pattern stands as a text, several as a list."""
    return [
        {"split": split, "path": patterns[0] if len(patterns) == 1 else list(patterns)}
        for split, patterns in splits.items()
    ]


def files_of(data_files: Any) -> dict[str, tuple[str, ...]]:
    """The Hub's forms of `data_files` as patterns by split."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(data_files, Mapping):
        pairs = list(data_files.items())
    elif isinstance(data_files, list) and all(isinstance(item, Mapping) for item in data_files):
        pairs = [(item.get("split"), item.get("path")) for item in data_files]
    elif data_files is not None:
        pairs = [("train", data_files)]
    found: dict[str, tuple[str, ...]] = {}
    for split, paths in pairs:
        listed: Sequence[Any] = paths if isinstance(paths, list) else (paths,)
        found[str(split)] = (*found.get(str(split), ()), *(str(path) for path in listed))
    return found
