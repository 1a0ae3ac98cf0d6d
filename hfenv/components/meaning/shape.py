"""What a component looked like at a release, small enough for the release record: the next gate compares with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hfenv.components.digest import canonical_json
from hfenv.components.meaning.data import NoValueError, written_data
from hfenv.components.ownership import Component, name_problem

_TOP = re.compile(r"[0-9a-f]{16} ([0-9a-f]{16}|-) ([0-9a-f]{16}|-)")
_PARAMETER = re.compile(r"(\*{0,2})([^ ,()=:*]+)(?:: ([^ ,()=:]+))?(?:=([^ ,()=:|]+))?")
_DEFINITION = re.compile(r"([a-z]+) ([0-9a-f]{16}) ([0-9a-f]{16}|-) ([0-9a-f.]{1,40}|-) (sm|s|m|-)(?: \((.*)\))?")
_TOOL = re.compile(r"([0-9a-f]{16}) \((.*)\)")
_MEANING = re.compile(r"(?:python|json|yaml|toml|text|bytes) [0-9a-f]{16}")


class ParameterKind(str, Enum):
    """How an argument is given, as in `inspect.Parameter`."""

    POSITIONAL = "positional"
    PLAIN = "plain"
    STAR = "star"
    KEYWORD = "keyword"
    STARS = "stars"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `default` is the default's text or digest, None without one; `types` the types that a tool's
    annotation allows, empty where annotations aren't recorded."""

    name: str
    kind: ParameterKind
    default: str | None = None
    types: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is None and self.kind not in (ParameterKind.STAR, ParameterKind.STARS)


Signature = tuple[Parameter, ...]


