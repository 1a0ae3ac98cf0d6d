"""Reading a card: values under YAML 1.2, the place of each, sections, and what stops the reading."""

import pickle
from pathlib import Path

import pytest

from hfenv.card.nodes import Position
from hfenv.card.problem import CardError
from hfenv.card.reader import manifest, parse_card, read_card
from hfenv.card.scalars import other_reading
from hfenv.errors import ExitCode, UnreadableError

CARDS = Path(__file__).parents[1] / "cards"
PARSERS = pytest.mark.parametrize("pure", [False, True], ids=["c", "python"])


def card_of(header, body="# Title\n", **options):
    return parse_card(f"---\n{header}---\n{body}".encode(), **options)


@PARSERS
def test_plain_scalars_follow_the_core_schema_of_yaml_1_2(pure):
    texts = {
        "no": "no", "off": "off", "12:30": "12:30", "1_000": "1_000", "2026-01-31": "2026-01-31", "017": 17,
        "1.10": 1.1, "1e3": 1000.0, "0x1f": 31, "0o17": 15, "~": None, "": None, "True": True, "false": False,
        "-1.5": -1.5, "0b11": "0b11", "=": "=", "1" * 5000: "1" * 5000,
    }  # fmt: skip
    header = "".join(f"k{index}: {text}\n" for index, text in enumerate(texts))
    values = card_of(header, pure=pure).front_matter
    assert list(values.values()) == list(texts.values())
    assert [type(value) for value in values.values()] == [type(value) for value in texts.values()]


def test_keys_are_text_as_written():
    assert card_of("on: 1\n1: 2\ntrue: 3\n").front_matter == {"on": 1, "1": 2, "true": 3}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("no", "true or false"), ("12:30", "a number"), ("2026-01-31", "a date"), ("1_000", "a number"),
        ("017", "the number 15"), ("08", "text"), ("1e3", "text"), ("yes", "true or false"), ("0o17", "text"),
        ("apache-2.0", None), ("1.0.0", None), ("-1.0", None), ("true", None), ("07", None), ("0", None), ("~", None),
        ("4225e04", "text"),
    ],
)  # fmt: skip
def test_scalars_that_other_readers_take_for_something_else(text, other):
    assert other_reading(text) == other


@PARSERS
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_positions_count_code_points_behind_emoji_marks_and_any_line_ending(pure, ending, mark):
    lines = [
        "---",
        'a: "😀😀"  # 概述',
        "b: {😀: x, c: [1, {d: 2}]}",
        "e:",
        "  - f",
        "  - g: 😀",
        "    h:",
        "---",
        "# T",
    ]
    card = parse_card(mark + ending.join(lines).encode(), pure=pure)
    expected = {
        "/a": (2, 4), "/b": (3, 4), "/b/😀": (3, 8), "/b/c/0": (3, 15), "/b/c/1/d": (3, 22), "/e/0": (5, 5),
        "/e/1/g": (6, 8), "/e/1/h": (7, 7),
    }  # fmt: skip
    assert {pointer: card.position(pointer) for pointer in expected} == {
        pointer: Position(*place) for pointer, place in expected.items()
    }
    assert card.key_position("/b/c") == Position(3, 11)
    assert card.place("/e") == Position(4, 1), "a block list is pointed at by its key"
    assert card.position("/b/c/7/x") == Position(3, 14), "what doesn't exist has the place of what holds it"
    assert card.raw == mark + ending.join(lines).encode()


def test_mixed_line_endings_and_separators_inside_a_line_count_as_editors_count():
    card = parse_card('---\r\na: 1\nb: "x\u2028y"\r\nc: 2\n---\n## T\r\n'.encode())
    assert card.front_matter["c"] == 2
    assert card.position("/c") == Position(4, 4)
    assert card.sections[0].line == 6


def test_pointers_escape_slashes_and_tildes():
    card = card_of("a/b: {x~y: 1}\n")
    assert card.position("/a~1b/x~0y") == Position(2, 12)


