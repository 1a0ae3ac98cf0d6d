"""Changes of the code: its surface, its tools, what the agent sees, and every promise of the card."""

from __future__ import annotations

import itertools
import random

import pytest

from hfenv.components.changes.change import ChangeKind, required
from hfenv.components.changes.policy import load_policy
from hfenv.components.ownership import Component
from hfenv.components.versions import Level
from tests.components.editing import CODE, changes

KIND = ChangeKind
PATCH, MINOR, MAJOR = Level.PATCH, Level.MINOR, Level.MAJOR
MAIN, WORDS = "env/environment.py", "env/words.py"
PARSE = "def parse(self, completion, strict=True)"
JOIN = 'def _join(*texts):\n    return "".join(texts)\n'
TOOL = 'def buy(self, item: str, count: int = 1, colour: "str | None" = None)'


def code(tmp_path, edits, **options):
    return changes(tmp_path, Component.CODE, edits, **options)


def kinds(found):
    return {change.kind for change in found}


EDITS = {
    "a comment": ({MAIN: ("import hfenv\n", "import hfenv  # said\n")}, {KIND.TEXT}, PATCH),
    "a docstring": ({WORDS: ('    return "Please', '    """Said."""\n    return "Please')}, {KIND.TEXT}, PATCH),
    "a document": ({"env/README.md": "said\n"}, {KIND.DOCUMENT}, PATCH),
    "the body of execute": ({MAIN: ("output=action", "output=str(action)")}, {KIND.BODY}, PATCH),
    "execute that became async": ({MAIN: ("def execute", "async def execute")}, {KIND.BODY}, PATCH),
    "another name for what hfenv passes": (
        {MAIN: (("self, task, rng)", "self, row, random)"), ('task["question"]', 'row["question"]'))},
        {KIND.BODY},
        PATCH,
    ),
    "a helper's body": ({WORDS: ('"Please: "', '"Please, "')}, {KIND.BODY}, PATCH),
    "a private helper renamed": ({MAIN: ("_join", "_glue")}, {KIND.BODY, KIND.HELPER_MOVED}, PATCH),
    "a private helper moved": (
        {MAIN: ((JOIN, ""), ("ASK, polite", "ASK, _join, polite")), WORDS: ("def polite", f"{JOIN}\n\ndef polite")},
        {KIND.BODY, KIND.HELPER_MOVED}, PATCH,
    ),
    "a private helper called otherwise": ({WORDS: ("_unused(text)", "_unused(text, more)")}, {KIND.BODY}, PATCH),
    "a public helper called otherwise": ({WORDS: ("text, mark=", "text, sign, mark=")}, {KIND.HELPER_CHANGED}, MINOR),
    "a public helper with one more option": ({WORDS: ('mark="?"', 'mark="?", sign=""')}, {KIND.BODY}, PATCH),
    "a file with a public helper that is gone": ({WORDS: None}, {KIND.HELPER_CHANGED, KIND.BODY}, MINOR),
    "a file more": ({"env/more.py": "X = 1\n"}, {KIND.BODY}, PATCH),
    "a private constant": ({MAIN: ("_SHORTEST = 1", "_SHORTEST = 2")}, {KIND.BODY}, PATCH),
    "a helper's constant": ({WORDS: ("How much is", "What is")}, {KIND.BODY}, PATCH),
    "a public constant": ({MAIN: ("LONGEST = 100", "LONGEST = 90")}, {KIND.CONSTANT_CHANGED}, MINOR),
    "a constant of the class": ({MAIN: ('"EUR"', '"USD"')}, {KIND.CONSTANT_CHANGED}, MINOR),
    "a public constant less": ({MAIN: ("LONGEST = 100\n", "")}, {KIND.CONSTANT_CHANGED}, MINOR),
    "a public constant more": ({MAIN: ("LONGEST = 100\n", "LONGEST = 100\nWIDEST = 3\n")}, {KIND.BODY}, PATCH),
    "an import": ({MAIN: ("import hfenv\n", "import hfenv\nimport json\n")}, {KIND.BODY}, PATCH),
    "an annotation": ({MAIN: ("def describe(task,", "def describe(task: dict,")}, {KIND.TEXT}, PATCH),
    "data": ({"env/prices.json": '{"bread": 4}\n'}, {KIND.DATA}, PATCH),
    "data written otherwise": ({"env/prices.json": '{ "bread": 3 }'}, {KIND.TEXT}, PATCH),
    "the prompt": ({"env/prompt.md": ("Answer:", "Reply:")}, {KIND.PROMPT}, MAJOR),
    "no prompt": ({"env/prompt.md": None}, {KIND.PROMPT}, MAJOR),
    "a prompt by another name": ({"env/prompts/system_prompt.txt": "Be brief.\n"}, {KIND.PROMPT}, MAJOR),
    "a method less": ({MAIN: (f"    {PARSE}:\n        return completion\n\n", "")}, {KIND.SURFACE_REMOVED}, MAJOR),
    "a method renamed": ({MAIN: ("def parse", "def read")}, {KIND.SURFACE_REMOVED, KIND.SURFACE_ADDED}, MAJOR),
    "a method more": (
        {MAIN: (f"    {PARSE}", f"    def state(self):\n        return 1\n\n    {PARSE}")},
        {KIND.SURFACE_ADDED}, MINOR,
    ),
    "a function less": (
        {MAIN: ('def describe(task, style="plain", *, deep=False):\n    return task\n', "")},
        {KIND.SURFACE_REMOVED}, MAJOR,
    ),
    "a function more": ({MAIN: ("def _join", "def more():\n    return 1\n\n\ndef _join")}, {KIND.SURFACE_ADDED}, MINOR),
    "a method that became async": ({MAIN: ("def parse", "async def parse")}, {KIND.SURFACE_FORM, KIND.BODY}, MAJOR),
    "a property that became a method": ({MAIN: ("    @property\n", "")}, {KIND.SURFACE_FORM, KIND.BODY}, MAJOR),
    "other bases": ({MAIN: ("hfenv.ToolEnvironment", "hfenv.TaskEnvironment")}, {KIND.ENTRY_BASES, KIND.BODY}, MAJOR),
    "a new required parameter": (
        {MAIN: (PARSE, PARSE.replace("completion,", "completion, more,"))},
        {KIND.PARAMETER_REQUIRED, KIND.PARAMETER_NARROWED}, MAJOR,
    ),
    "a new option": ({MAIN: (PARSE, PARSE.replace("True", "True, more: int = 1"))}, {KIND.PARAMETER_ADDED}, MINOR),
    "a parameter less": ({MAIN: (PARSE, PARSE.replace(", strict=True", ""))}, {KIND.PARAMETER_REMOVED}, MAJOR),
    "a parameter that must be given": ({MAIN: (PARSE, PARSE.replace("=True", ""))}, {KIND.PARAMETER_REQUIRED}, MAJOR),
    "a parameter by name alone": (
        {MAIN: (PARSE, PARSE.replace("strict", "*, strict"))},
        {KIND.PARAMETER_NARROWED}, MAJOR,
    ),
    "a parameter by place alone": (
        {MAIN: (PARSE, PARSE.replace("completion,", "completion, /,"))},
        {KIND.PARAMETER_NARROWED}, MAJOR,
    ),
    "a parameter that may be left out": (
        {MAIN: (PARSE, PARSE.replace("completion,", "completion=None,"))},
        {KIND.PARAMETER_WIDENED}, MINOR,
    ),
    "a keyword that has a place": ({MAIN: ("*, deep", "deep")}, {KIND.PARAMETER_WIDENED}, MINOR),
    "what takes everything": ({MAIN: (PARSE, "def parse(self, *args, **kwargs)")}, {KIND.PARAMETER_ADDED}, MINOR),
    "a default": ({MAIN: (PARSE, PARSE.replace("True", "False"))}, {KIND.DEFAULT_CHANGED}, MAJOR),
    "a parameter of the constructor": (
        {MAIN: ("__init__(self)", "__init__(self, more)")},
        {KIND.PARAMETER_REQUIRED}, MAJOR,
    ),
    "a tool less": ({MAIN: ("    @hfenv.tool\n", "")}, {KIND.TOOL_REMOVED, KIND.BODY}, MAJOR),
    "a tool renamed": (
        {MAIN: ("def buy", "def purchase")},
        {KIND.TOOL_REMOVED, KIND.TOOL_ADDED, KIND.SURFACE_REMOVED, KIND.SURFACE_ADDED}, MAJOR,
    ),
    "a tool more": (
        {MAIN: ("    @hfenv", "    @hfenv.tool\n    def sell(self, item: str):\n        return item\n\n    @hfenv")},
        {KIND.TOOL_ADDED, KIND.SURFACE_ADDED},
        MINOR,
    ),
    "a tool's docstring": ({MAIN: ("Buy an item.", "Buy one item.")}, {KIND.TOOL_TEXT, KIND.BODY}, MAJOR),
    "a tool's docstring laid out otherwise": (
        {MAIN: ('"""Buy an item."""', '"""\n        Buy an item.\n        """')},
        {KIND.TEXT}, PATCH,
    ),
    "a tool's parameter less": ({MAIN: (TOOL, TOOL.replace(", count: int = 1", ""))}, {KIND.TOOL_NARROWED}, MAJOR),
    "a tool's parameter more": (
        {MAIN: (TOOL, TOOL.replace("item: str,", "item: str, shop: str,"))},
        {KIND.TOOL_NARROWED}, MAJOR,
    ),
    "a tool's option more": (
        {MAIN: (TOOL, TOOL.replace("self, item: str,", "self, item: str, shop: str = '',"))},
        {KIND.TOOL_WIDENED}, MINOR,
    ),
    "a tool's parameter of another type": (
        {MAIN: (TOOL, TOOL.replace("item: str", "item: int"))},
        {KIND.TOOL_NARROWED}, MAJOR,
    ),
    "a tool's parameter of more types": (
        {MAIN: (TOOL, TOOL.replace("item: str", "item: str | int"))},
        {KIND.TOOL_WIDENED}, MINOR,
    ),
    "a tool's parameter of a wider type": (
        {MAIN: (TOOL, TOOL.replace("count: int", "count: float"))},
        {KIND.TOOL_WIDENED}, MINOR,
    ),
    "a tool's parameter of fewer types": (
        {MAIN: (TOOL, TOOL.replace('"str | None"', "str"))},
        {KIND.TOOL_NARROWED}, MAJOR,
    ),
    "the same types otherwise": ({MAIN: (TOOL, TOOL.replace('"str | None"', "None | str"))}, {KIND.TEXT}, PATCH),
    "a tool's default": ({MAIN: (TOOL, TOOL.replace("count: int = 1", "count: int = 2"))}, {KIND.TOOL_DEFAULT}, MAJOR),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_edits_of_the_code(name, tmp_path):
    edits, expected, level = EDITS[name]
    found = code(tmp_path, edits)
    assert kinds(found) == expected
    assert required(found) is level
    assert all(change.unless_probes is None for change in found)


def schema(**properties):
    return {"type": "json", "schema": {"type": "object", "properties": properties}}


BOX = {"type": "box", "low": [0.0, 0.0], "high": 1.0, "shape": [2]}
PARTS = {"type": "multimodal", "parts": {"text": {"type": "text"}, "view": {"type": "image", "shape": [8, 8, 3]}}}
CARDS = [
    # what the agent sends
    ("action", {"type": "text"}, {"type": "sql"}, {KIND.ACTION_CHANGED}, MAJOR),
    ("action", {"type": "text"}, {"type": "text", "extract": "fenced"}, {KIND.ACTION_CHANGED}, MAJOR),
    ("action", {"type": "text"}, {"type": "text", "extract": "raw"}, {KIND.TEXT}, PATCH),
    ("action", {"type": "text"}, {"type": "text", "max_length": 9}, {KIND.ACTION_NARROWED}, MAJOR),
    ("action", {"type": "text", "max_length": 9}, {"type": "text", "max_length": 10}, {KIND.ACTION_WIDENED}, MINOR),
    ("action", {"type": "discrete", "n": 4}, {"type": "discrete", "n": 3}, {KIND.ACTION_NARROWED}, MAJOR),
    ("action", {"type": "discrete", "n": 4}, {"type": "discrete", "n": 5}, {KIND.ACTION_WIDENED}, MINOR),
    ("action", {"type": "discrete", "n": 4}, {"type": "discrete", "n": 4, "start": 1}, {KIND.ACTION_CHANGED}, MAJOR),
    ("action", {"type": "discrete", "n": 4}, {"type": "discrete", "n": 4, "start": 0}, {KIND.TEXT}, PATCH),
    ("action", BOX, {**BOX, "high": 0.5}, {KIND.ACTION_NARROWED}, MAJOR),
    ("action", BOX, {**BOX, "low": [0.0, 0.5]}, {KIND.ACTION_NARROWED}, MAJOR),
    ("action", BOX, {**BOX, "low": [-1.0, 0.0]}, {KIND.ACTION_WIDENED}, MINOR),
    ("action", BOX, {**BOX, "low": [-1.0, 0.5]}, {KIND.ACTION_CHANGED}, MAJOR),
    ("action", BOX, {**BOX, "low": 0.0}, {KIND.TEXT}, PATCH),
    ("action", BOX, {**BOX, "high": None}, {KIND.ACTION_WIDENED}, MINOR),
    ("action", BOX, {**BOX, "low": [0.0], "shape": [1]}, {KIND.ACTION_CHANGED}, MAJOR),
    ("action", schema(a={"type": "string"}), schema(a={"type": "integer"}), {KIND.ACTION_CHANGED}, MAJOR),
    ("action", schema(a={"type": "integer"}), schema(a={"type": "number"}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"type": "number"}), schema(a={"type": "integer"}), {KIND.ACTION_NARROWED}, MAJOR),
    ("action", schema(a={"enum": [1, 2]}), schema(a={"enum": [1]}), {KIND.ACTION_NARROWED}, MAJOR),
    ("action", schema(a={"enum": [1]}), schema(a={"enum": [1, 2]}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"const": 1}), schema(a={"const": 2}), {KIND.ACTION_CHANGED}, MAJOR),
    ("action", schema(a={}), schema(), {KIND.ACTION_NARROWED}, MAJOR),
    ("action", schema(), schema(a={}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"minimum": 1}), schema(a={"minimum": 2}), {KIND.ACTION_NARROWED}, MAJOR),
    ("action", schema(a={"maxLength": 1}), schema(a={"maxLength": 2}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"pattern": "a"}), schema(a={}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"pattern": "a"}), schema(a={"pattern": "b"}), {KIND.ACTION_CHANGED}, MAJOR),
    ("action", schema(a={"items": {"type": "string"}}), schema(a={}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"anyOf": [{}]}), schema(a={"anyOf": [{}, {"type": "null"}]}), {KIND.ACTION_WIDENED}, MINOR),
    ("action", schema(a={"oneOf": [{}]}), schema(a={"oneOf": [{}, {"type": "null"}]}), {KIND.ACTION_CHANGED}, MAJOR),
    ("action", schema(a={"title": "x"}), schema(a={"title": "y"}), {KIND.TEXT}, PATCH),
    ("action", PARTS, {**PARTS, "parts": {"text": {"type": "text"}}}, {KIND.ACTION_NARROWED}, MAJOR),
    ("action", PARTS, {**PARTS, "parts": {**PARTS["parts"], "x": {"type": "text"}}}, {KIND.ACTION_NARROWED}, MAJOR),
    # what it sees
    ("observation", {"type": "text"}, {"type": "messages"}, {KIND.OBSERVATION_CHANGED}, MAJOR),
    ("observation", schema(a={}), schema(), {KIND.OBSERVATION_NARROWED}, MAJOR),
    ("observation", schema(), schema(a={}), {KIND.OBSERVATION_WIDENED}, MINOR),
    ("observation", {"type": "discrete", "n": 4}, {"type": "discrete", "n": 5}, {KIND.OBSERVATION_RESIZED}, MAJOR),
    ("observation", BOX, {**BOX, "shape": [3], "low": 0.0}, {KIND.OBSERVATION_RESIZED}, MAJOR),
    ("observation", BOX, {**BOX, "high": 2.0}, {KIND.OBSERVATION_WIDENED}, MINOR),
    (
        "observation", PARTS, {**PARTS, "parts": {**PARTS["parts"], "x": {"type": "text"}}},
        {KIND.OBSERVATION_WIDENED}, MINOR,
    ),
    ("observation", PARTS, {**PARTS, "parts": {"text": {"type": "text"}}}, {KIND.OBSERVATION_NARROWED}, MAJOR),
    # limits
    ("limits", None, {"step_timeout_s": 5}, {KIND.STEP_TIMEOUT_LOWERED}, MAJOR),
    ("limits", {"step_timeout_s": 5}, {"step_timeout_s": 6}, {KIND.STEP_TIMEOUT_RAISED}, MINOR),
    ("limits", {"step_timeout_s": 5}, {"step_timeout_s": 5.0}, {KIND.TEXT}, PATCH),
    ("limits", {"max_steps": 5}, {"max_steps": 4}, {KIND.MAX_STEPS_LOWERED}, MAJOR),
    ("limits", {"max_steps": 5}, None, {KIND.MAX_STEPS_RAISED}, MAJOR),
    ("limits", {"memory_mb": 5}, {"memory_mb": 6}, {KIND.MEMORY_RAISED}, MINOR),
    ("limits", {"memory_mb": 5}, {"memory_mb": 4}, {KIND.MEMORY_LOWERED}, PATCH),
    ("limits", {"later": 5}, {"later": 4}, {KIND.CARD_OTHER}, MAJOR),
    # requirements
    ("requires", {"packages": ["a>=1"]}, {"packages": ["a>=2", "b"]}, {KIND.PACKAGES}, PATCH),
    ("requires", {"packages": ["a", "b"]}, {"packages": ["b", "a"]}, {KIND.TEXT}, PATCH),
    ("requires", {"python": ">=3.10"}, {"python": ">=3.11"}, {KIND.PYTHON_NARROWED}, MAJOR),
    ("requires", {"python": ">=3.10"}, {"python": ">=3.10,!=3.11.4"}, {KIND.PYTHON_NARROWED}, MAJOR),
    ("requires", {"python": ">=3.11"}, {"python": ">=3.10"}, {KIND.PYTHON_WIDENED}, PATCH),
    ("requires", {"python": ">=3.11"}, {"python": "new ones"}, {KIND.PYTHON_NARROWED}, MAJOR),
    ("requires", {}, {"system": ["git"]}, {KIND.SYSTEM_ADDED}, MINOR),
    ("requires", {"system": ["git"]}, None, {KIND.SYSTEM_REMOVED}, PATCH),
    ("requires", {}, {"secrets": ["KEY"]}, {KIND.SECRET_ADDED}, MAJOR),
    ("requires", {"secrets": ["KEY"]}, {}, {KIND.SECRET_REMOVED}, PATCH),
    ("requires", {"network": "none"}, {"network": ["a.org"]}, {KIND.NETWORK_RAISED}, MAJOR),
    ("requires", {"network": "full"}, {"network": ["a.org"]}, {KIND.NETWORK_LOWERED}, PATCH),
    ("requires", {"network": ["a.org"]}, {"network": ["b.org"]}, {KIND.NETWORK_RAISED, KIND.NETWORK_LOWERED}, MAJOR),
    # configuration
    ("config", None, {"level": {"type": "integer", "default": 1}}, {KIND.CONFIG_WIDENED}, MINOR),
    ("config", {"level": {"default": 1}}, {"level": {"default": 2}}, {KIND.CONFIG_DEFAULT}, MAJOR),
    ("config", {"level": {"default": 1}}, None, {KIND.CONFIG_NARROWED}, MAJOR),
    ("config", {"level": {"maximum": 3}}, {"level": {"maximum": 2}}, {KIND.CONFIG_NARROWED}, MAJOR),
    ("config", {"level": {"if": {}}}, {"level": {"if": {"const": 1}}}, {KIND.CONFIG_CHANGED}, MAJOR),
    (
        "config", {"properties": {"a": {}}}, {"properties": {"a": {}, "b": {}}, "required": ["b"]},
        {KIND.CONFIG_NARROWED}, MAJOR,
    ),
    (
        "config", {"properties": {"a": {}}}, {"properties": {"a": {}, "b": {"default": 1}}, "required": ["b"]},
        {KIND.CONFIG_WIDENED}, MINOR,
    ),
    (
        "config", {"a": {"default": 1}}, {"properties": {"a": {"default": 1}}, "additionalProperties": False},
        {KIND.TEXT}, PATCH,
    ),
    ("config", {"properties": {"a": {}}, "additionalProperties": True}, {"a": {}}, {KIND.CONFIG_NARROWED}, MAJOR),
    # services and promises
    ("services", None, [{"name": "judge", "protocol": "x"}], {KIND.SERVICE_ADDED}, MAJOR),
    ("services", [{"name": "judge", "protocol": "x"}], None, {KIND.SERVICE_REMOVED}, MAJOR),
    ("services", [{"name": "j", "model": "a"}], [{"name": "j", "model": "b"}], {KIND.SERVICE_CHANGED}, MAJOR),
    ("sandbox", {"image": "a"}, {"image": "b"}, {KIND.SANDBOX_IMAGE}, MINOR),
    ("sandbox", {"network": "full"}, {"network": "none"}, {KIND.SANDBOX_NARROWED}, MAJOR),
    ("sandbox", None, {"network": "full"}, {KIND.SANDBOX_WIDENED}, MINOR),
    ("determinism", None, "stochastic", {KIND.DETERMINISM_LOST}, MAJOR),
    ("determinism", "stochastic", "seeded", {KIND.DETERMINISM_GAINED}, MINOR),
    ("determinism", None, "seeded", {KIND.TEXT}, PATCH),
    ("volatile_info", None, ["a"], {KIND.VOLATILE_ADDED}, MINOR),
    ("volatile_info", ["a", "b"], ["a"], {KIND.VOLATILE_REMOVED}, PATCH),
]  # fmt: skip


