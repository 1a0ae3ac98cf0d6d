"""Edits of code and rewards, each with the least and the most that it may need: none slips through, none is stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hfenv.card.compose import compose
from hfenv.card.nodes import value_of
from hfenv.components.changes.change import required
from hfenv.components.changes.code import classify_code
from hfenv.components.changes.reward import classify_reward
from hfenv.components.meaning.digest import semantic_digest
from hfenv.components.meaning.shape import Shape
from hfenv.components.meaning.shaping import shape_of
from hfenv.components.ownership import Component, walk
from hfenv.components.versions import Level
from tests.components.editing import with_card

DATA = Path(__file__).resolve().parents[1] / "data"
DEAD = "\n\ndef _never_called_at_all(text):\n    return text + text[1:]\n"


def _cases(component: Component) -> Iterator[Any]:
    data = value_of(compose((DATA / f"{component.value}_edits.yaml").read_text(encoding="utf-8")))
    for edit in data["edits"]:
        yield pytest.param(component, {"before": data.get("base"), **edit}, id=edit["name"])


def after(edit: dict[str, Any]) -> dict[str, str]:
    """The files after an edit."""
    files = {**edit["before"], **edit.get("after", {})}
    for path, pieces in edit.get("replace", {}).items():
        for piece in pieces:
            assert files[path].count(piece["old"]) == 1
            files[path] = files[path].replace(piece["old"], piece["new"])
    return {path: text for path, text in files.items() if text is not None}


def put(root: Path, files: dict[str, str]) -> None:
    root.mkdir()
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


def levels(component: Component, folder: Path, states: tuple[dict[str, str], dict[str, str]], cards) -> Any:
    """The levels before and after probes, and the changes, of a step between two states."""
    roots = folder / "old", folder / "new"
    folder.mkdir()
    for root, files in zip(roots, states, strict=True):
        put(root, files)
    before, after = (shape_of(component, root, walk(root), card) for root, card in zip(roots, cards, strict=True))
    recorded = Shape.from_json(component, json.loads(json.dumps(before.to_json(), sort_keys=True)))
    assert recorded == before
    classify = classify_code if component is Component.CODE else classify_reward
    old, new = states
    exact = sorted(path for path in {**old, **new} if old.get(path) != new.get(path))
    found = classify(recorded, after, exact=exact)
    # What has the same meaning needs a patch at most.
    digests = {semantic_digest(component, root, walk(root), card) for root, card in zip(roots, cards, strict=True)}
    assert len(digests) == 2 or required(found) <= Level.PATCH
    return (required(found), required(change.settled() for change in found)), found


@pytest.mark.parametrize(("component", "edit"), [*_cases(Component.REWARD), *_cases(Component.CODE)])
def test_an_edit_needs_no_less_and_no_more(component, edit: dict[str, Any], tmp_path):
    old, new = edit["before"], after(edit)
    cards = with_card(edit.get("card", {})), with_card({**edit.get("card", {}), **edit.get("new_card", {})})
    found, changes = levels(component, tmp_path / "alone", (old, new), cards)
    least, most = (
        [Level[word.upper()] for word in edit.get(key, edit.get("needs"))] for key in ("at_least", "at_most")
    )
    assert all(low <= level <= high for low, level, high in zip(least, found, most, strict=True)), (found, changes)
    # A harmless edit in the same files hides nothing of it.
    beside = tuple(
        {path: f"{text}{dead}" if path.endswith(".py") else text for path, text in files.items()}
        for files, dead in ((old, DEAD), (new, DEAD.replace("1", "2")))
    )
    with_more, changes = levels(component, tmp_path / "beside", beside, cards)
    assert all(one <= other for one, other in zip(found, with_more, strict=True)), (found, with_more, changes)
