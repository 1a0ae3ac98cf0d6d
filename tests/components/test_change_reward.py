"""Changes of a reward: every row of the rules, and what must never pass as less than it is."""

from __future__ import annotations

import itertools
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hfenv.card.reader import read_card
from hfenv.components.changes.change import ChangeKind, required
from hfenv.components.changes.policy import load_policy
from hfenv.components.changes.reward import classify_reward
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import Component, walk
from hfenv.components.versions import Level
from tests.components.editing import FILES, REWARD, changes, shape
from tests.support import replace_in

ROOT = Path(__file__).resolve().parents[2]
KIND = ChangeKind
PATCH, MINOR, MAJOR = Level.PATCH, Level.MINOR, Level.MAJOR
MAIN, COMPARE, LIMITS = "reward/reward.py", "reward/compare.py", "reward/limits.yaml"
CLEAN = "def _clean(text):\n    return text.strip().lower()\n"


def reward(tmp_path, edits, **options):
    return changes(tmp_path, Component.REWARD, edits, **options)


def kinds(found):
    return {change.kind for change in found}


# Edits, the kinds that are found, and the level with and without probes that score alike.
ROWS = {
    # static: the tree is equal
    "a comment": ({MAIN: ("import json\n", "import json  # said\n")}, {KIND.TEXT}, PATCH, PATCH),
    "a docstring": ({MAIN: ("What it is worth.", "Worth.")}, {KIND.TEXT}, PATCH, PATCH),
    "line breaks": ({MAIN: ("\n", "\r\n")}, {KIND.TEXT}, PATCH, PATCH),
    "a comment in data": ({LIMITS: ("model:", "# said\nmodel:")}, {KIND.TEXT}, PATCH, PATCH),
    "probes": ({"reward/probes.jsonl": "{}\n"}, {KIND.PROBES}, PATCH, PATCH),
    "a document": ({"reward/README.md": "said\n"}, {KIND.DOCUMENT}, PATCH, PATCH),
    # static: signature break, removed entry, changed default
    "a required parameter": (
        {MAIN: ("transcript, *", "transcript, more, *")}, {KIND.REWARD_SIGNATURE}, MAJOR, MAJOR,
    ),
    "a parameter less": (
        {MAIN: ("def score(task, transcript, *, strict=True)", "def score(task, *, strict=True)")},
        {KIND.REWARD_SIGNATURE}, MAJOR, MAJOR,
    ),
    "an optional parameter": (
        {MAIN: ("strict=True", "strict=True, more: int = 0")}, {KIND.REWARD_PARAMETER}, MINOR, MINOR,
    ),
    "a removed entry": (
        {MAIN: ("def score(", "def grade(")}, {KIND.REWARD_REMOVED, KIND.REWARD_BODY}, MAJOR, MAJOR,
    ),
    "an entry that became async": (
        {MAIN: ("def score(", "async def score(")}, {KIND.REWARD_SIGNATURE, KIND.REWARD_BODY}, MAJOR, MAJOR,
    ),
    "measure that became async": (
        {MAIN: ("def measure(", "async def measure(")}, {KIND.MEASURE_BODY}, MAJOR, MAJOR,
    ),
    "a default of the entry": (
        {MAIN: ("strict=True", "strict=False")}, {KIND.REWARD_DEFAULT}, MAJOR, MAJOR,
    ),
    "a default of a helper": (
        {COMPARE: ("limit=200", "limit=300")}, {KIND.REWARD_DEFAULT}, MAJOR, MAJOR,
    ),
    # configuration: constants, weights, thresholds, prompts, models
    "a weight": ({MAIN: ('"right": 0.9', '"right": 0.8')}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "a threshold": ({COMPARE: ("1e-6", "1e-5")}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "a constant that nothing uses": ({MAIN: ("EXACT = 0.6", "EXACT = 0.7")}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "a judge's prompt": ({MAIN: ("Judge the", "Judge this")}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "weights side by side": (
        {MAIN: ("0.25, 0.75", "0.75, 0.25")},
        {KIND.REWARD_CONSTANT},
        MAJOR,
        MAJOR,
    ),
    "a number that depends": (
        {MAIN: ("SMALL = 3", "SMALL = 4")},
        {KIND.REWARD_NUMBER},
        MAJOR,
        MAJOR,
    ),
    "a constant of a class": ({COMPARE: ("margin = 2", "margin = 3")}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "a key less": ({MAIN: ('"form": 0.1, ', "")}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "a key with a value": ({MAIN: ('0.9}', '0.9, "style": 0.5}')}, {KIND.REWARD_CONSTANT}, MAJOR, MAJOR),
    "a key with a neutral value": (
        {MAIN: ("0.9}", '0.9, "style": 0.0}')}, {KIND.REWARD_KEY_NEUTRAL}, MINOR, MINOR,
    ),
    "a number in the code": ({MAIN: ("-0.2", "-0.3")}, {KIND.REWARD_NUMBER}, MAJOR, MAJOR),
    "a number that measure uses": ({MAIN: ("[:20]", "[:30]")}, {KIND.REWARD_NUMBER}, MAJOR, MAJOR),
    "a setting in a file": ({LIMITS: ("exact: 0.5", "exact: 0.6")}, {KIND.REWARD_DATA}, MAJOR, MAJOR),
    "a judge's model in a file": ({LIMITS: ("org/judge", "org/other")}, {KIND.REWARD_DATA}, MAJOR, MAJOR),
    "a neutral setting in a file": (
        {LIMITS: ("style: 0.0", "style: 0.0\n  more: null")}, {KIND.REWARD_KEY_NEUTRAL}, MINOR, MINOR,
    ),
    "other data": ({"reward/notes.txt": "shown\n"}, {KIND.REWARD_DATA}, MAJOR, MAJOR),
    "data that is gone": ({"reward/notes.txt": None}, {KIND.REWARD_DATA}, MAJOR, MAJOR),
    "data that nobody reads yet": ({"reward/new.json": "{}"}, {KIND.REWARD_DATA_ADDED}, MINOR, MINOR),
    # behaviour: what probes can tell, and what they can't
    "a helper refactored": (
        {COMPARE: ("text.strip().lower()", "text.lower().strip()")}, {KIND.REWARD_BODY}, MAJOR, PATCH,
    ),
    "a helper renamed": ({COMPARE: ("_clean", "_tidy")}, {KIND.REWARD_BODY}, MAJOR, PATCH),
    "a helper written out": (
        {COMPARE: ((f"{CLEAN}\n\n", ""), ("_clean(answer)", "answer.strip()"))}, {KIND.REWARD_BODY}, MAJOR, PATCH,
    ),
    "a special method": ({COMPARE: ("return True", "return self is other")}, {KIND.REWARD_UNREACHED}, PATCH, PATCH),
    "an import": ({MAIN: ("import json\n", "import json\nimport math\n")}, {KIND.REWARD_TOP}, MAJOR, PATCH),
    "a builtin that is hidden": (
        {COMPARE: ("RELATIVE", "def len(x): return 0\n\n\nRELATIVE")}, {KIND.REWARD_UNREACHED}, PATCH, PATCH,
    ),
    "an annotation": ({COMPARE: ("_clean(text)", "_clean(text: str)")}, {KIND.TEXT}, PATCH, PATCH),
    "the entry renamed": (
        {MAIN: ("def score(", "def grade("), "card": {"reward/entry": f"{MAIN}:grade"}},
        {KIND.REWARD_ENTRY, KIND.REWARD_BODY}, MAJOR, PATCH,
    ),
    "what measure runs": (
        {MAIN: ("json.loads(action)", "json.loads(str(action))")}, {KIND.MEASURE_BODY}, MAJOR, MAJOR,
    ),
    "what nothing runs": ({MAIN: ("text * 3", "text * 4")}, {KIND.REWARD_UNREACHED}, PATCH, PATCH),
    # the card
    "a range": ({"card": {"reward/range": [-1.0, 2.0]}}, {KIND.REWARD_RANGE}, MAJOR, MAJOR),
    "a floor": ({"card": {"reward/floor": 0.1}}, {KIND.REWARD_FLOOR}, MAJOR, MAJOR),
    "a floor where it was by default": ({"card": {"reward/floor": 0.0}}, {KIND.REWARD_KEY_NEUTRAL}, MINOR, MINOR),
    "a part less": ({"card": {"reward/parts": ["right"]}}, {KIND.REWARD_PARTS}, MAJOR, MAJOR),
    "a part renamed": ({"card": {"reward/parts": ["form", "exact"]}}, {KIND.REWARD_PARTS}, MAJOR, MAJOR),
    "a part more": ({"card": {"reward/parts": ["form", "right", "x"]}}, {KIND.REWARD_PARTS_ADDED}, MINOR, MINOR),
    "parts in another order": ({"card": {"reward/parts": ["right", "form"]}}, {KIND.TEXT}, PATCH, PATCH),
    "a scope": ({"card": {"reward/scope": "episode"}}, {KIND.REWARD_SCOPE}, MAJOR, MAJOR),
    "a reward that moved into the code": ({"card": {"reward/builtin": True}}, {KIND.REWARD_BUILTIN}, MAJOR, MAJOR),
    "a key where it was by default": ({"card": {"reward/builtin": False}}, {KIND.REWARD_KEY_NEUTRAL}, MINOR, MINOR),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_every_row_of_the_rules(name, tmp_path):
    edits, expected, level, settled = ROWS[name]
    found = reward(tmp_path, {k: v for k, v in edits.items() if k != "card"}, card=edits.get("card"))
    assert kinds(found) == expected
    assert required(found) is level
    assert required(change.settled() for change in found) is settled


def test_every_kind_of_change_of_a_reward_is_met_by_a_test():
    met = set().union(*(row[1] for row in ROWS.values()))
    elsewhere = {KIND.CARD_OTHER, KIND.MEASURE_ADDED, KIND.UNKNOWN, KIND.PROBE_MOVED, KIND.PROBE_PARTS}
    assert met | elsewhere == {kind for component, kind in load_policy().rules if component is Component.REWARD}


@pytest.mark.parametrize("component", [Component.CODE, Component.REWARD])
def test_equal_shapes_have_no_changes(component, tmp_path):
    assert changes(tmp_path, component, {}) == ()
    assert required(()) is Level.NONE


def test_a_change_says_what_where_and_why(tmp_path):
    (found,) = reward(tmp_path, {MAIN: ('"right": 0.9', '"right": 0.8')})
    assert (found.component, found.path, found.line, found.name) == (Component.REWARD, MAIN, 8, "WEIGHTS.right")
    assert (found.before, found.after) == ("0.9", "0.8")
    assert "0.9" not in found.why
    assert found.why.endswith(".")
    assert found.unless_probes is None


def test_a_weight_that_changed_with_the_code_around_it_does_not_pass_on_probes(tmp_path):
    found = reward(tmp_path, {MAIN: (("-0.2", "-0.3"), ("said", "told"))})
    assert KIND.REWARD_BODY in kinds(found)
    number = next(change for change in found if change.kind is KIND.REWARD_NUMBER)
    assert (number.before, number.after) == ("-0.2", "-0.3")
    assert required(change.settled() for change in found) is Level.MAJOR


def test_a_constant_that_moved_and_changed_on_the_way_is_seen(tmp_path):
    edits = {
        MAIN: (("EXACT = 0.6\n", ""), ("import overlap", "import EXACT, overlap")),
        COMPARE: ("RELATIVE", "EXACT = 0.7\nRELATIVE"),
    }
    found = reward(tmp_path, edits)
    assert [(c.path, c.before, c.after) for c in found if c.kind is KIND.REWARD_CONSTANT] == [(COMPARE, "0.6", "0.7")]
    edits[COMPARE] = ("RELATIVE", "EXACT = 0.6\nRELATIVE")
    assert kinds(reward(tmp_path / "same", edits)) == {KIND.REWARD_TOP}


def test_a_constant_written_out_is_for_probes_to_judge(tmp_path):
    found = reward(
        tmp_path, {MAIN: (('PROMPT = "Judge the answer."\n', "LEAST = -0.2\n"), ("Score(-0.2", "Score(LEAST"))}
    )
    assert required(found) is Level.MAJOR
    assert required(change.settled() for change in found) is Level.PATCH


def test_data_is_read_where_code_looks_for_files(tmp_path):
    looking = {
        COMPARE: ("RELATIVE", "import pathlib\nALL = list(pathlib.Path(__file__).parent.glob('*.json'))\nRELATIVE")
    }
    (found,) = reward(tmp_path, {"reward/new.json": "{}"}, before=looking)
    assert (found.kind, found.level) == (KIND.REWARD_DATA, Level.MAJOR)


@pytest.mark.parametrize(
    "call",
    [
        "globals()['_re' + 'tired'](said)",
        "getattr(holder, said)(said)",
        "getattr(holder, '_retired')(said)",
        "eval(said)",
        "__import__('reward').reward",
    ],
)
def test_what_may_be_reached_by_a_name_made_at_run_time_counts_as_reached(call, tmp_path):
    before = {MAIN: ("    right = ", f"    {call}\n    right = ")}
    found = reward(tmp_path, {MAIN: ("text * 3", "text + text")}, before=before)
    assert kinds(found) == {KIND.REWARD_BODY}


def test_what_a_decorator_may_note_down_counts_as_reached(tmp_path):
    before = {
        MAIN: (("def _retired", "@_note\ndef _retired"), ("\nEXACT", "\nTABLE = []\n_note = TABLE.append\nEXACT"))
    }
    found = reward(tmp_path, {MAIN: ("text * 3", "text + text")}, before=before)
    assert kinds(found) == {KIND.REWARD_BODY}


def test_what_measure_finds_filled_in_by_a_loop_counts_for_it(tmp_path):
    before = (
        ("def _retired", "TABLE = []\nfor part in _retired('a'):\n    TABLE.append(part)\n\n\ndef _retired"),
        ("    return json.loads", "    TABLE[0](action)\n    return json.loads"),
    )
    found = reward(tmp_path, {MAIN: ("text * 3", "text + text")}, before={MAIN: before})
    assert kinds(found) == {KIND.MEASURE_BODY}


def test_special_methods_run_with_their_class(tmp_path):
    before = {COMPARE: ("return _share(", "return Text() == _share(")}
    assert kinds(reward(tmp_path, {COMPARE: ("return True", "return self is other")}, before=before)) == {
        KIND.REWARD_BODY
    }


def test_getattr_on_a_package_reaches_nothing_of_the_reward(tmp_path):
    before = {MAIN: ("    right = ", "    getattr(json, said)\n    right = ")}
    found = reward(tmp_path, {MAIN: ("text * 3", "text + text")}, before=before)
    assert kinds(found) == {KIND.REWARD_UNREACHED}


def test_measure_that_is_new_or_gone_and_what_it_reached(tmp_path):
    measure = REWARD[REWARD.index("def measure") : REWARD.index("def score")]
    gone = reward(tmp_path / "gone", {MAIN: (measure, "")})
    assert {KIND.REWARD_REMOVED, KIND.MEASURE_BODY} <= kinds(gone)
    come = reward(tmp_path / "come", {MAIN: ("def score", f"{measure}def score")}, before={MAIN: (measure, "")})
    assert {KIND.MEASURE_ADDED, KIND.MEASURE_BODY} <= kinds(come)
    assert required(change.settled() for change in (*gone, *come)) is Level.MAJOR


def test_an_entry_that_is_imported_from_another_file(tmp_path):
    score = "def score(task, transcript):\n    return 0.75\n\n\n"
    before = {MAIN: "from .compare import score\n", COMPARE: ("RELATIVE", f"{score}RELATIVE")}
    (found,) = reward(tmp_path, {COMPARE: ("0.75", "0.5")}, before=before)
    assert (found.kind, found.path, found.name) == (KIND.REWARD_NUMBER, COMPARE, "score")


def test_numbers_that_no_float_holds_are_compared_all_the_same(tmp_path):
    found = reward(tmp_path, {}, card={"reward/range": [10**400, 10**401]})
    assert kinds(found) == {KIND.REWARD_RANGE}
    assert required(found) is Level.MAJOR


def test_a_key_of_the_card_that_nobody_knows_is_major(tmp_path):
    old = shape(tmp_path, Component.REWARD, FILES)
    new = replace(old, card={**old.card, "reward/later": 1})
    (found,) = classify_reward(old, new)
    assert (found.kind, found.level, found.after) == (KIND.CARD_OTHER, Level.MAJOR, "1")


@pytest.mark.parametrize(
    "row",
    [
        ("reward/reward.py", "# runs and reads a table", "# runs", KIND.TEXT, PATCH, PATCH),
        ("reward/reward.py", "EXACT = 0.60", "EXACT = 0.55", KIND.REWARD_CONSTANT, MAJOR, MAJOR),
        ("reward/compare.py", "    if ordered:\n", "    if ordered is True:\n", KIND.REWARD_BODY, MAJOR, PATCH),
        ("README.md", "A language agent", "An agent", None, Level.NONE, Level.NONE),
    ],
)
def test_the_example(row, tmp_path):
    path, old, new, kind, level, settled = row
    root = tmp_path / "sql"
    for name in ("README.md", "reward"):
        source = ROOT / "examples" / "sql-analytics" / name
        root.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    before = shape_of(Component.REWARD, root, walk(root), read_card(root / "README.md").block)
    replace_in(root / path, old, new)
    after = shape_of(Component.REWARD, root, walk(root), read_card(root / "README.md").block)
    found = classify_reward(before, after, exact=[path])
    assert kinds(found) == ({kind} if kind else set())
    assert (required(found), required(change.settled() for change in found)) == (level, settled)


# Edits in different places, so that none takes another back.
APART = [
    {MAIN: ("import json\n", "import json  # said\n")},
    {MAIN: ("text * 3", "text * 4")},
    {MAIN: ('"right": 0.9', '"right": 0.8')},
    {MAIN: ('"form": 0.1', '"form": 0.1, "style": 0.0')},
    {MAIN: ("Judge the", "Judge this")},
    {MAIN: ("-0.2", "-0.3")},
    {MAIN: ("json.loads(action)", "json.loads(str(action))")},
    {MAIN: ("strict=True", "strict=False")},
    {COMPARE: ("limit=200", "limit=300")},
    {COMPARE: ("text.strip().lower()", "text.lower().strip()")},
    {COMPARE: ("_share(left", "_part(left")},
    {COMPARE: ("margin = 2", "margin = 3")},
    {LIMITS: ("style: 0.0", "style: 0.0\n  more: 0")},
    {LIMITS: ("org/judge", "org/other")},
    {"reward/new.json": "{}"},
    {"reward/notes.txt": None},
    {"reward/probes.jsonl": "{}\n"},
    {"card": {"reward/floor": 0.0}},
    {"card": {"reward/range": [-1.0, 2.0]}},
    {"card": {"reward/parts": ["form", "right", "x"]}},
]


def joined(several):
    edits, card = {}, {}
    for edit, (path, value) in itertools.chain.from_iterable(((e, item) for item in e.items()) for e in several):
        if path == "card":
            card |= value
        elif isinstance(value, tuple):
            edits[path] = (*edits.get(path, ()), value)
        else:
            edits[path] = value
        assert edit
    return edits, card


@pytest.mark.parametrize("seed", range(12))
def test_the_level_never_falls_when_an_edit_is_added(seed, tmp_path):
    order = random.Random(seed).sample(APART, 7)  # noqa: S311
    levels = []
    for count in range(len(order) + 1):
        edits, card = joined(order[:count])
        found = reward(tmp_path / str(count), edits, card=card)
        levels.append((required(found), required(change.settled() for change in found)))
    assert [level for level, _ in levels] == sorted(level for level, _ in levels)
    assert [settled for _, settled in levels] == sorted(settled for _, settled in levels)
