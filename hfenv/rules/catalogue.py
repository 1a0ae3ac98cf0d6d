"""Every rule by its id, from all blocks.

Ids come in blocks: 0xx header and YAML, 1xx schema and sections, 2xx layout, 3xx tasks, 4xx code and reward,
5xx versions, 6xx the rest. A number is never given to another rule.
"""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules import code, code_calls, code_more, header, layout, publishing, schema, tasks, versions
from hfenv.rules.rule import Rule

_LONGEST_NUMBER = 4  # digits; a longer one is no slip
_BLOCKS = (header, schema, layout, tasks, code, code_calls, code_more, versions, publishing)
RULES: dict[str, Rule] = {rule.id: rule for block in _BLOCKS for rule in block.RULES}


def block(*starts: str) -> tuple[str, ...]:
    """Ids of the rules whose ids begin so."""
    return tuple(rule for rule in RULES if rule.startswith(starts))


def severity(rule: str) -> Severity:
    """How much a rule's findings matter; an error for rules that aren't in the catalogue."""
    return RULES[rule].severity if rule in RULES else Severity.ERROR


def nearest_rule(name: str) -> str | None:
    """The rule that was probably meant by an id that none has: the number is the same but for one slip."""
    digits = "".join(sign for sign in name if sign.isdigit() and sign.isascii())
    if not 1 <= len(digits) <= _LONGEST_NUMBER:
        return None
    padded = str(int(digits)).zfill(3)
    alike = [rule for rule in RULES if _is_slip(padded, rule.removeprefix("HFE"))]
    swapped = [rule for rule in alike if sorted(rule.removeprefix("HFE")) == sorted(padded)]
    return f"HFE{padded}" if f"HFE{padded}" in RULES else next(iter([*swapped, *alike]), None)


def _is_slip(written: str, meant: str) -> bool:
    """Whether one digit is another one, is missing or too many, or two neighbours are swapped."""
    if len(written) == len(meant):
        different = [i for i, sign in enumerate(written) if sign != meant[i]]
        swapped = len(different) == 2 and different[1] - different[0] == 1 and sorted(written) == sorted(meant)
        return len(different) == 1 or swapped
    longer, shorter = sorted((written, meant), key=len, reverse=True)
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
