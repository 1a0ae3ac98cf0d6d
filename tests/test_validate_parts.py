"""HFE428: the parts of a score that the card lists against those that the reward's code gives."""

import pytest

from hfenv.components.validation import validate
from tests.support import replace_in, write_environment

CODE = "from dataclasses import replace\n\nimport hfenv\nfrom hfenv import Score\n\n\ndef score(task, transcript):\n"


def found(tmp_path, body, parts="[right, form]", files=None):
    reward = CODE + "".join(f"    {line}\n" for line in body.splitlines())
    root = write_environment(tmp_path / "adding", files={"reward/reward.py": reward, **(files or {})})
    replace_in(root / "README.md", "range: [-1.0, 1.0]}", f"range: [-1.0, 1.0], parts: {parts}}}")
    report = validate(root)
    assert "HFE428" in report.ran
    return [(f.path, f.pointer or f.line, f.message) for f in report.findings if f.rule == "HFE428"]


@pytest.mark.parametrize(
    "body",
    [
        'return hfenv.Score(1.0, {"right": 1.0, "form": 0.0})',
        'if not task:\n    return Score(0.0, status="env_fault")\nreturn Score(1.0, parts=dict(right=1.0, form=0.0))',
        'return Score(1.0, {"right": 1.0} if task else {"form": 1.0})',
        'parts = {"right": 0.0}\nparts["form"] = 1.0\nparts["right"] += 1\nreturn Score(sum(parts.values()), parts)',
        'return Score(1.0, {"right": 1.0})\n\ndef other() -> Score:\n    return Score(0.0, {"form": 0.0})',
        # What can't be seen from the text is left alone.
        "return Score(1.0, parts_of(task))",
        'return Score(1.0, {f"{name}": 1.0 for name in task})',
        'return Score(1.0, {"else": 1.0, **task})',
        'return Score(*task, {"else": 1.0})',
        'parts = {"else": 0.0}\nfill(parts)\nreturn Score(1.0, parts)',
        'parts = {"else": 0.0}\nparts.update(task)\nreturn Score(1.0, parts)',
        'parts = {"else": 0.0}\nfor name in task:\n    parts[name] = 1.0\nreturn Score(1.0, parts)',
        'return replace(Score(1.0, {"else": 1.0}), parts=task)',
        'make = Score\nreturn make(1.0, {"right": 1.0})',
        "return 1.0",
    ],
)
def test_parts_that_agree_or_are_not_written_out_are_fine(tmp_path, body):
    assert found(tmp_path, body) == []


def test_a_part_that_no_score_gives_is_found_on_the_card(tmp_path):
    body = 'return Score(1.0, {"right": 1.0})'
    ((path, pointer, message),) = found(tmp_path, body)
    assert (path, pointer) == ("README.md", "/environment/reward/parts/1")
    assert "'form'" in message
    ((_, pointer, _),) = found(tmp_path, body, "{right: the sum, form: a number}")
    assert pointer == "/environment/reward/parts/form"


def test_a_part_that_the_card_does_not_list_is_found_in_the_code(tmp_path):
    body = 'parts = {"right": 1.0, "form": 0.0}\nif task:\n    parts["sped"] = 1.0\nreturn Score(1.0, parts)'
    ((path, line, message),) = found(tmp_path, body)
    assert (path, line, "'sped'" in message) == ("reward/reward.py", 10, True)


def test_scores_of_other_files_count_and_those_of_tests_do_not(tmp_path):
    files = {
        "reward/forms.py": 'import hfenv\n\n\ndef bad():\n    return hfenv.Score(0.0, {"form": 0.0})\n',
        "reward/test_reward.py": 'import hfenv\n\nONE = hfenv.Score(0.0, {"made up": 0.0})\n',
    }
    body = 'from .forms import bad\nreturn Score(1.0, {"right": 1.0}) if task else bad()'
    assert found(tmp_path, body, files=files) == []


def test_a_card_that_lists_no_parts_is_fine(tmp_path):
    assert found(tmp_path, 'return Score(1.0, {"right": 1.0})', "[]") == []