@pytest.mark.parametrize("row", CARDS, ids=lambda row: f"{row[0]}: {row[1]} -> {row[2]}"[:60])
def test_changes_of_the_card(row, tmp_path):
    key, before, after, expected, level = row
    found = code(tmp_path, {}, old_card={key: before}, card={key: after})
    assert kinds(found) == expected
    assert required(found) is level
    assert {change.path for change in found} == {"README.md"}
    assert all(change.name.startswith(key) for change in found)


def test_every_kind_of_change_of_code_is_met_by_a_test():
    met = set().union(*(row[1] for row in EDITS.values()), *(row[3] for row in CARDS))
    elsewhere = {KIND.ENTRY_REMOVED, KIND.ENTRY_MOVED, KIND.SPACE_CHANGED, KIND.BUILTIN_BODY, KIND.UNKNOWN}
    assert met | elsewhere == {kind for component, kind in load_policy().rules if component is Component.CODE}


@pytest.mark.parametrize("component", ["action", "observation"])
def test_what_describes_a_space_is_no_part_of_it(component, tmp_path):
    card = {component: {"type": "text", "description": "said"}}
    assert code(tmp_path, {}, card=card) == ()


def test_an_entry_may_move_and_be_renamed(tmp_path):
    found = code(tmp_path / "1", {MAIN: ("class Shop(", "class Market(")}, card={"code/entry": f"{MAIN}:Market"})
    assert KIND.ENTRY_MOVED in kinds(found)
    assert required(found) is PATCH
    found = code(tmp_path / "2", {MAIN: None, "env/market.py": CODE}, card={"code/entry": "env/market.py:Shop"})
    assert KIND.ENTRY_MOVED in kinds(found)
    assert required(found) is PATCH


