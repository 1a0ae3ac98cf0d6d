"""Language environments: observations become chat messages, completions become actions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hfenv.card.manifest import ActionSection
from hfenv.errors import AuthorCodeError
from hfenv.runtime.jsondata import round_trip, too_deep
from hfenv.runtime.spec import Part

Message = dict[str, Any]
PROMPT = "env/prompt.md"


class ChatTemplate:
    """Turns one observation into messages with `env/prompt.md`, a sandboxed jinja2 template, or a plain default.

    The template sees the keys of the observation, `observation` itself, and `turn` (0 for the first observation).
    """

    def __init__(self, part: Part) -> None:
        # Read at once: what is rendered later is what was verified.
        self._source = part.check(PROMPT).read_bytes() if part.has(PROMPT) else None
        self._template: Any = None

    def messages(self, observation: Any, turn: int) -> list[Message]:
        """Messages of this observation alone, so that a growing conversation keeps its prefix."""
        if observation is None:
            return []
        if _is_messages(observation):
            return [dict(message) for message in observation]
        try:
            text = self._fill(observation, turn) if self._source is not None else _plain(observation)
        except AuthorCodeError:
            raise
        except Exception as error:  # whatever a value's own methods raise
            raise AuthorCodeError(
                f"The observation has no text: {type(error).__name__}: {error}.",
                "Return texts, numbers, lists and mappings as observations, or write a render method.",
            ) from error
        return [{"role": "user", "content": text}]

    def _fill(self, observation: Any, turn: int) -> str:
        import jinja2
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        try:
            if self._template is None:
                sandbox = ImmutableSandboxedEnvironment(
                    undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
                )
                self._template = sandbox.from_string((self._source or b"").decode("utf-8"))
            keys = observation if isinstance(observation, Mapping) else {}
            text: str = self._template.render({**keys, "observation": observation, "turn": turn})
        except jinja2.TemplateSyntaxError as error:
            raise AuthorCodeError(f"{PROMPT}, line {error.lineno}: {error.message}.", "Correct the template.") from None
        except Exception as error:  # a template can divide by zero, call itself for ever, ask for a huge text
            raise AuthorCodeError(
                f"{PROMPT}: {str(error) or type(error).__name__}.",
                "The template sees the keys of the observation, 'observation' and 'turn'.",
            ) from None
        return text


def extract(completion: Any, section: ActionSection) -> Any:
    """The action in a completion, by the card's `action.extract`.

    `raw`: the whole text. `fenced`: the last fenced code block. `boxed`: the last `\\boxed{...}`, braces balanced.
    `tag:NAME`: the last `<NAME>...</NAME>`. A block that the text breaks off in goes to the end of the text; a closing
    tag alone ends text that began in the prompt; without any block, the text itself. `discrete` actions become ints,
    `box`, `json` and `tool_calls` parsed JSON, where they can: anything else stays text for the environment to judge.
    """
    text = _text(completion)
    if not isinstance(text, str):
        return text
    kind, _, name = section.extract.partition(":")
    if kind == "fenced":
        text = _fenced(text)
    elif kind == "boxed":
        text = _boxed(text)
    elif kind == "tag":
        text = _tagged(text, name)
    return _typed(text, section.type)


def _text(completion: Any) -> Any:
    """The text of a completion: a string, an assistant message, or the last of a list of messages."""
    if isinstance(completion, (list, tuple)) and _is_messages(completion):
        completion = completion[-1]
    if isinstance(completion, Mapping) and "content" in completion and not completion.get("tool_calls"):
        return completion["content"]
    return completion


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_INLINE_FENCE = re.compile(r"```(.+?)```", re.DOTALL)


def _fenced(text: str) -> str:
    blocks: list[str] = []
    position = 0
    while opening := _FENCE.search(text, position):
        mark = opening[1]
        closing = re.compile(rf"^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*$", re.MULTILINE).search(text, opening.end())
        block = text[opening.end() : closing.start() if closing else len(text)]
        if closing or not blocks:
            blocks.append(block)
        if closing is None:
            break
        position = closing.end()
    if not blocks:
        blocks = _INLINE_FENCE.findall(text)
    return (blocks[-1] if blocks else text).strip()


def _boxed(text: str) -> str:
    start = text.rfind("\\boxed{")
    if start < 0:
        return text.strip()
    begin = start + len("\\boxed{")
    depth = 1
    for position in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[begin:position].strip()
    return text[begin:].strip()


def _tagged(text: str, name: str) -> str:
    opening, closing = f"<{name}>", f"</{name}>"
    end = text.rfind(closing)
    if end >= 0:
        start = text.rfind(opening, 0, end)
        return text[start + len(opening) if start >= 0 else 0 : end].strip()
    start = text.rfind(opening)
    return text[start + len(opening) if start >= 0 else 0 :].strip()


def _typed(text: str, action_type: str) -> Any:
    try:
        if action_type == "discrete":
            return int(text.strip())
        if action_type in ("box", "json", "tool_calls"):
            # Python reads NaN, 1e999 and nesting that no record could hold: those stay text.
            return round_trip(json.loads(text), "action")
    except (ValueError, RecursionError):
        return text
    return text


def _is_messages(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(entry, Mapping) and "role" in entry for entry in value)
    )


def _plain(observation: Any) -> str:
    """Text as it is; a mapping as one paragraph per key; anything else as JSON."""
    if isinstance(observation, str):
        return observation
    if isinstance(observation, Mapping):
        return "\n\n".join(f"{key}: {_value(value)}" for key, value in observation.items())
    return _value(observation)


def _value(value: Any) -> str:
    if too_deep(value):
        raise ValueError("it is nested too deeply")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
