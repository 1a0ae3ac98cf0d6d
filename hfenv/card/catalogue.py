"""Every rule about an environment: its id, how much it matters, one sentence, and why it is there.

Ids come in blocks: 0xx header and YAML, 1xx schema and sections, 2xx layout, 3xx tasks, 4xx code and reward,
5xx versions, 6xx the rest. A number is never given to another rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from hfenv.findings import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True, slots=True)
class Rule:
    """`fatal` rules are about cards that can't be read at all: exit 3 instead of 1."""

    id: str
    severity: Severity
    title: str
    explanation: str
    fatal: bool = False


_CATALOGUE = (
    Rule("HFE001", ERROR, "The card exists and can be read.", "Everything starts from README.md.", fatal=True),
    Rule(
        "HFE002",
        ERROR,
        "The card is UTF-8.",
        "Other encodings read differently on every machine. The finding names the first byte that doesn't fit.",
        fatal=True,
    ),
    Rule(
        "HFE003",
        ERROR,
        "The card has no NUL bytes, and its header no invisible characters.",
        "YAML forbids them, and nobody sees them in an editor.",
        fatal=True,
    ),
    Rule(
        "HFE004",
        ERROR,
        "The card starts with a header.",
        "Without one, the Hub shows a page without any data. The first line is exactly three dashes.",
        fatal=True,
    ),
    Rule(
        "HFE005",
        ERROR,
        "The header is closed.",
        "A header that isn't closed by a line of three dashes counts as text, silently.",
        fatal=True,
    ),
    Rule("HFE006", ERROR, "The header is valid YAML.", "Nothing of a broken header can be trusted.", fatal=True),
    Rule("HFE007", ERROR, "The header is indented with spaces.", "YAML allows no tabs in indentation.", fatal=True),
    Rule(
        "HFE008",
        WARNING,
        "The card has no byte-order mark.",
        "hfenv reads over it, but some tools don't and then see no header.",
    ),
    Rule(
        "HFE009",
        ERROR,
        "No key stands twice.",
        "YAML readers silently take the first or the last one, so that two tools see two different cards.",
    ),
    Rule("HFE010", ERROR, "The header consists of fields.", "A list or a text has no fields.", fatal=True),
    Rule("HFE011", ERROR, "The header has no tags.", "Tags such as !!python/tuple build objects.", fatal=True),
    Rule(
        "HFE012",
        WARNING,
        "No value reads differently in another YAML reader.",
        "An unquoted `no` is text in YAML 1.2 and false in 1.1, `1.10` is the number 1.1, `12:30` can be 750, and a "
        "hash of digits is a number. Quotes end the doubt. An error where a field wants text.",
    ),
    Rule("HFE013", ERROR, "The header has no anchors and aliases.", "A card is read top to bottom.", fatal=True),
    Rule("HFE014", ERROR, "The header is at most 20 levels deep.", "Deeper data belongs in a file.", fatal=True),
    Rule("HFE015", ERROR, "The header has at most 256 KiB.", "Larger data belongs in a file.", fatal=True),
    Rule("HFE101", ERROR, "Required fields are there.", "The schema says which; `init` writes all of them."),
    Rule("HFE102", ERROR, "A value has the type that its field wants.", "Text, a number, a list or a mapping."),
    Rule("HFE103", ERROR, "A value is one of those that its field allows.", "The message lists them."),
    Rule(
        "HFE104",
        ERROR,
        "Every key under `environment` is known.",
        "An unknown key does nothing.",
    ),
    Rule("HFE105", ERROR, "Paths, entries, hashes and names have their form.", "The message shows an example."),
    Rule("HFE106", ERROR, "Versions are semantic versions.", "Three numbers, such as 1.0.0, without build metadata."),
    Rule("HFE107", ERROR, "Numbers, lists and texts have a size that makes sense.", "The message says the bound."),
    Rule("HFE108", ERROR, "Fields that exclude or need each other are used so.", "A resource has a path or a uri."),
    Rule("HFE109", ERROR, "Numbers are finite.", "JSON has no infinity; records and rollouts couldn't hold them."),
    Rule("HFE110", ERROR, "The required sections are there.", "Headings of level 2, in English or Chinese."),
    Rule("HFE111", WARNING, "Every required section has content.", "An empty section tells a reader nothing."),
    Rule("HFE113", ERROR, "The reward's range has a lower and a higher end.", "u divides by their difference."),
    Rule("HFE114", ERROR, "The reward's floor lies in the range, below its upper end.", "u would be undefined."),
    Rule("HFE115", WARNING, "Some field has the role input.", "Who is shown nothing can only guess."),
    Rule("HFE116", ERROR, "Names of resources and services are unique.", "A task refers to one by its name."),
    Rule("HFE117", ERROR, "`config` is a JSON Schema.", "`load` checks a caller's configuration against it."),
    Rule("HFE118", ERROR, "Box bounds and shape fit together.", "low and high are numbers, or lists of that shape."),
    Rule("HFE201", ERROR, "Files that the card names exist.", "Entries, policies and resources with a path."),
    Rule("HFE202", ERROR, "Every path or glob of a split matches a file.", "Also true for each item of a list."),
    Rule(
        "HFE203",
        ERROR,
        "Every file can be part of an environment.",
        "Links, devices, compiled Python and names that collide or can't be stored on some platform are refused.",
    ),
    Rule("HFE204", INFO, "Every file belongs somewhere.", "Files of no component are pushed, but have no version."),
    Rule(
        "HFE205",
        ERROR,
        "Files of a component lie in its folder.",
        "Versions and digests go by folder: env/ for code, tasks/ for tasks and resources, reward/ for the reward.",
    ),
    Rule("HFE206", ERROR, "Every component has files.", "Asked where the card doesn't name them itself."),
    Rule("HFE207", WARNING, "Executable files are still executable.", "The Hub stores no modes; release.json does."),
    Rule("HFE301", ERROR, "Task files can be read.", "One JSON object per line in UTF-8, or Parquet."),
    Rule("HFE302", ERROR, "Every task has an `id`, a text that isn't empty.", "Results are keyed by it."),
    Rule("HFE303", ERROR, "Task ids are unique over all splits.", "Two tasks with one id can't be told apart."),
    Rule("HFE304", ERROR, "Every task has the declared fields.", "The environment and the reward rely on them."),
    Rule("HFE305", ERROR, "No split is empty.", "There would be nothing to load."),
    Rule("HFE306", ERROR, "Resource fields name an entry of `resources`.", "A task's file must be found."),
    Rule("HFE401", ERROR, "Python files parse.", "Nothing is imported: this is the syntax tree only."),
    Rule("HFE402", ERROR, "Entries exist in their files.", "Defined or imported at the file's top level."),
    Rule(
        "HFE403",
        ERROR,
        "The environment's class has the methods of the contract.",
        "`start` and `execute` for a task environment; `reset`, `step` and `close` for an environment of its own. "
        "Methods that a base class from elsewhere may bring are not asked for.",
    ),
    Rule(
        "HFE404",
        ERROR,
        "The reward is a plain function of a task and a transcript.",
        "score(task, transcript), not async; with scope group, score_group(task, transcripts) beside it.",
    ),
    Rule("HFE405", ERROR, "`measure` takes a task, a transcript and a context.", "It may be async."),
    Rule("HFE501", ERROR, "A changed component declares a higher version.", "A version never changes its content."),
    Rule("HFE502", ERROR, "A version never goes backwards.", "Pins and ranges rely on the order."),
    Rule("HFE503", ERROR, "Every declared version has a changelog entry.", "`hfenv bump` writes it."),
    Rule("HFE504", ERROR, "The release record and the changelogs can be read.", "They say what was released."),
    Rule("HFE601", ERROR, "The card names a licence.", "Without one, nobody may use the environment."),
    Rule("HFE602", ERROR, "The tags contain rl-environment and hfenv.", "The Hub's filter and `search` go by them."),
    Rule(
        "HFE603",
        WARNING,
        "`configs` agrees with the splits.",
        "`load_dataset` and the Hub's viewer read configs, hfenv reads the splits. The next push writes configs again.",
    ),
)

RULES = {rule.id: rule for rule in _CATALOGUE}


def severity(rule: str) -> Severity:
    """How much a rule's findings matter; an error for rules that aren't in the catalogue."""
    return RULES[rule].severity if rule in RULES else Severity.ERROR
