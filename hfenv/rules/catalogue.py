"""Every rule by its id, from all blocks.

Ids come in blocks: 0xx header and YAML, 1xx schema and sections, 2xx layout, 3xx tasks, 4xx code and reward,
5xx versions, 6xx the rest. A number is never given to another rule.
"""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules import code, code_calls, header, layout, publishing, schema, tasks, versions
from hfenv.rules.rule import Rule

_BLOCKS = (header, schema, layout, tasks, code, code_calls, versions, publishing)
RULES: dict[str, Rule] = {rule.id: rule for block in _BLOCKS for rule in block.RULES}


def block(*starts: str) -> tuple[str, ...]:
    """Ids of the rules whose ids begin so."""
    return tuple(rule for rule in RULES if rule.startswith(starts))


def severity(rule: str) -> Severity:
    """How much a rule's findings matter; an error for rules that aren't in the catalogue."""
    return RULES[rule].severity if rule in RULES else Severity.ERROR
