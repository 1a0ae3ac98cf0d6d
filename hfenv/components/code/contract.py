"""Checks of the environment's entry: the class has the methods that hfenv calls, can be built, and fits the card."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from hfenv.card.declared import Declared
from hfenv.card.reader import Card
from hfenv.components.code.functions import check_returns
from hfenv.components.code.names import FUNCTIONS, FunctionNode
from hfenv.components.code.project import Definition, Project
from hfenv.components.code.shapes import (
    ClassView,
    Kind,
    accepts,
    class_view,
    is_abstract,
    is_plain,
    missing_arguments,
    returns_of,
    swapped,
    takes_keyword,
)
from hfenv.components.code.source import Source
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

_CALLS = {"start": "task, rng", "execute": "action", "step": "action", "close": "", "state": ""}
_RESET = {Kind.PLAIN: ("seed", "task_id", "options"), Kind.GYM: ("seed", "options"), Kind.BARE: ("seed", "options")}
_BUILTIN = "/environment/reward/builtin"


def check_environment(card: Card, declared: Declared, project: Project, definition: Definition) -> Iterator[Finding]:
    """Everything about the class, or the function that makes one, that the card's code.entry names."""
    view = class_view(project, definition)
    config = _config(card)
    if view is None:
        node, source = definition.node, definition.source
        if not isinstance(node, FUNCTIONS):
            return
        if is_plain(project, source, node):
            yield from _factory(source, node, config)
        if (made := _made_by(project, source, node)) is None:
            return
        view = made
        if view.kind in (Kind.TASK, Kind.PLAIN):
            message = f"{node.name} builds {view.node.name}, which then gets no tasks, resources, work_dir and config"
            yield source.finding("HFE417", node, message, f"Name the class itself: ...:{view.node.name}.")
    else:
        yield from _built(project, view, config)
    yield from _methods(project, view)
    yield from _agreement(card, declared, view)


def _methods(project: Project, view: ClassView) -> Iterator[Finding]:
    kind, methods = view.kind, view.methods
    yield from _missing(project, view)
    roles = {Kind.TASK: ("start", "execute", "close", "state"), Kind.UNKNOWN: ("start", "execute", "step")}
    for name in roles.get(kind, ("step", "close")):
        method = methods.get(name)
        if method is None or (function := method.function(project)) is None:
            continue
        arguments = _CALLS[name]
        count = arguments.count(",") + 1 if arguments else 0
        if not accepts(function, count + 1):
            call = f"{name}(self{', ' if arguments else ''}{arguments})"
            message = f"{name} can't be called as {call}"
            yield method.source.finding("HFE403", function, message, f"Write def {call}.")
        # What a base from elsewhere calls, and in which order, isn't known.
        elif kind is not Kind.UNKNOWN and (written := swapped(function, arguments, skip=1)):
            message = f"{name} takes ({written}), and hfenv calls it by position, with ({arguments})"
            yield method.source.finding("HFE403", function, message, f"Write def {name}(self, {arguments}).")
        if name != "state":
            yield from check_returns(method.source, function, name)
    yield from _reset(project, view)
    if kind is Kind.TASK:
        for name in ("reset", "step"):
            # An author may use the name for something of their own, and call it.
            if (method := methods.get(name)) is not None and f"self.{name}(" not in method.source.text:
                message = f"hfenv never calls {name} of a TaskEnvironment: it calls start and execute"
                fix = "Move it into start and execute, or derive from hfenv.Environment."
                yield method.source.finding("HFE416", method.node, message, fix)


def _missing(project: Project, view: ClassView) -> Iterator[Finding]:
    kind, methods = view.kind, view.methods
    fix = "Write it; `start` and `execute` belong to hfenv.TaskEnvironment, `reset` and `step` to hfenv.Environment."
    if kind is Kind.BARE and {"start", "execute"} & methods.keys() and not {"reset", "step"} & methods.keys():
        message = f"the class {view.node.name} has start or execute, and no base that would call them"
        yield view.source.finding("HFE403", view.node, message, f"Write class {view.node.name}(hfenv.TaskEnvironment).")
        return
    wanted = {
        Kind.TASK: ("start",) if "hfenv.ToolEnvironment" in view.roots else ("start", "execute"),
        Kind.PLAIN: ("reset", "step"),
        Kind.GYM: ("reset", "step"),
        # hfenv's Environment and gymnasium's Env bring close(); a class without a base has to write it.
        Kind.BARE: ("reset", "step", "close"),
        Kind.UNKNOWN: (),
    }[kind]
    # A base class from elsewhere may bring what is missing here: then only what is written is judged.
    missing = [name for name in wanted if name not in methods] if view.is_whole else []
    if missing:
        message = f"the class {view.node.name} has no {' and no '.join(f'{name}()' for name in missing)}"
        yield view.source.finding("HFE403", view.node, message, fix)
    for name, method in methods.items():
        if kind in (Kind.TASK, Kind.PLAIN) and is_abstract(project, method):
            message = f"{name} is abstract, so that {view.node.name} can't be built"
            yield method.source.finding("HFE403", method.node, message, "Write its body and remove @abstractmethod.")


