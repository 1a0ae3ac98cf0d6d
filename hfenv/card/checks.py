"""The checks of a card by itself: its schema, what the schema can't say, its scalars and its sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfenv.card import publishing
from hfenv.card.declared import Declared
from hfenv.card.manifest import FieldRole
from hfenv.card.nodes import escape, scalars
from hfenv.card.reader import Card
from hfenv.card.scalars import other_reading
from hfenv.card.schema import check_finite, check_schema
from hfenv.card.wording import nearest
from hfenv.findings import Finding
from hfenv.rules.catalogue import RULES, severity

__all__ = ["CARD_RULES", "RULES", "SECTIONS", "check_card"]

SECTIONS = {
    "Overview": "概述",
    "Installation": "安装",
    "Interface": "接口",
    "Usage": "用法",
    "Tasks": "任务集",
    "Reward": "奖励",
    "Benchmarks": "基准",
    "Limitations": "限制",
}
TAGS = ("rl-environment", "hfenv")
# HFE016 is about comments, which the checks of an environment's files look at too.
CARD_RULES = tuple(
    rule
    for rule in (*(r for r in RULES if r < "HFE2"), "HFE205", "HFE601", "HFE602", "HFE603", *publishing.RULES)
    if rule != "HFE016"
)
_FOLDERS = {"code": "env/", "reward": "reward/"}
# A heading may be numbered, carry a sign in front, or name the section in both languages.
_AROUND_TITLE = re.compile(r"^[\W\d_]+|[\W_]+$")


def check_card(card: Card) -> list[Finding]:
    """Everything that is wrong with a card that could be read, what was noticed while reading it included."""
    found = [*card.notices, *check_schema(card)]
    judged = {finding.pointer for finding in found}
    declared = Declared.of(card)
    for check in (_finite, _reward, _fields, _names, _config, _boxes, _folders, _license, _tags, _configs):
        # A value that breaks the schema has its finding; what follows from it isn't another mistake.
        found += [finding for finding in check(card, declared) if finding.pointer not in judged]
    judged = {finding.pointer for finding in found}
    found += [finding for finding in publishing.check_publishing(card) if finding.pointer not in judged]
    found += [finding for finding in _ambiguous(card) if finding.pointer not in {f.pointer for f in found}]
    found += _sections(card)
    return sorted(found, key=lambda finding: (finding.line, finding.column, finding.rule, finding.message))


def _finding(card: Card, rule: str, pointer: str, message: str, fix: str, *, key: bool = False) -> Finding:
    at = card.key_position(pointer) if key else card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix)


def _finite(card: Card, declared: Declared) -> Iterator[Finding]:
    yield from check_finite(card)


def _reward(card: Card, declared: Declared) -> Iterator[Finding]:
    if declared.reward_range is None:
        return
    low, high = declared.reward_range
    if low >= high:
        message = f"the range's lower end {low:g} is not below its upper end {high:g}"
        yield _finding(card, "HFE113", "/environment/reward/range", message, "Write [lowest, highest].")
        return
    floor = declared.reward_floor
    if floor is None and high <= 0:
        message = f"the range ends at {high:g}, so that the default floor of 0 lies outside of it"
        fix = "Add reward.floor: what doing nothing useful earns."
        yield _finding(card, "HFE114", "/environment/reward/range", message, fix)
    elif floor is not None and not low <= floor < high:
        message = f"the floor {floor:g} must be at least {low:g} and below {high:g}"
        yield _finding(card, "HFE114", "/environment/reward/floor", message, "Correct floor or range.")


def _fields(card: Card, declared: Declared) -> Iterator[Finding]:
    roles = set(declared.fields.values())
    if not roles or declared.builtin or roles - {role.value for role in FieldRole}:
        return
    if FieldRole.INPUT.value not in roles:
        message = "no field has the role input, so that an agent is shown nothing of a task"
        yield _finding(card, "HFE115", "/environment/tasks/fields", message, "Give a field the role input.", key=True)


def _names(card: Card, declared: Declared) -> Iterator[Finding]:
    for block in ("resources", "services"):
        entries = card.block.get(block)
        seen: set[str] = set()
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            name = entry.get("name") if isinstance(entry, Mapping) else None
            if not isinstance(name, str):
                continue
            if name in seen:
                pointer = f"/environment/{block}/{index}/name"
                yield _finding(card, "HFE116", pointer, f"two {block} have the name '{name}'", "Rename one of them.")
            seen.add(name)


def _config(card: Card, declared: Declared) -> Iterator[Finding]:
    config = card.block.get("config")
    if not isinstance(config, Mapping) or not config:
        return
    import jsonschema

    full = "properties" in config or "$schema" in config or config.get("type") == "object"
    schema = config if full else {"type": "object", "properties": config}
    validator = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    error = jsonschema.exceptions.best_match(validator.iter_errors(schema))
    if error is not None:
        path = [str(token) for token in error.absolute_path]
        path = path if full else path[1:]
        pointer = "/environment/config" + "".join(f"/{escape(token)}" for token in path)
        where = ".".join(["config", *path])
        fix = "Write JSON Schema: {name: {type: integer, default: 3}}."
        yield _finding(card, "HFE117", pointer, f"{where} is no JSON Schema", fix)


def _boxes(card: Card, declared: Declared) -> Iterator[Finding]:
    for name in ("action", "observation"):
        yield from _box(card, f"/environment/{name}", card.block.get(name))


def _box(card: Card, pointer: str, space: Any) -> Iterator[Finding]:
    if not isinstance(space, Mapping):
        return
    parts = space.get("parts")
    for part, below in parts.items() if isinstance(parts, Mapping) else ():
        yield from _box(card, f"{pointer}/parts/{escape(part)}", below)
    if space.get("type") != "box" or "low" not in space or "high" not in space:
        return
    low, high = _shape(space["low"]), _shape(space["high"])
    shape = space.get("shape")
    wanted = tuple(shape) if isinstance(shape, list) else low or high
    for bound, found in (("low", low), ("high", high)):
        if found is None or (found and wanted is not None and found != wanted):
            message = f"{bound} is no list of numbers in the shape {list(wanted or ())}"
            yield _finding(card, "HFE118", f"{pointer}/{bound}", message, "One number serves for all entries.")
            return
    if not wanted and shape is None:
        message = "low and high are single numbers, so that the box has no shape"
        yield _finding(card, "HFE118", f"{pointer}/low", message, "Add shape, such as shape: [4].")
    elif any(a >= b for a, b in _pairs(space["low"], space["high"])):
        message = "low is not below high"
        yield _finding(card, "HFE118", f"{pointer}/low", message, "Correct low or high.")


def _shape(bound: Any) -> tuple[int, ...] | None:
    """Sizes of nested lists of numbers or nulls; None for anything else, such as ragged lists."""
    if isinstance(bound, list):
        inner = {_shape(item) for item in bound}
        only = inner.pop() if len(inner) == 1 else None
        return None if only is None else (len(bound), *only)
    return () if bound is None or (isinstance(bound, (int, float)) and not isinstance(bound, bool)) else None


def _pairs(low: Any, high: Any) -> Iterator[tuple[float, float]]:
    if isinstance(low, list) or isinstance(high, list):
        lows = low if isinstance(low, list) else [low] * len(high)
        highs = high if isinstance(high, list) else [high] * len(low)
        for a, b in zip(lows, highs, strict=False):
            yield from _pairs(a, b)
    elif low is not None and high is not None:
        yield float(low), float(high)


def _folders(card: Card, declared: Declared) -> Iterator[Finding]:
    """Versions go by folder: what a component names must lie in its own."""
    entries = {"code": declared.code_entry, "reward": None if declared.builtin else declared.reward_entry}
    for name, entry in entries.items():
        if entry is not None and not entry.path.startswith(_FOLDERS[name]):
            message = f"{entry.path} lies outside of {_FOLDERS[name]}, the folder of the {name} component"
            yield _finding(card, "HFE205", entry.pointer, message, f"Move it to {_FOLDERS[name]}.")
    named = [*declared.split_patterns, *(r for r in declared.resources if r.path is not None)]
    for item in named:
        path = str(item.path)
        if not path.startswith("tasks/"):
            message = f"{path} lies outside of tasks/, the folder of the tasks component"
            yield _finding(card, "HFE205", item.pointer, message, "Move it to tasks/.")


def _license(card: Card, declared: Declared) -> Iterator[Finding]:
    if card.front_matter.get("license") in (None, "", []):
        others = [key for key in card.front_matter if key not in ("license", "environment", "language")]
        meant = nearest("license", others)
        fix = f"Did you mean 'license' where it says '{meant}'?" if meant else "Add 'license: apache-2.0' or another."
        pointer = f"/{escape(meant)}" if meant else "/license"
        yield _finding(card, "HFE601", pointer, "the card names no licence", fix, key=True)


def _tags(card: Card, declared: Declared) -> Iterator[Finding]:
    tags = card.front_matter.get("tags")
    if tags is not None and not isinstance(tags, list):
        return
    for tag in TAGS:
        if tag not in (tags or ()):
            yield _finding(
                card, "HFE602", "/tags", f"the tags don't contain '{tag}'", f"Add '{tag}' to tags.", key=True
            )


def _configs(card: Card, declared: Declared) -> Iterator[Finding]:
    configs = card.front_matter.get("configs")
    if not isinstance(configs, list) or not configs or not declared.split_patterns:
        return
    for index, config in enumerate(configs):
        if isinstance(config, Mapping) and config.get("config_name") == "tasks":
            if _config_files(config.get("data_files")) != declared.splits:
                message = "configs names other files for config 'tasks' than the splits do"
                yield _finding(card, "HFE603", f"/configs/{index}", message, "The next push writes it from the splits.")
            return
    message = "configs has no config 'tasks', so that the Hub's viewer doesn't show the splits"
    yield _finding(card, "HFE603", "/configs", message, "The next push adds it.", key=True)


def _config_files(data_files: Any) -> dict[str, tuple[str, ...]]:
    """The Hub's forms of `data_files` as files by split."""
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