@PARSERS
def test_null_values_stand_behind_their_colon_with_either_parser(pure):
    card = card_of("a: {b: , c}\nd:\n", pure=pure)
    assert card.position("/a/b") == Position(2, 7)
    assert card.position("/d") == Position(3, 3)


def test_leading_white_space_and_an_empty_header_are_read():
    assert parse_card(b"\n  \n---\na: 1\n---\n").position("/a") == Position(4, 4)
    assert parse_card(b"---\n---\n# T\n").front_matter == {}
    assert parse_card(b"---\n# only a remark\n---\n").front_matter == {}


def test_the_header_ends_where_the_hubs_library_ends_it():
    huggingface_hub = pytest.importorskip("huggingface_hub")
    texts = [
        "---\na: 1\n---\n# T\n---\nb: 2\n---\n", "\n---\na: 1\n---  \ntext", "---\na: 1\n---",
        "---\r\na: 1\r\n---\r\nx",
        "---\na: |\n  x\n\nb: 2\n---\nx", "---\na: '---'\n---\nx",
    ]  # fmt: skip
    for text in texts:
        card = parse_card(text.encode())
        theirs = huggingface_hub.RepoCard(text, ignore_metadata_errors=True)
        assert card.front_matter == theirs.data.to_dict(), text
        assert card.text[card.header.body :].strip() == theirs.text.strip(), text


def test_sections_leave_out_what_only_looks_like_a_heading():
    body = (
        "# Title #\n\n```python\n# comment\n```\n<!--\n## hidden\n-->\n~~~~\n## fence\n~~~\n## still fence\n~~~~\n"
        "    ## indented\n#hashtag\n## Überblick 概述 ##\ntext\n### Deeper\nmore\nUnderlined\n----------\n- item\n---\n"
        "<pre>\n## raw\n</pre>\n##\n"
    )
    sections = card_of("a: 1\n", body).sections
    assert [(s.level, s.title, s.line) for s in sections] == [
        (1, "Title", 4), (2, "Überblick 概述", 19), (3, "Deeper", 21), (2, "Underlined", 23), (2, "", 30),
    ]  # fmt: skip
    assert sections[1].body == "text\n### Deeper\nmore"


@PARSERS
def test_a_repeated_key_is_a_notice_and_the_last_one_counts(pure):
    card = card_of("a: 1\nb: {c: 1, c: 2}\na: 3\n", pure=pure)
    assert card.front_matter == {"a": 3, "b": {"c": 2}}
    assert [(n.rule, n.pointer, n.line, n.column) for n in card.notices] == [
        ("HFE009", "/b/c", 3, 11),
        ("HFE009", "/a", 4, 1),
    ]


@PARSERS
@pytest.mark.parametrize(
    ("header", "rule", "place"),
    [
        ("a:\n\tb: 1\n", "HFE007", (3, 1)),
        ("a: b: c\n", "HFE006", (2, 5)),
        ("a: 'x\nb: 1\n", "HFE006", (2, 4)),
        ("a: [1, 2\nb: 3\n", "HFE006", (3, 2)),
        ("a: &x 1\nb: *x\n", "HFE013", (2, 4)),
        ("a: !!python/tuple [1]\n", "HFE011", (2, 4)),
        ("a: !own x\n", "HFE011", (2, 4)),
        ("a: " + "[" * 20 + "]" * 20 + "\n", "HFE014", (2, 23)),
        ("- a\n", "HFE010", (2, 1)),
        ("text\n", "HFE010", (2, 1)),
        ("? [a]\n: b\n", "HFE006", (2, 3)),
        ("a: 1\n...\nb: 2\n", "HFE006", (4, 1)),
        ('a: "\\q"\n', "HFE006", (2, 4)),
        ('a: "\\ud800"\n', "HFE006", (2, 4)),
        ("a: \x01\n", "HFE003", (2, 4)),
        ("a: \ufeffx\n", "HFE003", (2, 4)),
    ],
)
def test_headers_that_cannot_be_read_name_rule_place_and_cure(pure, header, rule, place):
    with pytest.raises(CardError) as caught:
        card_of(header, pure=pure)
    error = caught.value
    assert (error.rule, (error.line, error.column)) == (rule, place)
    assert error.hint
    assert error.exit_code is ExitCode.UNREADABLE
    assert error.message.startswith(f"README.md:{place[0]}:{place[1]}: ")