def test_an_entry_that_moved_has_to_keep_its_surface(tmp_path):
    edits = {MAIN: (("class Shop(", "class Market("), (PARSE, "def parse(self, completion)"))}
    assert KIND.PARAMETER_REMOVED in kinds(code(tmp_path, edits, card={"code/entry": f"{MAIN}:Market"}))


def test_an_entry_that_is_gone(tmp_path):
    found = code(tmp_path, {MAIN: ("class Shop(", "class Market(")})
    assert KIND.ENTRY_REMOVED in kinds(found)
    assert required(found) is MAJOR


def test_methods_may_move_into_a_base_class_of_the_environment(tmp_path):
    parse = "    def parse(self, completion, strict=True):\n        return completion\n"
    base = f"import hfenv\n\n\nclass Base(hfenv.ToolEnvironment):\n{parse}"
    edits = {
        MAIN: (
            (f"{parse}\n", ""),
            ("class Shop(hfenv.ToolEnvironment)", "class Shop(Base)"),
            ("import hfenv\n", "import hfenv\nfrom .base import Base\n"),
        ),
        "env/base.py": base,
    }  # fmt: skip
    assert required(code(tmp_path / "1", edits)) is PATCH
    edits["env/base.py"] = base.replace("strict=True", "strict=False")
    found = code(tmp_path / "2", edits)
    assert [(c.path, c.kind) for c in found if c.level is MAJOR] == [("env/base.py", KIND.DEFAULT_CHANGED)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('    currency = "EUR"\n', '    currency = "EUR"\n    action_space = Discrete(4)\n'),
        (
            "        self._seen = []\n",
            "        self._seen = []\n        self.observation_space = Box(0, 1, shape=(2,))\n",
        ),
    ],
)
def test_spaces_that_code_makes_are_major(before, after, tmp_path):
    found = code(tmp_path, {MAIN: (before, after)})
    assert KIND.SPACE_CHANGED in kinds(found)
    assert required(found) is MAJOR


