"""Rules about the schema and the sections of a card: 1xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING


def _code(version: str, entry: str) -> Example:
    return Example(f'environment:\n  code: {{version: "{version}", entry: "{entry}"}}\n')


def _fields(fields: str) -> Example:
    splits = "{train: tasks/train.jsonl, test: tasks/test.jsonl}"
    return Example(f'environment:\n  tasks:\n    version: "1.0.0"\n    splits: {splits}\n    fields: {fields}\n')


def _reward(rest: str) -> Example:
    return Example(f'environment:\n  reward: {{version: "1.0.0", entry: "reward/reward.py:score", {rest}}}\n')


RULES = (
    Rule(
        "HFE101",
        ERROR,
        Group.SCHEMA,
        "Required fields are there.",
        "Without them nobody can run the environment: where its code and reward are, which tasks it has, what "
        "goes in and comes out. `hfenv init` writes all of them, each with a comment.",
        bad=Example("environment:\n  action: {description: the sum}\n"),
        good=Example("environment:\n  action: {type: text, description: the sum}\n"),
    ),
    Rule(
        "HFE102",
        ERROR,
        Group.SCHEMA,
        "A value has the type that its field wants.",
        "Text, a number, a list or a mapping: a text `5` can't be counted with, and a single word is no list. "
        "Quotes make a text of anything, so leave them out around numbers.",
        bad=Example('environment:\n  limits: {max_steps: "1"}\n'),
        good=Example("environment:\n  limits: {max_steps: 1}\n"),
        fixable=True,
    ),
    Rule(
        "HFE103",
        ERROR,
        Group.SCHEMA,
        "A value is one of those that its field allows.",
        "What hfenv does goes by it, so that a word it doesn't know would mean nothing. The finding lists the "
        "words; letter case counts.",
        bad=Example("environment:\n  determinism: Seeded\n"),
        good=Example("environment:\n  determinism: seeded\n"),
        fixable=True,
    ),
    Rule(
        "HFE104",
        ERROR,
        Group.SCHEMA,
        "Every key under `environment` is known.",
        "An unknown key does nothing, and its author believes it does. The finding names the key that was "
        "probably meant and where it belongs. Notes of your own can stand in comments, in the text below the "
        "header, or at the top of the header.",
        bad=Example("environment:\n  limits: {maxSteps: 1}\n"),
        good=Example("environment:\n  limits: {max_steps: 1}\n"),
        fixable=True,
    ),
    Rule(
        "HFE105",
        ERROR,
        Group.SCHEMA,
        "Paths, entries, hashes and names have their form.",
        "Paths are relative, inside the environment and with forward slashes, so that they mean the same on every"
        " system; an entry is a Python file and a name in it; a hash is written out. The finding shows an "
        "example.",
        bad=_code("1.0.0", "env.environment:Adding"),
        good=_code("1.0.0", "env/environment.py:Adding"),
        fixable=True,
    ),
    Rule(
        "HFE106",
        ERROR,
        Group.SCHEMA,
        "Versions are semantic versions.",
        "Three numbers, such as 1.0.0, perhaps with a pre-release such as 2.0.0-rc.1. What comes behind a plus "
        "sign doesn't count when versions are compared, so two releases would be the same one. In quotes, or 1.10"
        " becomes 1.1.",
        bad=_code("v1.0", "env/environment.py:Adding"),
        good=_code("1.0.0", "env/environment.py:Adding"),
        fixable=True,
    ),
    Rule(
        "HFE107",
        ERROR,
        Group.SCHEMA,
        "Numbers, lists and texts have a size that makes sense.",
        "An empty summary says nothing, and no step of an episode fits into zero steps. The finding says the bound.",
        bad=Example("environment:\n  limits: {max_steps: 0}\n"),
        good=Example("environment:\n  limits: {max_steps: 1}\n"),
    ),
    Rule(
        "HFE108",
        ERROR,
        Group.SCHEMA,
        "Fields that exclude or need each other are used so.",
        "A resource lies in the environment (path) or elsewhere (uri, with sha256 and size, or nobody could check"
        " what was fetched); bounds belong to a box, a number of values to a discrete space.",
        bad=Example("environment:\n  observation: {type: text, low: 0, high: 1, shape: [4]}\n"),
        good=Example("environment:\n  observation: {type: box, low: 0, high: 1, shape: [4]}\n"),
    ),
    Rule(
        "HFE109",
        ERROR,
        Group.SCHEMA,
        "Numbers are finite.",
        "JSON has no infinity and no not-a-number, so that records and rollouts couldn't hold them, and no mean "
        "could be taken. For a box without a bound write null.",
        bad=Example("environment:\n  limits: {step_timeout_s: .inf}\n"),
        good=Example("environment:\n  limits: {step_timeout_s: 3600}\n"),
    ),
    Rule(
        "HFE110",
        ERROR,
        Group.SECTIONS,
        "The required sections are there.",
        "Overview, Installation, Interface, Usage, Tasks, Reward, Benchmarks and Limitations are what a reader "
        "looks for before training on an environment: headings of level 2, in English or Chinese (概述, 安装, 接口, "
        "用法, 任务集, 奖励, 基准, 限制), numbered or decorated as you like.",
        bad=Example("# Limitations\nIt is tiny.\n"),
        good=Example("## Limitations\nIt is tiny.\n"),
        fixable=True,
    ),
    Rule(
        "HFE111",
        WARNING,
        Group.SECTIONS,
        "Every required section has content.",
        "An empty section tells a reader nothing. One sentence is enough, and `None.` is an answer too.",
        bad=Example("## Limitations\n"),
        good=Example("## Limitations\nIt is tiny.\n"),
    ),
    Rule(
        "HFE113",
        ERROR,
        Group.SCHEMA,
        "The reward's range has a lower and a higher end.",
        "Scores are compared as a share of the range, which divides by the difference of its ends. Write the "
        "lowest return of an episode first.",
        bad=_reward("range: [1.0, -1.0]"),
        good=_reward("range: [-1.0, 1.0]"),
    ),
    Rule(
        "HFE114",
        ERROR,
        Group.SCHEMA,
        "The reward's floor lies in the range, below its upper end.",
        "The floor is what doing nothing useful earns, and the share of the range starts there; by default it is "
        "the larger of 0 and the lower end. Where a range ends at 0 or below, name the floor.",
        bad=_reward("range: [-1.0, 1.0], floor: 2"),
        good=_reward("range: [-1.0, 1.0], floor: -1"),
    ),
    Rule(
        "HFE115",
        WARNING,
        Group.SCHEMA,
        "Some field has the role input.",
        "A field without a role is never shown, so that an agent could only guess. Give the question, the prompt "
        "or the start state the role input.",
        bad=_fields("{question: meta, answer: target, difficulty: meta}"),
        good=_fields("{question: input, answer: target, difficulty: meta}"),
    ),
    Rule(
        "HFE116",
        ERROR,
        Group.SCHEMA,
        "Names of resources and services are unique.",
        "Code and tasks refer to them by name, and the second one of a name would never be found.",
        bad=Example(
            "environment:\n  services: [{name: judge, protocol: openai-chat}, {name: judge, protocol: http}]\n"
        ),
        good=Example(
            "environment:\n  services: [{name: judge, protocol: openai-chat}, {name: search, protocol: http}]\n"
        ),
    ),
    Rule(
        "HFE117",
        ERROR,
        Group.SCHEMA,
        "`config` is a JSON Schema, and its defaults keep to it; `schema` of an action or observation is one too.",
        "`load` checks a caller's configuration against it and fills in the defaults. Write a schema of an "
        "object, or just its properties, with a default for each. What agents see of `action.schema` is taken from "
        "there as it is.",
        bad=Example("environment:\n  config: {rows: 10}\n"),
        good=Example("environment:\n  config: {rows: {type: integer, default: 10, minimum: 1}}\n"),
    ),
    Rule(
        "HFE118",
        ERROR,
        Group.SCHEMA,
        "Box bounds and shape fit together.",
        "low and high are numbers for all entries, or lists in the shape of the box, each low below its high; "
        "null is no bound.",
        bad=Example("environment:\n  observation: {type: box, low: [0, 0], high: [1, 1, 1]}\n"),
        good=Example("environment:\n  observation: {type: box, low: [0, 0], high: [1, 1]}\n"),
    ),
    Rule(
        "HFE119",
        WARNING,
        Group.SCHEMA,
        "No key at the top of the header is nearly a known one.",
        "The Hub ignores keys that it doesn't know, without a word: with `licence`, the environment has none. "
        "Keys of your own are fine as long as they aren't taken for a misspelling, or for a field that belongs "
        "under `environment`.",
        bad=Example("pretty-name: Adding\n"),
        good=Example("pretty_name: Adding\n"),
        fixable=True,
    ),
)
