"""What the schema can't say about generated splits: seeds that are there, a sample for each, no leak between splits."""

from __future__ import annotations

from collections.abc import Iterator

from hfenv.card.declared import Declared, Seeds
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

SEED_RULES = ("HFE321", "HFE322")
_FIX = "Write the first seed and the one after the last, such as [0, 10000]."


def check_seeds(card: Card, declared: Declared) -> Iterator[Finding]:
    """HFE321 for each generated split, HFE322 for pairs of them."""
    splits = declared.splits
    written = card.block.get("tasks", {}).get("splits") if isinstance(card.block.get("tasks"), dict) else None
    for seeds in declared.seeds:
        name, found = short(seeds.split), seeds.range
        if isinstance(written, dict) and seeds.split not in written:
            fix = f"Add it to splits, with a file for its sample: {name}: tasks/sample/{name}.jsonl."
            yield _at(card, "HFE321", seeds, f"there is no split '{name}'", fix)
        elif found.first >= found.stop:
            message = f"the seeds of '{name}' end at {found.stop}, which isn't above the first one, {found.first}"
            yield _at(card, "HFE321", seeds, message, _FIX)
        elif seeds.split in splits and not _is_one_file(splits[seeds.split]):
            message = f"the sample of the generated split '{name}' is no single .jsonl file"
            yield _at(card, "HFE321", seeds, message, f"Write {name}: tasks/sample/{name}.jsonl under splits.")
    yield from _leaks(card, declared)


def _is_one_file(patterns: tuple[str, ...]) -> bool:
    return len(patterns) == 1 and patterns[0].endswith(".jsonl") and not set("*?[") & set(patterns[0])


def _leaks(card: Card, declared: Declared) -> Iterator[Finding]:
    training = [seeds for seeds in declared.seeds if seeds.split.startswith("train")]
    for seeds in declared.seeds:
        if seeds.split.startswith("train"):
            continue
        for other in training:
            if common := seeds.range.common(other.range):
                message = f"'{short(seeds.split)}' and '{short(other.split)}' share {common:,} seeds"
                fix = f"Begin one of them behind the other, such as [{other.range.stop}, ...]."
                yield _at(card, "HFE322", seeds, message, fix)


def _at(card: Card, rule: str, seeds: Seeds, message: str, fix: str) -> Finding:
    at = card.place(seeds.pointer)
    return Finding(rule, severity(rule), card.path, message, seeds.pointer, at.line, at.column, fix)