def _reset(project: Project, view: ClassView) -> Iterator[Finding]:
    method = view.methods.get("reset")
    if method is None or view.kind is Kind.TASK or (function := method.function(project)) is None:
        return
    given = _RESET.get(view.kind, ("seed",))
    lacking = [name for name in given if not takes_keyword(function, name)]
    arguments = ", ".join(f"{name}=None" for name in _RESET.get(view.kind, ("seed", "options")))
    fix = f"Write def reset(self, *, {arguments})."
    if lacking:
        words = " and no ".join(lacking)
        why = ", so that episodes can't be repeated" if "seed" in lacking else ", and hfenv passes it"
        yield method.source.finding("HFE403", function, f"reset takes no {words}{why}", fix)
    elif view.kind is not Kind.UNKNOWN and (needed := missing_arguments(function, given, skip=1)):
        message = f"reset needs {', '.join(needed)}, which hfenv doesn't pass"
        yield method.source.finding("HFE403", function, message, fix)
    yield from check_returns(method.source, function, "reset")


def _built(project: Project, view: ClassView, config: Mapping[str, Any] | None) -> Iterator[Finding]:
    """Classes of hfenv's are built without arguments, all others with the card's configuration."""
    method = view.methods.get("__init__")
    function = method.function(project) if method is not None else None
    if method is None or function is None or view.node.decorator_list:
        return
    if view.kind in (Kind.TASK, Kind.PLAIN):
        if not accepts(function, 1):
            needed = ", ".join(missing_arguments(function, (), skip=1))
            message = f"{view.node.name} is built without arguments, and __init__ needs {needed or 'other ones'}"
            fix = "Read self.config, which is there before __init__ runs, or give the arguments defaults."
            yield method.source.finding("HFE409", function, message, fix)
    elif view.kind is not Kind.UNKNOWN:
        yield from _configured(method.source, function, view.node.name, config, skip=1)


def _factory(source: Source, node: FunctionNode, config: Mapping[str, Any] | None) -> Iterator[Finding]:
    found = returns_of(node)
    if isinstance(node, ast.AsyncFunctionDef) or found.yielded is not None:
        message = f"{node.name} is {'async' if found.yielded is None else 'a generator'}, and gives no environment"
        yield source.finding("HFE409", node, message, "Write a plain def that returns the environment.")
    elif not found.gives_value and node.body:
        message = f"{node.name} never returns an environment"
        yield source.finding("HFE409", node, message, "Return one, or name the class.")
    else:
        yield from _configured(source, node, node.name, config, skip=0)


def _configured(
    source: Source, function: FunctionNode, name: str, config: Mapping[str, Any] | None, *, skip: int
) -> Iterator[Finding]:
    if config is None:
        return
    if needed := missing_arguments(function, config, skip=skip):
        message = f"{name} is built with the card's config, which has no {', no '.join(needed)}"
        yield source.finding("HFE409", function, message, "Declare it under environment.config, or give it a default.")
    given = [key for key, entry in config.items() if isinstance(entry, Mapping) and "default" in entry]
    for key in given:
        if not takes_keyword(function, key):
            message = f"{name} is built with the card's config, and takes no argument '{key}'"
            yield source.finding("HFE409", function, message, f"Add {key} to its arguments.")


def _config(card: Card) -> Mapping[str, Any] | None:
    """The properties of the card's config by name; None where they can't be told."""
    config = card.block.get("config")
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        return None
    if "properties" in config or "$schema" in config or config.get("type") == "object":
        properties = config.get("properties", {})
        closed = config.get("additionalProperties", False) is False and "default" not in config
        return properties if isinstance(properties, Mapping) and closed else None
    return config


def _made_by(project: Project, source: Source, node: FunctionNode) -> ClassView | None:
    """The class of the environment's own that a function returns instances of, where that is certain."""
    values = [statement.value for statement in returns_of(node).returns]
    if len(values) != 1 or not isinstance(values[0], ast.Call):
        return None
    found = project.look_up(source, values[0].func)
    return class_view(project, found) if found is not None else None


def _agreement(card: Card, declared: Declared, view: ClassView) -> Iterator[Finding]:
    """A task environment needs a reward function, and any other computes its reward itself."""
    name = view.node.name
    if view.kind is Kind.TASK and declared.builtin:
        message = f"{name} is an hfenv.TaskEnvironment, which leaves the reward to a function, and there is none"
        yield _on_card(card, _BUILTIN, message, "Give the card a reward.entry, or derive from hfenv.Environment.")
    entry = declared.reward_entry
    if view.kind in (Kind.PLAIN, Kind.GYM, Kind.BARE) and entry is not None and not declared.builtin:
        if view.kind is Kind.BARE and not {"reset", "step"} & view.methods.keys():
            return
        message = f"{name} computes its reward itself, so that hfenv never calls {entry.path}:{entry.name}"
        fix = "Say reward: {builtin: true, ...} instead, or derive from hfenv.TaskEnvironment."
        yield _on_card(card, entry.pointer, message, fix)


def _on_card(card: Card, pointer: str, message: str, fix: str) -> Finding:
    at = card.place(pointer)
    return Finding("HFE410", severity("HFE410"), card.path, message, pointer, at.line, at.column, fix)
