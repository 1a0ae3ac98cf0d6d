"""Headers as people write them, for property tests: every value in some style, with comments, in some line ending."""

import json

from hypothesis import strategies as st

KEYS = st.sampled_from(["license", "tags", "name", "version", "splits", "on", "a-b", "键", "x.y", "limits", "k9"])
TEXTS = st.one_of(
    st.sampled_from(
        ["1.0.0", "1.10", "no", "12:30", "a: b", "x # y", "", " pad ", "it's", 'say "hi"', "😀 ok", "概述", "-"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12),
)
SCALARS = st.one_of(
    TEXTS,
    st.integers(-(10**6), 10**6),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)


def _quoted(value):
    """JSON is YAML, once the signs that YAML doesn't print are escaped too; it has no escapes of surrogate pairs."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in text)


@st.composite
def documents(draw):
    """The bytes of a card and the values that its header holds."""
    values = draw(MAPPINGS)
    lines = _block(draw, values, 0, draw(st.sampled_from([2, 4])))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    body = "# Title\n\ntext — 😀\n"
    text = mark + ending.join(["---", *lines, "---", *body.split("\n")])
    return text.encode(), values


def _comment(draw, text="a remark: 😀"):
    return draw(st.sampled_from(["", "", f"  # {text}"]))


def _block(draw, values, indent, step):
    lines = []
    margin = " " * indent
    for key, value in values.items():
        if draw(st.integers(0, 4)) == 0:
            lines.append(f"{margin}# before {len(lines)}")
        name = draw(st.sampled_from([key, json.dumps(key, ensure_ascii=False)]))
        if isinstance(value, dict) and value and draw(st.booleans()):
            lines += [f"{margin}{name}:{_comment(draw)}", *_block(draw, value, indent + step, step)]
        elif isinstance(value, list) and value and draw(st.booleans()):
            deeper = indent + draw(st.sampled_from([0, step]))
            lines += [f"{margin}{name}:{_comment(draw)}", *_items(draw, value, deeper, step)]
        else:
            lines.append(f"{margin}{name}: {_flow(draw, value)}{_comment(draw)}")
    return lines


def _items(draw, values, indent, step):
    lines = []
    for value in values:
        if isinstance(value, dict) and value and draw(st.booleans()):
            below = _block(draw, value, indent + 2, step)
            # A comment can't stand behind the dash and before the first key on the same line.
            while below[0].lstrip().startswith("#"):
                below = below[1:]
            lines += [f"{' ' * indent}- {below[0].lstrip()}", *below[1:]]
        else:
            lines.append(f"{' ' * indent}- {_flow(draw, value)}{_comment(draw)}")
    return lines


def _flow(draw, value):
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)}: {_flow(draw, item)}" for key, item in value.items())
        comma = "," if value and draw(st.booleans()) else ""
        return "{" + draw(st.sampled_from(["", " "])) + inner + comma + draw(st.sampled_from(["", " "])) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(draw, item) for item in value) + "]"
    if isinstance(value, float):
        text = json.dumps(value)
        return text if "." in text else text.replace("e", ".0e")
    if (
        isinstance(value, str)
        and value.isalpha()
        and value.isascii()
        and value.lower() not in ("true", "false", "null")
    ):
        return draw(st.sampled_from([value, f"'{value}'", f'"{value}"']))
    return _quoted(value)


def places(value, pointer=""):
    """Every pointer into a value, with the value there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        below = f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
        yield below, item
        yield from places(item, below)
