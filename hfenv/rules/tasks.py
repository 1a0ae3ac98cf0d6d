"""Rules about task files: 3xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR, WARNING = Severity.ERROR, Severity.WARNING
_TEST, _TRAIN, _SAMPLE = "tasks/test.jsonl", "tasks/train.jsonl", "tasks/sample/train.jsonl"


def _task(**changed: str) -> str:
    """A task as one line of JSON; the values given are JSON, and "" leaves a field out."""
    values = {"id": '"test-1"', "question": '"40 + 2?"', "answer": '"42"', "difficulty": '"easy"', **changed}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in values.items() if value) + "}\n"


def _card(fields: str, *more: str) -> Example:
    """A card whose tasks have these fields, and more entries."""
    lines = ['version: "1.0.0"', "splits: {train: tasks/train.jsonl, test: tasks/test.jsonl}", *more]
    return Example("environment:\n  tasks:\n" + "".join(f"    {line}\n" for line in [*lines, f"fields: {{{fields}}}"]))


def _example(*tasks: str, path: str = _TEST) -> Example:
    return Example("".join(tasks), path)


def _generated(seeds: str) -> Example:
    """A card whose tasks are made by a generator."""
    lines = ['version: "1.0.0"', 'generator: "tasks/generate.py:generate"', f"seeds: {seeds}"]
    lines += [f"splits: {{train: {_SAMPLE}, test: tasks/sample/test.jsonl}}", f"fields: {{{_FIELDS}}}"]
    return Example("environment:\n  tasks:\n" + "".join(f"    {line}\n" for line in lines))


_GOOD = _example(_task())
_FIELDS = "question: input, answer: target, difficulty: meta"
_SOURCES = 'sources: ["https://example.org/sums"]'
_SECOND = {"id": '"test-2"', "question": '"41 + 2?"', "answer": '"43"'}

RULES = (
    Rule(
        "HFE301",
        ERROR,
        Group.TASKS,
        "Task files can be read.",
        "A task file holds one JSON object per line in UTF-8, or is Parquet with text, numbers, true, false, lists and"
        " maps. Reading goes on after a line that can't be read, so that one run shows all of them.",
        bad=_example(_task(), '{"id": "test-2", "question": \n'),
        good=_GOOD,
    ),
    Rule(
        "HFE302",
        ERROR,
        Group.TASKS,
        "Every task has an `id`, a text that isn't empty.",
        "Results, recorded rollouts and comparisons between releases are keyed by it.",
        bad=_example(_task(id="7")),
        good=_example(_task(id='"test-7"')),
    ),
    Rule(
        "HFE303",
        ERROR,
        Group.TASKS,
        "Task ids are unique over all splits.",
        "Two tasks with one id can't be told apart in any result.",
        bad=_example(_task(), _task(question='"41 + 2?"', answer='"43"')),
        good=_example(_task(), _task(**_SECOND)),
    ),
    Rule(
        "HFE304",
        ERROR,
        Group.TASKS,
        "Every task has the declared fields, each of one type.",
        "The environment and the reward rely on them. Where a task has no value, write null; whole and other numbers "
        "count as one type.",
        bad=_example(_task(answer="")),
        good=_example(_task(answer='"42"')),
    ),
    Rule(
        "HFE305",
        ERROR,
        Group.TASKS,
        "No split is empty.",
        "There would be nothing to load.",
        bad=_example("\n"),
        good=_GOOD,
    ),
    Rule(
        "HFE306",
        ERROR,
        Group.TASKS,
        "Resource fields name an entry of `resources`.",
        "A task's file is found by its name on the card, so that a task that names another one can't be run.",
        bad=_card("question: input, answer: target, difficulty: resource"),
        good=_card(_FIELDS),
    ),
    Rule(
        "HFE307",
        WARNING,
        Group.TASKS,
        "Every field of the tasks has a role on the card.",
        "A field without a role is a target, which no policy is shown: an input whose role was forgotten leaves the "
        "agent without it. Only `id` and a field named `canary` need no role.",
        bad=_card("question: input, answer: target"),
        good=_card(_FIELDS),
    ),
    Rule(
        "HFE308",
        WARNING,
        Group.TASKS,
        "Counts by grade and the size category on the card are those of the tasks.",
        "Readers choose by them. hfenv writes both at a push, from the meta field `difficulty`, `grade`, `level`, "
        "`难度` or `等级`; a card that names none is fine.",
        bad=Example("size_categories: [10K<n<100K]\n"),
        good=Example("size_categories: [n<1K]\n"),
        fixable=True,
    ),
    Rule(
        "HFE309",
        WARNING,
        Group.TASKS,
        "No two tasks of a kind have the same text.",
        "A question that stands twice counts twice in every average, and with two targets nobody can answer it right. "
        "Compared are the fields with the roles input and resource, without regard to case and whitespace. Where more "
        "than half of the tasks share their text with another one (one instruction for all of them), the targets have "
        "to be the same too.",
        bad=_example(_task(), _task(**{**_SECOND, "question": '"40 +  2?"'})),
        good=_example(_task(), _task(**_SECOND)),
    ),
    Rule(
        "HFE310",
        ERROR,
        Group.TASKS,
        "No evaluation task stands in the training split.",
        "A model that trained on a question of the evaluation is measured by what it remembers. An evaluation split is"
        " any whose name doesn't start with train; texts are compared as in HFE309.",
        bad=_example(_task(question='"0 + 7?"', answer='"7"')),
        good=_GOOD,
    ),
    Rule(
        "HFE311",
        WARNING,
        Group.TASKS,
        "No input gives its target away word for word.",
        "An agent could copy the answer out of the question. A target of a few words counts only right after words "
        "such as 'the answer is', or where an input field is nothing else in nearly all tasks; options of a multiple "
        "choice, labels and fields that are named for what is read (context, document, choices and the like) don't "
        "count. Where answers are meant to be found in the input, "
        "ignore the rule on the card: `# hfenv: ignore[HFE311] answers are spans of the text`.",
        bad=_example(_task(question='"40 + 2? The answer is 42."')),
        good=_GOOD,
    ),
    Rule(
        "HFE312",
        ERROR,
        Group.TASKS,
        "Numbers are finite.",
        "NaN and Infinity are no JSON, and numbers beyond 1.8e308 become Infinity: many readers refuse the file. Write"
        " null where there is no number.",
        bad=_example(_task(difficulty="NaN")),
        good=_example(_task(difficulty="null")),
    ),
    Rule(
        "HFE313",
        WARNING,
        Group.TASKS,
        "Whole numbers fit into 64 bits.",
        "`load_dataset` makes a float of a larger one, which loses its last digits. Store it as text.",
        bad=_example(_task(difficulty="18446744073709551616")),
        good=_example(_task(difficulty='"18446744073709551616"')),
    ),
    Rule(
        "HFE314",
        ERROR,
        Group.TASKS,
        "Texts hold whole characters.",
        "Half of a surrogate pair, such as \\ud83d alone, is no character: it can't be written as UTF-8, so that a "
        "prompt with it can't be sent, and `load_dataset` fails.",
        bad=_example(_task(question='"40 + 2 \\ud83d?"')),
        good=_example(_task(question='"40 + 2 \\ud83d\\ude42?"')),
    ),
    Rule(
        "HFE315",
        ERROR,
        Group.TASKS,
        "Task files have no byte-order mark.",
        "It isn't part of JSON: the first task can't be read with it.",
        bad=_example("\ufeff" + _task()),
        good=_GOOD,
    ),
    Rule(
        "HFE316",
        ERROR,
        Group.TASKS,
        "No key stands twice in one object.",
        "Python takes the last one, others the first; `load_dataset` fails on the file.",
        bad=_example(_task().replace('"answer"', '"answer": "40", "answer"')),
        good=_GOOD,
    ),
    Rule(
        "HFE317",
        WARNING,
        Group.TASKS,
        "Columns have one JSON shape in all tasks.",
        "`load_dataset` and the Hub's viewer take columns and their types from the first 10 MB of the first file. "
        "Types, keys of objects or items of lists that vary there are kept as JSON by newer versions and refused by "
        "older ones; what comes only later (another type, another column, a first value after nulls) makes loading "
        "fail. Store what varies as JSON text. hfenv itself reads such tasks as they are.",
        bad=_example(_task(hint='"Add the digits."')),
        good=_GOOD,
    ),
    Rule(
        "HFE318",
        WARNING,
        Group.TASKS,
        "`load_dataset` gives values back as they are.",
        "A column whose texts all look like dates becomes timestamps, and whole numbers beside fractions become "
        "floats. A trainer that loads the tasks by themselves sees other values than the environment.",
        bad=_example(_task(minutes="1"), _task(**_SECOND, minutes="1.5"), path=_TRAIN),
        good=_example(_task(), _task(**_SECOND), path=_TRAIN),
    ),
    Rule(
        "HFE319",
        WARNING,
        Group.TASKS,
        "A component that comes from elsewhere names its licence.",
        "`sources` with an address, a repository or a paper say that the content is somebody else's; the licence of "
        "the environment may not be what it was published under. What was written for the environment stands under its"
        " `license`.",
        bad=_card(_FIELDS, _SOURCES),
        good=_card(_FIELDS, _SOURCES, "license: cc-by-4.0"),
    ),
    Rule(
        "HFE320",
        WARNING,
        Group.TASKS,
        "The canary stands in every evaluation task and in no training task.",
        "It is there to find evaluation tasks in training data. Put it into a field `canary` that all tasks have, "
        "with an empty text in training tasks, since `load_dataset` wants the same columns in all files.",
        bad=Example("environment:\n  canary: 123e4567-e89b-12d3-a456-426614174000\n"),
        good=_GOOD,
    ),
    Rule(
        "HFE321",
        ERROR,
        Group.TASKS,
        "A generated split has seeds and one file for its sample.",
        "`tasks.seeds` gives each generated split its first seed and the one after the last. The split's file in "
        "`splits` is one of JSON Lines: it holds the first tasks, written by `hfenv tasks sample`, so that the viewer, "
        "`load_dataset` and every comparison work without running the generator.",
        bad=_generated("{train: [0, 0], test: [100000, 100200]}"),
        good=_generated("{train: [0, 100000], test: [100000, 100200]}"),
    ),
    Rule(
        "HFE322",
        ERROR,
        Group.TASKS,
        "No seed of an evaluation split is one of a training split.",
        "A generator that draws from its seed alone makes the same task of it in both, and a model that trained on it "
        "is measured by what it remembers. HFE310 compares the tasks themselves, of which it sees the samples.",
        bad=_generated("{train: [0, 100000], test: [0, 200]}"),
        good=_generated("{train: [0, 100000], test: [100000, 100200]}"),
    ),
    Rule(
        "HFE323",
        ERROR,
        Group.TASKS,
        "A sample holds the first tasks of its split.",
        "The id of a generated task is its split and its seed. `hfenv tasks sample` writes the tasks of the first "
        "seeds in their order; a sample with other ones would stand for another task set.",
        bad=_example(_task(id='"train-1"'), _task(**{**_SECOND, "id": '"train-0"'}), path=_SAMPLE),
        good=_example(_task(id='"train-0"'), _task(**{**_SECOND, "id": '"train-1"'}), path=_SAMPLE),
    ),
)
