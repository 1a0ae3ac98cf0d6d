"""Rules about the header and its YAML: 0xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING

RULES = (
    Rule(
        "HFE001",
        ERROR,
        Group.HEADER,
        "The card exists and can be read.",
        "Everything starts from README.md.",
        fatal=True,
    ),
    Rule(
        "HFE002",
        ERROR,
        Group.HEADER,
        "The card is UTF-8.",
        "Other encodings read differently on every machine. The finding names the first byte that doesn't fit.",
        fatal=True,
    ),
    Rule(
        "HFE003",
        ERROR,
        Group.HEADER,
        "The card has no NUL bytes, and its header no invisible characters.",
        "YAML forbids them, and nobody sees them in an editor.",
        fatal=True,
    ),
    Rule(
        "HFE004",
        ERROR,
        Group.HEADER,
        "The card starts with a header.",
        "Without one, the Hub shows a page without any data. The first line is exactly three dashes.",
        fatal=True,
    ),
    Rule(
        "HFE005",
        ERROR,
        Group.HEADER,
        "The header is closed.",
        "A header that isn't closed by a line of three dashes counts as text, silently.",
        fatal=True,
    ),
    Rule(
        "HFE006",
        ERROR,
        Group.HEADER,
        "The header is valid YAML.",
        "Nothing of a broken header can be trusted.",
        fatal=True,
    ),
    Rule(
        "HFE007",
        ERROR,
        Group.HEADER,
        "The header is indented with spaces.",
        "YAML allows no tabs in indentation.",
        fatal=True,
    ),
    Rule(
        "HFE008",
        WARNING,
        Group.HEADER,
        "The card has no byte-order mark.",
        "hfenv reads over it, but some tools don't and then see no header.",
        fixable=True,
    ),
    Rule(
        "HFE009",
        ERROR,
        Group.HEADER,
        "No key stands twice.",
        "YAML readers silently take the first or the last one, so that two tools see two different cards.",
    ),
    Rule(
        "HFE010", ERROR, Group.HEADER, "The header consists of fields.", "A list or a text has no fields.", fatal=True
    ),
    Rule(
        "HFE011",
        ERROR,
        Group.HEADER,
        "The header has no tags.",
        "Tags such as !!python/tuple build objects.",
        fatal=True,
    ),
    Rule(
        "HFE012",
        WARNING,
        Group.HEADER,
        "No value reads differently in another YAML reader.",
        "An unquoted `no` is text in YAML 1.2 and false in 1.1, `1.10` is the number 1.1, `12:30` can be 750, and a "
        "hash of digits is a number. Quotes end the doubt. An error where a field wants text.",
        fixable=True,
    ),
    Rule(
        "HFE013",
        ERROR,
        Group.HEADER,
        "The header has no anchors and aliases.",
        "A card is read top to bottom.",
        fatal=True,
    ),
    Rule(
        "HFE014",
        ERROR,
        Group.HEADER,
        "The header is at most 20 levels deep.",
        "Deeper data belongs in a file.",
        fatal=True,
    ),
    Rule(
        "HFE015", ERROR, Group.HEADER, "The header has at most 256 KiB.", "Larger data belongs in a file.", fatal=True
    ),
    Rule(
        "HFE016",
        WARNING,
        Group.HEADER,
        "An ignore comment names rules, says why, and has something to ignore.",
        "`# hfenv: ignore[HFE012] the reason` in the header or in a Python file, `<!-- hfenv: ignore[HFE111] the "
        "reason -->` in the Markdown: at the end of the line that a finding names, or on a line of its own above it. "
        "On the card it also covers the rule's findings in files that can't hold comments, such as tasks. A comment "
        "without a reason ignores nothing, and one that nothing needs any more is in the way.",
        bad=Example("environment:\n  limits: {max_steps: 1}  # hfenv: ignore[HFE012]\n"),
        good=Example(
            "environment:\n  determinism: seeded\n  volatile_info: [no]  # hfenv: ignore[HFE012] the key is named so\n"
        ),
    ),
)