def _ambiguous(card: Card) -> Iterator[Finding]:
    for pointer, node in scalars(card.root):
        if node.style or (other := other_reading(node.text)) is None:
            continue
        where = pointer.removeprefix("/environment/").removeprefix("/").replace("/", ".")
        if isinstance(node.value, str):
            message = f"{where}: {node.text} is text here, but {other} to readers of YAML 1.1"
            fix = f'Write "{node.text}", with the quotes.'
        else:
            message = f"{where}: {node.text} is the number {node.value} here, but {other} to readers of YAML 1.1"
            fix = f"Write {node.value}."
        yield _finding(card, "HFE012", pointer, message, fix)


def _sections(card: Card) -> Iterator[Finding]:
    body = card.lines.position(card.header.body)
    titles = [(section, _names_in(section.title)) for section in card.sections]
    for english, chinese in SECTIONS.items():
        wanted = {english.casefold(), chinese}
        having = [section for section, names in titles if names and names <= wanted]
        if any(section.level == 2 for section in having):
            section = next(section for section in having if section.level == 2)
            if not section.body:
                message = f"the section '{section.title}' is empty"
                yield Finding("HFE111", severity("HFE111"), card.path, message, "", section.line, 1, "Write it.")
            continue
        if having:
            line, fix = having[0].line, f"Write '## {having[0].title}'."
            message = f"the section '{english}' has a heading of level {having[0].level} instead of 2"
        else:
            others = {section.title: section.line for section, names in titles if section.level == 2}
            meant = nearest(english, list(others))
            line = others[meant] if meant else body.line
            fix = f"Did you mean it by '{meant}'?" if meant else f"Add '## {english}' or '## {chinese}'."
            message = f"the section '{english}' ({chinese}) is missing"
        yield Finding("HFE110", severity("HFE110"), card.path, message, "", line, 1, fix)


def _names_in(title: str) -> set[str]:
    """A title without numbers, signs and emphasis, as the names that it puts side by side."""
    bare = _AROUND_TITLE.sub("", title.casefold())
    return {name for part in re.split(r"[/|()（）,·:：&]|\s-\s", bare) for name in _by_script(part) if name}


def _by_script(part: str) -> list[str]:
    """'overview 概述' names a section in two languages without a sign between."""
    return [_AROUND_TITLE.sub("", piece.strip()) for piece in re.split(r"\s+(?=[㐀-鿿])|(?<=[㐀-鿿])\s+", part)]
