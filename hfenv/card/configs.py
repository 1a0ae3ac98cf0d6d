"""The Hub's `configs` as they follow from the splits, so that `load_dataset` and the viewer show the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NAME = "tasks"


def configs_from(splits: Mapping[str, Sequence[str]], present: Any = None) -> list[Any]:
    """`configs` with config `tasks` first, made from patterns by split; other configs that are there stay.

    One pattern stands as a text, several as a list.
    """
    files = [
        {"split": split, "path": patterns[0] if len(patterns) == 1 else list(patterns)}
        for split, patterns in splits.items()
    ]
    own = {"config_name": NAME, "default": True, "data_files": files}
    listed = present if isinstance(present, list) else ()
    return [own, *(config for config in listed if isinstance(config, dict) and config.get("config_name") != NAME)]


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
