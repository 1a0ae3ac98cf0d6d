"""Splicing, over headers of every shape: the wanted values change, and nothing else does."""

import copy
import re

from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from hfenv.card.edit import REMOVE, set_values
from hfenv.card.nodes import ScalarNode, find
from hfenv.card.reader import parse_card
from tests.card.documents import VALUES, documents, places

QUICK = settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
COMMENT = re.compile(r"# (?:before \d+|a remark: 😀)")


def _set(values, pointer, value):
    result = copy.deepcopy(values)
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer[1:].split("/")]
    parent = result
    for key in keys[:-1]:
        parent = parent[int(key)] if isinstance(parent, list) else parent[key]
    if value is REMOVE:
        del parent[keys[-1]]
    elif isinstance(parent, list):
        parent[int(keys[-1])] = value
    else:
        parent[keys[-1]] = value
    return result


@QUICK
@given(documents())
def test_a_card_reads_as_it_was_written_with_either_parser(document):
    raw, values = document
    fast, pure = parse_card(raw), parse_card(raw, pure=True)
    assert fast.front_matter == values
    assert pure.root == fast.root
    assert fast.raw == raw


@QUICK
@given(documents(), st.data())
def test_a_scalar_is_replaced_in_its_span_alone(document, data):
    raw, values = document
    card = parse_card(raw)
    scalars = [pointer for pointer, value in places(values) if not isinstance(value, (dict, list))]
    assume(scalars)
    pointer = data.draw(st.sampled_from(scalars))
    value = data.draw(st.one_of(st.text(max_size=8), st.integers(-9, 9), st.booleans()))
    result = set_values(card, {pointer: value})
    assert parse_card(result).front_matter == _set(values, pointer, value)
    node = find(card.root, pointer)[0][-1]
    node = node if isinstance(node, ScalarNode) else node.value
    before, after = card.text[: node.start].encode(), card.text[node.end :].encode()
    bare = result.removeprefix(b"\xef\xbb\xbf")
    assert bare.startswith(before)
    assert bare.endswith(after)


@QUICK
@given(documents(), st.data())
def test_any_value_can_be_set_anywhere(document, data):
    raw, values = document
    pointer, _ = data.draw(st.sampled_from(list(places(values))))
    value = data.draw(VALUES)
    result = set_values(parse_card(raw), {pointer: value})
    assert parse_card(result, pure=data.draw(st.booleans())).front_matter == _set(values, pointer, value)


@QUICK
@given(documents(), VALUES, st.data())
def test_adding_a_key_keeps_every_byte(document, value, data):
    raw, values = document
    parents = [("", values), *((p, v) for p, v in places(values) if isinstance(v, dict))]
    parent, _ = data.draw(st.sampled_from(parents))
    result = set_values(parse_card(raw), {f"{parent}/new": value})
    assert parse_card(result).front_matter == _set(values, f"{parent}/new", value)
    # What was there before is there still: the old bytes are the new ones without one inserted span.
    start = next((i for i, (a, b) in enumerate(zip(raw, result, strict=False)) if a != b), len(raw))
    assert result.endswith(raw[start:]) or _is_subsequence_by_span(raw, result)


def _is_subsequence_by_span(old, new):
    length = len(new) - len(old)
    return any(old == new[:cut] + new[cut + length :] for cut in range(len(old) + 1))


@QUICK
@given(documents(), st.data())
def test_removing_a_key_keeps_other_lines(document, data):
    raw, values = document
    keys = [pointer for pointer, _ in places(values) if not _is_item(values, pointer)]
    pointer = data.draw(st.sampled_from(keys))
    result = set_values(parse_card(raw), {pointer: REMOVE})
    assert parse_card(result).front_matter == _set(values, pointer, REMOVE)
    assert parse_card(result).text.endswith("text — 😀" + ("\r\n" if b"\r\n" in raw else "\n"))


def _is_item(values, pointer):
    parent = values
    for key in pointer[1:].split("/")[:-1]:
        parent = parent[int(key)] if isinstance(parent, list) else parent[key]
    return isinstance(parent, list)


@QUICK
@given(documents(), st.data())
def test_setting_what_is_there_already_changes_no_byte(document, data):
    raw, values = document
    pointer, value = data.draw(st.sampled_from(list(places(values))))
    assume(value not in ([], {}))
    assert set_values(parse_card(raw), {pointer: value}) == raw


@QUICK
@given(documents(), st.data())
def test_comments_survive_a_change_of_scalars_and_new_keys(document, data):
    raw, values = document
    scalars = [pointer for pointer, value in places(values) if not isinstance(value, (dict, list))]
    assume(scalars)
    pointer = data.draw(st.sampled_from(scalars))
    result = set_values(parse_card(raw), {pointer: "other", "/fresh/deep/er": [1, {"a": "b"}]})
    assert COMMENT.findall(result.decode()) == COMMENT.findall(raw.decode())
