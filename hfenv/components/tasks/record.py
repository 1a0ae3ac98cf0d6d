"""The index of a task set as a release record holds it: JSON with one short line for each task, read strictly."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from hfenv.card.manifest import FieldRole, SeedRange
from hfenv.components.tasks.digests import CANONICAL, KEY, id_digest
from hfenv.components.tasks.index import TaskField, TaskIndex
from hfenv.components.tasks.rows import Column, SplitDigests, SplitRows, TaskRows
from hfenv.components.tasks.samples import task_id
from hfenv.errors import UnreadableError

# Of 100,000 tasks, two would share 8 bytes of content once in 4 thousand million sets; a split's own digest, which
# isn't cut, would still tell that something changed.
_CONTENT, _META = 8, 4
_DIGEST = 16  # characters for both, in base64 without padding
_LONGEST = 64  # code points of an id that is written down; of a longer one, its digest is
_TYPES = frozenset({"text", "int", "float", "bool", "list", "object"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]*")
_HEX = re.compile(r"[0-9a-f]{64}")


def to_json(index: TaskIndex) -> dict[str, Any]:
    """The index as plain JSON.

    A task's line is 16 characters of base64 (8 bytes of its content's digest, 4 of its meta fields'), then a space and
    its id, or `~` and the digest of an id that is too long or no Unicode.
    """
    splits = {}
    for name, digests in index.splits.items():
        splits[name] = {what: getattr(digests, what) for what in ("rows", "ids", "content", "meta", "order")}
        if (seeds := index.seeds.get(name)) is not None:
            splits[name]["seeds"] = [seeds.first, seeds.stop]
        if (split := index.rows.split(name)) is not None:
            splits[name]["tasks"] = list(_lines(index.rows, split))
    generator = {"generator": index.generator} if index.seeds else {}
    return {
        **generator,
        "canonical": CANONICAL,
        "fields": {name: " ".join([field.role, *field.types]) for name, field in index.fields.items()},
        "resources": dict(index.resources),
        "splits": splits,
    }


def _lines(rows: TaskRows, split: SplitRows) -> Iterator[str]:
    for row in range(split.start, split.stop):
        digest = b64encode(rows.contents[row][:_CONTENT] + rows.metas[row][:_META]).decode()
        name = rows.names[row]
        if name is None or len(name) > _LONGEST or not _is_unicode(name):
            yield f"{digest}~{b64encode(rows.keys[row]).decode()[:22]}"
        else:
            yield f"{digest} {name}"


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any(0xD800 <= ord(sign) < 0xE000 for sign in text)


def from_json(data: Any, where: str) -> TaskIndex:
    """Read what `to_json` wrote; raises UnreadableError that names `where` it came from."""
    try:
        if data["canonical"] != CANONICAL:
            raise UnreadableError(
                f"{where} describes tasks in the form {data['canonical']!r}, which this version of hfenv doesn't know.",
                "Upgrade hfenv.",
            )
        fields = {_text(name): _field(_text(said)) for name, said in data["fields"].items()}
        resources = {_text(name): _hex(digest) for name, digest in data["resources"].items()}
        splits = {_text(name): _digests(split) for name, split in data["splits"].items()}
        lines = {name: split["tasks"] for name, split in data["splits"].items() if "tasks" in split}
        rows = _rows(splits, lines)
        seeds = {name: _seeds(name, split, rows) for name, split in data["splits"].items() if "seeds" in split}
        generator = _hex(data["generator"]) if seeds else ""
        if not seeds and "generator" in data:
            raise ValueError("there is a generator of nothing")
        return TaskIndex(fields, resources, splits, rows, seeds, generator)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(
            f"{where} holds no index of tasks ({type(error).__name__}: {error}).",
            "hfenv writes this file; take it back from version control or pull the release again.",
        ) from None


def _rows(splits: Mapping[str, SplitDigests], lines: Mapping[str, Sequence[Any]]) -> TaskRows:
    found, names, start = [], list[str | None](), 0
    keys, digests = bytearray(), list[str]()
    for split, tasks in lines.items():
        found.append(SplitRows(split, start, start + len(tasks)))
        for line in tasks:
            name, key = _task(_text(line))
            names.append(name)
            keys += key
            digests.append(line[:_DIGEST])
        if len(tasks) != splits[split].rows or sha256(keys[start * KEY :]).hexdigest() != splits[split].order:
            raise ValueError(f"the tasks of {split!r} aren't those that its digest is of")
        start += len(tasks)
    joined = "".join(digests)
    if not _BASE64.fullmatch(joined):
        raise ValueError("a digest isn't base64")
    packed, step = b64decode(joined), _CONTENT + _META
    contents = b"".join([packed[at : at + _CONTENT] for at in range(0, len(packed), step)])
    metas = b"".join([packed[at + _CONTENT : at + step] for at in range(0, len(packed), step)])
    return TaskRows(tuple(found), Column(bytes(keys), KEY), Column(contents, _CONTENT), Column(metas, _META), names)


def _task(line: str) -> tuple[str | None, bytes]:
    """A task's id, where it is written down, and the digest of it."""
    mark, rest = line[_DIGEST : _DIGEST + 1], line[_DIGEST + 1 :]
    if mark == " " and rest:
        return rest, id_digest(rest)
    if mark == "~" and len(rest) == 22 and _BASE64.fullmatch(rest):
        return None, b64decode(f"{rest}==")
    raise ValueError(f"{line[:60]!r} is no task")


def _field(said: str) -> TaskField:
    role, *types = said.split(" ")
    if types != sorted(_TYPES.intersection(types)):
        raise ValueError(f"{said[:60]!r} is no role with types")
    return TaskField(FieldRole(role).value, tuple(types))


def _digests(split: Mapping[str, Any]) -> SplitDigests:
    rows = split["rows"]
    if type(rows) is not int or rows < 0:
        raise TypeError(f"{rows!r} is no count")
    return SplitDigests(rows, *(_hex(split[what]) for what in ("ids", "content", "meta", "order")))


def _seeds(name: str, split: Mapping[str, Any], rows: TaskRows) -> SeedRange:
    first, stop = split["seeds"]
    if type(first) is not int or type(stop) is not int or not 0 <= first < stop or split["rows"] > stop - first:
        raise ValueError(f"{split['seeds']!r} are no seeds of {split['rows']} tasks"[:160])
    if (own := rows.split(name)) is not None:
        for row in range(own.start, own.stop):
            if rows.keys[row] != id_digest(task_id(name, first + row - own.start)):
                raise ValueError(f"the tasks of {name!r} aren't the first ones of its seeds")
    return SeedRange(first, stop)


def _hex(value: Any) -> str:
    if not _HEX.fullmatch(_text(value)):
        raise ValueError(f"{value[:80]!r} is no digest")
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text"[:80])
    return value