class Form(str, Enum):
    """What a definition is."""

    FUNCTION = "def"
    ASYNC = "async"
    CLASS = "class"
    PROPERTY = "property"


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method or class. `digest` is of its body and decorators; a class's is of its bases and of what is
    neither a method nor a constant. `numberless` is the digest without numbers and `numbers` what tells of them
    (see `number_digest`), for rewards alone.

    `by_score` and `by_measure` say that score or measure may run it. `line` is where it stands, 0 in a record.
    """

    form: Form
    digest: str
    signature: Signature | None = None
    numberless: str = ""
    numbers: str = ""
    by_score: bool = False
    by_measure: bool = False
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class FileShape:
    """One file: kind and digest of its meaning, and for Python what it defines, by qualified name.

    `constants` are names of modules and classes with their values, mappings leaf by leaf. `top` is the digest of what
    else stands on the top level, `top_numberless` the one without numbers, `top_measure` the one of what concerns
    measure (empty where nothing does), both for rewards alone. `order` are words for what has to keep its order.
    `values` are the leaves of a small data file, None where there is no such list.
    """

    meaning: str
    top: str = ""
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    top_numberless: str = ""
    top_measure: str = ""
    order: tuple[str, ...] = ()
    values: Mapping[str, str] | None = None
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """A method marked as a tool: digest of the docstring that the agent reads, and its parameters with types."""

    text: str
    signature: Signature
    line: int = field(default=0, compare=False)
    path: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Shape:
    """Code or reward. `card` is the component's slice of the card; `members` names what the entry's class has, with
    the place of each (`env/base.py:Base.execute`), `roots` its bases from elsewhere.

    Of rewards, `numbers` are all numbers in the code (or one digest of them), `lists_folders` says that the code looks
    at which files there are, and `file_names` are the names and endings of files that it mentions. `builtin` says that
    the environment's own code computes the reward.
    """

    component: Component
    card: Mapping[str, Any]
    files: Mapping[str, FileShape]
    members: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[str, ...] = ()
    tools: Mapping[str, Tool] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    lists_folders: bool = False
    file_names: tuple[str, ...] = ()
    builtin: bool = False

    def to_json(self) -> dict[str, Any]:
        """The shape as plain JSON, one line for each definition; lines of code are left out."""
        return {
            "card": dict(self.card),
            "files": {path: _file_json(file) for path, file in self.files.items()},
            "members": dict(self.members),
            "roots": list(self.roots),
            "tools": {name: f"{tool.text} ({signature_text(tool.signature)})" for name, tool in self.tools.items()},
            "numbers": " ".join(self.numbers),
            "lists_folders": self.lists_folders,
            "file_names": " ".join(self.file_names),
            "builtin": self.builtin,
        }

    @classmethod
    def from_json(cls, component: Component, data: Mapping[str, Any]) -> Shape:
        """Read what `to_json` wrote; raises ValueError, KeyError or TypeError for anything else."""
        return cls(
            component=component,
            card=_card(data["card"]),
            files={_path(path): _file(file) for path, file in _mapping(data["files"]).items()},
            members=_texts(data["members"]),
            roots=tuple(_text(root) for root in data["roots"]),
            tools={name: _tool(_text(tool)) for name, tool in _mapping(data["tools"]).items()},
            numbers=tuple(_text(data["numbers"]).split()),
            lists_folders=data["lists_folders"] is True,
            file_names=tuple(_text(data["file_names"]).split()),
            builtin=data["builtin"] is True,
        )


def signature_text(signature: Signature) -> str:
    """A signature as it would be written: `task, transcript, /, *, strict=True`."""
    parts: list[str] = []
    before = None
    for parameter in signature:
        if before is ParameterKind.POSITIONAL and parameter.kind is not ParameterKind.POSITIONAL:
            parts.append("/")
        if parameter.kind is ParameterKind.KEYWORD and before not in (ParameterKind.STAR, ParameterKind.KEYWORD):
            parts.append("*")
        stars = {ParameterKind.STAR: "*", ParameterKind.STARS: "**"}.get(parameter.kind, "")
        types = f": {'|'.join(parameter.types)}" if parameter.types else ""
        default = "" if parameter.default is None else f"={parameter.default}"
        parts.append(f"{stars}{parameter.name}{types}{default}")
        before = parameter.kind
    if before is ParameterKind.POSITIONAL:
        parts.append("/")
    return ", ".join(parts)


def parse_signature(text: str) -> Signature:
    """Read what `signature_text` wrote; raises ValueError for anything else."""
    found: list[Parameter] = []
    kind = ParameterKind.PLAIN
    for part in text.split(", ") if text else ():
        if part == "/":
            found = [Parameter(p.name, ParameterKind.POSITIONAL, p.default, p.types) for p in found]
            continue
        if part == "*":
            kind = ParameterKind.KEYWORD
            continue
        match = _PARAMETER.fullmatch(part)
        if match is None:
            raise ValueError(f"{part!r} is no parameter")
        stars, name, types, default = match.groups()
        this = {"*": ParameterKind.STAR, "**": ParameterKind.STARS}.get(stars, kind)
        kind = ParameterKind.KEYWORD if this is ParameterKind.STAR else kind
        found.append(Parameter(name, this, default, tuple(types.split("|")) if types else ()))
    return tuple(found)


def _file_json(file: FileShape) -> Any:
    if file.values is not None:
        return {"meaning": file.meaning, "values": dict(file.values)}
    if not file.meaning.startswith("python "):
        return file.meaning
    definitions = {name: _definition_text(definition) for name, definition in file.definitions.items()}
    return {
        "meaning": file.meaning,
        "top": f"{file.top} {file.top_numberless or '-'} {file.top_measure or '-'}",
        "order": " ".join(file.order),
        "definitions": definitions,
        "constants": dict(file.constants),
    }


def _definition_text(definition: Definition) -> str:
    reach = ("s" if definition.by_score else "") + ("m" if definition.by_measure else "")
    digests = (definition.digest, definition.numberless or "-", definition.numbers or "-")
    text = f"{definition.form.value} {' '.join(digests)} {reach or '-'}"
    return text if definition.signature is None else f"{text} ({signature_text(definition.signature)})"


def _file(data: Any) -> FileShape:
    if isinstance(data, str):
        return FileShape(_matching(_MEANING, data))
    meaning = _matching(_MEANING, data["meaning"])
    if "values" in data:
        return FileShape(meaning, values=_texts(data["values"]))
    definitions = {name: _definition(_text(text)) for name, text in _mapping(data["definitions"]).items()}
    top, numberless, measure = (part.strip("-") for part in _matching(_TOP, data["top"]).split(" "))
    order = tuple(_text(data["order"]).split())
    return FileShape(meaning, top, definitions, _texts(data["constants"]), numberless, measure, order)


def _definition(text: str) -> Definition:
    match = _DEFINITION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no definition")
    form, digest, numberless, numbers, reach, signature = match.groups()
    return Definition(
        form=Form(form),
        digest=digest,
        signature=None if signature is None else parse_signature(signature),
        numberless=numberless.strip("-"),
        numbers=numbers.strip("-"),
        by_score="s" in reach,
        by_measure="m" in reach,
    )


def _tool(text: str) -> Tool:
    match = _TOOL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no tool")
    return Tool(match[1], parse_signature(match[2]))


def _matching(pattern: re.Pattern[str], value: Any) -> str:
    if not pattern.fullmatch(_text(value)):
        raise ValueError(f"{value!r} isn't what is expected here")
    return str(value)


def _path(value: str) -> str:
    if problem := name_problem(value):
        raise ValueError(f"{value!r}: {problem}")
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no mapping")
    return value


def _card(value: Any) -> Mapping[str, Any]:
    card = _mapping(value)
    try:
        written_data(card)
    except NoValueError as error:
        raise ValueError(str(error)) from None
    canonical_json(card)  # a ValueError for NaN and infinities
    for key in ("reward/parts", "reward/range"):
        if not isinstance(card.get(key, []), list):
            raise TypeError(f"{key} is no list")
    return card


def _texts(value: Any) -> dict[str, str]:
    return {key: _text(text) for key, text in _mapping(value).items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
