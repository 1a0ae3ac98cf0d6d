"""Cards with accidents: what editors, merges, copying and bad luck do to a README, drawn from the corpus."""

from pathlib import Path

from hypothesis import strategies as st

CARDS = Path(__file__).parents[1] / "cards"
CORPUS = [path.read_bytes() for path in sorted(CARDS.rglob("*.md"))]
INDICATORS = [
    b"- ", b": ", b"? ", b"# ", b"&a ", b"*a ", b"!t ", b"| ", b">", b"'", b'"', b"{", b"}", b"[", b"]", b",", b"%",
    b"@", b"`", b"---\n", b"...\n", b"<<: ", b"~", b"!!str ", b"|+2\n", b"%YAML 1.1\n", b"\\x", b"\t", b"    ",
    b"\n\n\n",
]  # fmt: skip
SCALARS = [
    b"no", b"1.10", b"12:30", b"017", b"0o17", b"1_000", b"1e3", b"4225e04", b".inf", b".nan", b"-.5", b"2026-01-31",
    b"null", b"yes", b"0x1f", b"9" * 400, b"1e999", b'"5"', b"5.0", b"v1.2", b"1.0.0+b", b"banana", b"[]", b"{}", b"''",
]  # fmt: skip
ODD = [
    "\ufeff",
    "\u2028",
    "\u2029",
    "\x85",
    "\u200b",
    "\u202e",
    "\u3000",
    "：",
    "“",
    "😀",
    "\x07",
    "\0",
    "\x7f",
    "\ud7ff",
]
LINE_ENDS = [b"\n", b"\r\n", b"\r", b"\n\r", b"\x0b", b"\x0c"]


@st.composite
def mutated_cards(draw):
    """The bytes of a card of the corpus after one to six accidents."""
    raw = draw(st.sampled_from(CORPUS))
    for _ in range(draw(st.integers(1, 6))):
        raw = draw(st.sampled_from(ACCIDENTS))(draw, raw)
    return raw[:400_000]


def _places(draw, raw, count=1):
    # Accidents in the header are the interesting ones.
    end = max(raw.find(b"\n---", 3), 1)
    last = draw(st.sampled_from([end, end, end, len(raw)]))
    return sorted(draw(st.integers(0, max(last, 0))) for _ in range(count))


def _flip(draw, raw):
    (at,) = _places(draw, raw)
    return raw[:at] + bytes([draw(st.integers(0, 255))]) + raw[at + 1 :]


def _delete(draw, raw):
    start, end = _places(draw, raw, 2)
    return raw[:start] + raw[min(end, start + draw(st.integers(1, 40))) :]


def _truncate(draw, raw):
    (at,) = _places(draw, raw)
    return raw[:at]


def _insert(draw, raw):
    (at,) = _places(draw, raw)
    sign = draw(st.sampled_from([*INDICATORS, *(text.encode() for text in ODD), *LINE_ENDS]))
    return raw[:at] + sign * draw(st.sampled_from([1, 1, 1, 2, 30])) + raw[at:]


def _lines(raw):
    return raw.splitlines(keepends=True) or [b""]


def _duplicate_line(draw, raw):
    lines = _lines(raw)
    at = draw(st.integers(0, len(lines) - 1))
    return b"".join([*lines[:at], *([lines[at]] * draw(st.sampled_from([2, 3, 40]))), *lines[at + 1 :]])


def _swap_lines(draw, raw):
    lines = _lines(raw)
    one, two = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


def _swap_spans(draw, raw):
    a, b, c, d = _places(draw, raw, 4)
    return raw[:a] + raw[c:d] + raw[b:c] + raw[a:b] + raw[d:]


def _indent(draw, raw):
    lines = _lines(raw)
    at = draw(st.integers(0, len(lines) - 1))
    lines[at] = draw(st.sampled_from([b" ", b"  ", b"\t", b"      "])) + lines[at]
    return b"".join(lines)


def _other_value(draw, raw):
    """Another value behind one of the colons."""
    colons = [at for at in range(len(raw)) if raw[at : at + 2] == b": "]
    if not colons:
        return raw
    at = draw(st.sampled_from(colons)) + 2
    ends = [raw.find(sign, at) for sign in (b"\n", b",", b"}")]
    end = min((found for found in ends if found >= 0), default=len(raw))
    return raw[:at] + draw(st.sampled_from(SCALARS)) + raw[end:]


def _other_line_ends(draw, raw):
    return raw.replace(b"\n", draw(st.sampled_from(LINE_ENDS)))


def _mark(draw, raw):
    return b"\xef\xbb\xbf" + raw


def _splice_two(draw, raw):
    other = draw(st.sampled_from(CORPUS))
    (at,), (to,) = _places(draw, raw), _places(draw, other)
    return raw[:at] + other[to:]


ACCIDENTS = [
    _flip, _delete, _truncate, _insert, _insert, _duplicate_line, _swap_lines, _swap_spans, _indent, _other_value,
    _other_value, _other_line_ends, _mark, _splice_two,
]  # fmt: skip
