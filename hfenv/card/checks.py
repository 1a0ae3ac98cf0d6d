"""The checks of a card by itself: its schema, what the schema can't say, its scalars and its sections."""

from __future__ import annotations

from hfenv.card import publishing
from hfenv.card.check_block import check_block
from hfenv.card.check_hub import TAGS, check_hub
from hfenv.card.check_invisible import check_invisible
from hfenv.card.check_scalars import check_finite, check_scalars
from hfenv.card.check_sections import SECTIONS, check_sections
from hfenv.card.check_seeds import SEED_RULES
from hfenv.card.declared import Declared
from hfenv.card.reader import Card
from hfenv.card.schema import check_schema
from hfenv.findings import Finding, capped
from hfenv.rules.catalogue import RULES

__all__ = ["CARD_RULES", "RULES", "SECTIONS", "TAGS", "check_card"]

_HUB_RULES = ("HFE601", "HFE602", "HFE603")
# HFE016 is about comments, which the checks of an environment's files look at too.
CARD_RULES = tuple(
    rule
    for rule in (*(r for r in RULES if r < "HFE2"), "HFE205", *SEED_RULES, *_HUB_RULES, *publishing.RULES)
    if rule != "HFE016"
)


def check_card(card: Card) -> list[Finding]:
    """Everything that is wrong with a card that could be read, what was noticed while reading it included.

    A place is judged once: where a value breaks the schema, what follows from it isn't another mistake. Of one rule at
    most 100 findings are listed; the last of them says how many more there are.
    """
    found = [*card.notices, *check_schema(card)]
    declared = Declared.of(card)
    for check in (
        lambda: check_finite(card),
        lambda: (*check_block(card, declared), *check_hub(card, declared)),
        lambda: publishing.check_publishing(card),
        lambda: check_scalars(card),
    ):
        judged = {finding.pointer for finding in found}
        found += [finding for finding in check() if finding.pointer not in judged]
    found += [*check_invisible(card), *check_sections(card)]
    return list(capped(found))
