"""What the Hub reads of a card: licence, tags and configs, and keys at the top of the header."""

from __future__ import annotations

from collections.abc import Iterator

from hfenv.card.configs import NAME, configs_from, files_of, index_of
from hfenv.card.declared import Declared
from hfenv.card.guessing import nearest, same
from hfenv.card.nodes import escape
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.card.repair import set_in_place
from hfenv.card.schema import load_schema
from hfenv.card.unseen import as_seen
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

TAGS = ("rl-environment", "hfenv")


def check_hub(card: Card, declared: Declared) -> Iterator[Finding]:
    """In the order of the rules: licence, tags, configs, unknown keys."""
    yield from _license(card)
    yield from _tags(card)
    yield from _configs(card, declared)
    if not card.front_matter.keys() <= load_schema()["properties"].keys():
        from hfenv.card.unknown import near_misses

        yield from near_misses(card)


def _license(card: Card) -> Iterator[Finding]:
    if card.front_matter.get("license") not in (None, "", []):
        return
    others = [key for key in card.front_matter if key not in ("license", "environment", "language")]
    meant = same("license", others) or nearest("license", others)
    fix = f"Did you mean 'license' where it says '{short(meant)}'?" if meant else None
    pointer = f"/{escape(meant)}" if meant else "/license"
    if meant is None and isinstance(inner := card.block.get("license"), str) and inner:
        fix, pointer = f"Move 'license: {short(inner)}' out of environment, to the left margin.", "/environment/license"
    fix = fix or "Add 'license: apache-2.0' or another."
    yield _finding(card, "HFE601", pointer, "the card names no licence", fix, key=True)


def _tags(card: Card) -> Iterator[Finding]:
    tags = card.front_matter.get("tags")
    if tags is not None and not isinstance(tags, list):
        return
    missing = [tag for tag in TAGS if tag not in (tags or ())]
    if missing:
        words = " and ".join(f"'{tag}'" for tag in missing)
        fix, repair = f"Add {words} to tags.", set_in_place(card, {"/tags": [*(tags or ()), *missing]})
        if set(missing) & {as_seen(tag) for tag in tags or () if isinstance(tag, str)}:
            fix, repair = f"Write {words} without characters that nobody sees.", None
        yield _finding(card, "HFE602", "/tags", f"the tags don't contain {words}", fix, key=True, repair=repair)


def _configs(card: Card, declared: Declared) -> Iterator[Finding]:
    configs = card.front_matter.get("configs")
    if not isinstance(configs, list) or not configs or not declared.split_patterns:
        return
    if not all(isinstance(config, dict) for config in configs):
        return
    index = index_of(configs)
    if index is not None and files_of(configs[index].get("data_files")) == declared.splits:
        return
    repair = set_in_place(card, {"/configs": configs_from(configs, declared.splits)})
    if index is None:
        message = f"configs has no config '{NAME}', so that the Hub's viewer doesn't show the splits"
        yield _finding(card, "HFE603", "/configs", message, "The next push adds it.", key=True, repair=repair)
    else:
        message = f"configs names other files for config '{NAME}' than the splits do"
        fix = "The next push writes it from the splits."
        yield _finding(card, "HFE603", f"/configs/{index}", message, fix, repair=repair)


def _finding(
    card: Card, rule: str, pointer: str, message: str, fix: str, *, key: bool = False, repair: Repair | None = None
) -> Finding:
    at = card.key_position(pointer) if key else card.place(pointer)
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix, repair)