def test_an_environment_that_computes_its_reward_can_change_it_by_any_edit(tmp_path):
    builtin = {"reward": {"builtin": True, "range": [0.0, 1.0]}}
    found = code(tmp_path / "1", {WORDS: ('"Please: "', '"Please, "')}, old_card=builtin)
    assert [(change.kind, change.level) for change in found] == [(KIND.BUILTIN_BODY, MAJOR)]
    found = code(tmp_path / "2", {WORDS: ("def polite", "# said\ndef polite")}, old_card=builtin)
    assert [(change.kind, change.level) for change in found] == [(KIND.TEXT, PATCH)]


def test_a_change_says_where_it_stands(tmp_path):
    found = code(tmp_path, {MAIN: (PARSE, PARSE.replace("True", "False"))})
    (change,) = found
    assert (change.path, change.line, change.name) == (MAIN, 25, "Shop.parse")
    assert (change.before, change.after) == ("True", "False")
    assert change.message == "Shop.parse: parameter strict has another default: True -> False"


APART = [
    {MAIN: ("output=action", "output=str(action)")},
    {MAIN: (PARSE, PARSE.replace("True", "False"))},
    {MAIN: ("_SHORTEST = 1", "_SHORTEST = 2")},
    {MAIN: ("LONGEST = 100", "LONGEST = 90")},
    {MAIN: ("Buy an item.", "Buy one item.")},
    {MAIN: ("count: int = 1", "count: float = 1")},
    {MAIN: ("def _join", "def more():\n    return 1\n\n\ndef _join")},
    {MAIN: ("*, deep", "deep")},
    {WORDS: ("_unused(text)", "_unused(text, more)")},
    {WORDS: ('"Please: "', '"Please, "')},
    {"env/prompt.md": ("Answer:", "Reply:")},
    {"env/prices.json": '{"bread": 4}\n'},
    {"env/more.py": "X = 1\n"},
    {"card": {"limits": {"max_steps": 3}}},
    {"card": {"action": {"type": "text", "max_length": 9}}},
    {"card": {"requires": {"packages": ["a"]}}},
    {"card": {"config": {"level": {"default": 1}}}},
]


@pytest.mark.parametrize("seed", range(12))
def test_the_level_never_falls_when_an_edit_is_added(seed, tmp_path):
    order = random.Random(seed).sample(APART, 7)  # noqa: S311
    levels = []
    for count in range(len(order) + 1):
        edits, card = {}, {}
        for path, value in itertools.chain.from_iterable(edit.items() for edit in order[:count]):
            if path == "card":
                card |= value
            else:
                edits[path] = (*edits.get(path, ()), value) if isinstance(value, tuple) else value
        levels.append(required(code(tmp_path / str(count), edits, card=card)))
    assert levels == sorted(levels)
