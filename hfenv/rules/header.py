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
        "Everything starts from README.md: without it there is no environment, neither here nor on the Hub. "
        "`hfenv init` writes one to start from.",
        bad=Example(None),
        good=Example("license: apache-2.0\n"),
        fatal=True,
    ),
    Rule(
        "HFE002",
        ERROR,
        Group.HEADER,
        "The card is UTF-8.",
        "Other encodings read differently on every machine, and the Hub takes UTF-8 alone. The finding names the "
        "first byte that doesn't fit; save the file again as UTF-8.",
        bad=Example("pretty_name: caf\udce9\n"),
        good=Example("pretty_name: café\n"),
        fatal=True,
    ),
    Rule(
        "HFE003",
        ERROR,
        Group.HEADER,
        "The card has no NUL bytes, and its header no control characters.",
        "YAML forbids control characters, some readers end a line where others don't, and nobody sees any of them"
        " in an editor. They come from copying out of web pages and word processors.",
        bad=Example("pretty_name: Ad\x08ding\n"),
        good=Example("pretty_name: Adding\n"),
        fatal=True,
        fixable=True,
    ),
    Rule(
        "HFE004",
        ERROR,
        Group.HEADER,
        "The card starts with a header.",
        "Without one the Hub shows a page without any data. The first line is exactly three dashes: with a space "
        "behind them, or a title above them, the Hub sees no header at all.",
        bad=Example("--- \nlicense: apache-2.0\n---\n"),
        good=Example("license: apache-2.0\n"),
        fatal=True,
        fixable=True,
    ),
    Rule(
        "HFE005",
        ERROR,
        Group.HEADER,
        "The header is closed.",
        "A header that isn't closed by a line of three dashes counts as text, silently: the Hub shows no licence,"
        " no tags, and YAML above the title.",
        bad=Example("---\nlicense: apache-2.0\n\n# Adding\n"),
        good=Example("license: apache-2.0\n"),
        fatal=True,
    ),
    Rule(
        "HFE006",
        ERROR,
        Group.HEADER,
        "The header is valid YAML.",
        "Nothing of a broken header can be trusted. Most often a text contains a colon and a space, a quote isn't"
        " closed, or a line is indented otherwise than its neighbours: the message says which.",
        bad=Example("pretty_name: Adding: the sequel\n"),
        good=Example('pretty_name: "Adding: the sequel"\n'),
        fatal=True,
    ),
    Rule(
        "HFE007",
        ERROR,
        Group.HEADER,
        "The header is indented with spaces.",
        "YAML allows no tabs in indentation, since nobody agrees how wide they are. Set the editor to spaces for "
        "YAML and Markdown.",
        bad=Example('---\nenvironment:\n\tspec: "1"\n---\n'),
        good=Example("environment:\n  limits: {max_steps: 1}\n"),
        fatal=True,
    ),
    Rule(
        "HFE008",
        WARNING,
        Group.HEADER,
        "The card has no byte-order mark.",
        "hfenv reads over it, but some tools don't, and then see no header. Editors on Windows write it; save as "
        "UTF-8 without one.",
        bad=Example("\ufeff---\nlicense: apache-2.0\n---\n"),
        good=Example("license: apache-2.0\n"),
        fixable=True,
    ),
    Rule(
        "HFE009",
        ERROR,
        Group.HEADER,
        "No key stands twice.",
        "YAML readers silently take the first or the last one, so that two tools see two different cards. Where "
        "both say the same, the second one goes.",
        bad=Example("environment:\n  limits: {max_steps: 1, max_steps: 8}\n"),
        good=Example("environment:\n  limits: {max_steps: 8}\n"),
        fixable=True,
    ),
    Rule(
        "HFE010",
        ERROR,
        Group.HEADER,
        "The header consists of fields.",
        "A list or a single text has no fields that anyone could look up.",
        bad=Example("---\n- apache-2.0\n- rl-environment\n---\n"),
        good=Example("license: apache-2.0\ntags: [rl-environment, hfenv]\n"),
        fatal=True,
    ),
    Rule(
        "HFE011",
        ERROR,
        Group.HEADER,
        "The header has no tags.",
        "Tags such as !!python/tuple build objects in whoever reads the card, and the Hub refuses them. Plain "
        "values say all that a card has to say.",
        bad=Example("tags: !!python/tuple [rl-environment, hfenv]\n"),
        good=Example("tags: [rl-environment, hfenv]\n"),
        fatal=True,
    ),
    Rule(
        "HFE012",
        WARNING,
        Group.HEADER,
        "No value reads differently in another YAML reader.",
        "An unquoted `no` is text in YAML 1.2 and false in 1.1, `12:30` can be 750, `017` is 17 or 15, a date can"
        " be an object, `1.10` is the number 1.1, and a hash of digits is a number. The same goes for keys. "
        "Quotes end the doubt; where a number is wanted, write it plainly. An error where the field can't take "
        "what was read.",
        bad=Example("environment:\n  volatile_info: [no]\n"),
        good=Example('environment:\n  volatile_info: ["no"]\n'),
        fixable=True,
    ),
    Rule(
        "HFE013",
        ERROR,
        Group.HEADER,
        "The header has no anchors and aliases.",
        "A card is read from top to bottom and edited by tools a line at a time; a value that stands elsewhere "
        "would change with it. A text that starts with & or * wants quotes.",
        bad=Example("license: &licence apache-2.0\n"),
        good=Example("license: apache-2.0\n"),
        fatal=True,
    ),
    Rule(
        "HFE014",
        ERROR,
        Group.HEADER,
        "The header is at most 20 levels deep.",
        "Nobody reads deeper, and readers with recursion break. Deeper data belongs in a file of the environment.",
        bad=Example("environment:\n  audit_inputs: {deep: " + "[" * 20 + "]" * 20 + "}\n"),
        good=Example("environment:\n  audit_inputs: {deep: [[1, 2], [3, 4]]}\n"),
        fatal=True,
    ),
    Rule(
        "HFE015",
        ERROR,
        Group.HEADER,
        "The header has at most 256 KiB and 10,000 values.",
        "A card is fetched by everyone who looks at the environment. Larger data belongs in a file of the environment.",
        fatal=True,
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
    Rule(
        "HFE017",
        WARNING,
        Group.HEADER,
        "The header has no characters that nobody sees.",
        "A zero-width space, a soft hyphen or a sign that turns the direction of writing makes a tag, a path or a key "
        "another one that looks the same, and hides what a line says. They come from copying. Joiners of scripts and "
        "emoji, and what Thai, Khmer, Arabic or Hebrew text needs, are left alone.",
        bad=Example("pretty_name: Ad\u200bding\n"),
        good=Example("pretty_name: Adding\n"),
        fixable=True,
    ),
)