def test_nesting_is_refused_before_it_costs_anything():
    with pytest.raises(CardError) as caught:
        card_of("a: " + "[" * 100_000 + "\n")
    assert caught.value.rule == "HFE014"


@pytest.mark.parametrize(
    ("raw", "rule", "says"),
    [
        (b"---\na: \xe9\n---\n", "HFE002", "byte 7 is 0xe9"),
        (b"\xef\xbb\xbf---\na: \xff\n---\n", "HFE002", "byte 10 is 0xff"),
        (b"---\na: 1\n---\nx\0y", "HFE003", "byte 14"),
        (b"", "HFE004", "empty"),
        (b"# Title\n", "HFE004", "doesn't start"),
        (b"--- \na: 1\n---\n", "HFE004", "three dashes"),
        (b"---\na: 1\n", "HFE005", "never closed"),
        (b"---\n" + b"#" * (256 * 1024) + b"\n---\n", "HFE015", "256 KiB"),
    ],
)
def test_bytes_that_are_no_card_are_named(raw, rule, says):
    with pytest.raises(CardError, match=says) as caught:
        parse_card(raw)
    assert caught.value.rule == rule


def test_a_missing_card_is_an_error_with_the_way_out(tmp_path):
    with pytest.raises(UnreadableError, match="there is no file") as caught:
        read_card(tmp_path)
    assert "hfenv init" in caught.value.hint


def test_errors_cross_process_borders():
    with pytest.raises(CardError) as caught:
        parse_card(b"---\na: [\n---\n")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert (again.message, again.finding()) == (caught.value.message, caught.value.finding())


def test_a_manifest_names_the_first_break_of_the_schema_in_the_block():
    good = (CARDS / "good" / "minimal.md").read_text(encoding="utf-8")
    assert manifest(parse_card(good.encode())).code.version == "1.0.2"
    bad = good.replace('spec: "1"', "spec: 1").replace('"1.1.0"', "banana")
    with pytest.raises(UnreadableError, match=r"README\.md:5:9: spec is read as the number 1"):
        manifest(parse_card(bad.encode()))


def test_a_key_that_stands_twice_stops_a_manifest():
    good = (CARDS / "good" / "minimal.md").read_text(encoding="utf-8")
    for bad in (
        good.replace("\n---\n", "\nenvironment:\n---\n", 1),
        good.replace("  tasks:\n", "  tasks:\n  tasks:\n"),
    ):
        assert bad != good
        with pytest.raises(UnreadableError, match="twice"):
            manifest(parse_card(bad.encode()))


def test_what_lies_outside_of_the_block_does_not_stop_a_manifest():
    good = (CARDS / "good" / "minimal.md").read_text(encoding="utf-8")
    assert manifest(parse_card(good.replace("license: apache-2.0\n", "tags: 3\n").encode())).summary


@pytest.mark.parametrize("path", sorted((CARDS / "good").glob("*.md")), ids=lambda path: path.stem)
def test_what_the_schema_accepts_a_manifest_holds(path):
    block = read_card(path).block
    held = manifest(read_card(path))
    assert held.raw == block
    assert list(held.tasks.splits) == list(block["tasks"]["splits"])
    assert (held.reward.low, held.reward.high) == tuple(block["reward"]["range"])
    assert held.reward.low <= held.reward.floor < held.reward.high
    assert [resource.name for resource in held.resources] == [entry["name"] for entry in block.get("resources", [])]
    assert [service.name for service in held.services] == [entry["name"] for entry in block.get("services", [])]
    assert held.lifecycle.status.value == block.get("lifecycle", {}).get("status", "active")
    assert held.limits.max_steps == block.get("limits", {}).get("max_steps")
