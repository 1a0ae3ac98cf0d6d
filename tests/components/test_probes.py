"""Probes: what a line may hold, what is refused with its line, and what a digest sees."""

import json
import os

import pytest

from hfenv.components.ownership import walk
from hfenv.components.probes import MAX_LINE, MOST, read_probes, scan_probes
from hfenv.components.validation import validate
from hfenv.errors import UnreadableError
from tests.support import write_environment

PROBE = {
    "format": 1,
    "note": "a full mark",
    "expected": {"total": 1.0, "parts": {"right": 1.0}, "status": "ok"},
    "turns": [
        {"action": "7", "completion": "It is 7.", "data": {"said": "7"}, "evidence": None, "terminated": True,
         "truncated": False}
    ],
    "task": {"id": "train-0", "question": "0 + 7?", "answer": "7"},
}  # fmt: skip


def edited(path, value):
    """The probe with one value, named by its keys, set otherwise; `...` removes it."""
    probe = json.loads(json.dumps(PROBE))
    place = probe
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return probe


@pytest.fixture
def write(tmp_path):
    def put(*lines):
        (tmp_path / "reward").mkdir(exist_ok=True)
        texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        (tmp_path / "reward" / "probes.jsonl").write_bytes(b"".join(text + b"\n" for text in texts))
        return tmp_path

    return put


def test_a_probe_comes_back_as_it_was_written(write):
    (probe,) = read_probes(write(PROBE))
    assert json.loads(probe.to_line()) == PROBE
    assert (probe.task_id, probe.note, probe.line) == ("train-0", "a full mark", 1)
    assert len(probe.digest) == 16
    assert int(probe.digest, 16) >= 0
    (again,) = read_probes(write(probe.to_line().strip()))
    assert (again, again.digest) == (probe, probe.digest)


def test_a_folder_without_probes_has_none(tmp_path):
    assert read_probes(tmp_path) == ()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("task", "answer"), "8"), (("turns", 0, "action"), "8"), (("turns", 0, "action"), 7),
        (("turns", 0, "data", "said"), "8"), (("turns", 0, "evidence"), {}), (("turns", 0, "terminated"), False),
        (("turns", 0, "truncated"), True), (("expected", "total"), 0.5), (("expected", "parts", "right"), 0.5),
        (("expected", "parts", "other"), 0.0), (("expected", "status"), "agent_fault"),
    ],
)  # fmt: skip
def test_all_that_counts_moves_the_digest(write, path, value):
    (probe,) = read_probes(write(PROBE))
    (other,) = read_probes(write(edited(path, value)))
    assert other.digest != probe.digest


@pytest.mark.parametrize(
    "other",
    [
        edited(["note"], "another"), edited(["note"], ...), edited(["turns", 0, "completion"], ...),
        edited(["turns", 0, "truncated"], ...), edited(["turns", 0, "evidence"], ...),
        edited(["expected", "total"], 1), edited(["expected", "status"], ...),
        dict(reversed(PROBE.items())),
    ],
)  # fmt: skip
def test_nothing_else_does(write, other):
    (probe,) = read_probes(write(PROBE))
    (same,) = read_probes(write(other))
    assert same.digest == probe.digest


NESTED = b'{"format": 1, "expected": {"total": 0}, "turns": [{"action": %s, "data": 0}], "task": {"id": "x"}}'
BAD = {
    "no JSON": (b"{", "not JSON"),
    "two values": (b"{} {}", "not JSON"),
    "no object": ([1], "no JSON object"),
    "latin-1": (b'{"note": "\xe9"}', "UTF-8"),
    "half a sign": (NESTED % b'"\\ud800"', "half of a character"),
    "a key twice": (b'{"note": "a", "note": "b"}', "twice"),
    "NaN": (NESTED % b"NaN", "NaN"),
    "an infinity": (NESTED % b"-Infinity", "infinity"),
    "a huge number": (NESTED % (b"1" * 5000), "4300 digits"),
    "deep": (NESTED % (b"[" * 450 + b"]" * 450), "nested too deeply"),
    "very deep": (NESTED % (b"[" * 90_000 + b"]" * 90_000), "nested too deeply"),
    "long": (NESTED % (b'"' + b"x" * MAX_LINE + b'"'), "more than 1 MiB"),
    "another format": (edited(["format"], 2), "format"),
    "true as format": (edited(["format"], True), "format"),
    "no task": (edited(["task"], ...), "no 'task'"),
    "no id": (edited(["task", "id"], ...), "no string 'id'"),
    "an id that is a number": (edited(["task", "id"], 7), "no string 'id'"),
    "no turns": (edited(["turns"], []), "no list with a turn"),
    "turns that are no list": (edited(["turns"], {"0": 1}), "no list with a turn"),
    "a turn that is a text": (edited(["turns", 0], "x"), "turn 1 is no JSON object"),
    "no action": (edited(["turns", 0, "action"], ...), "turn 1 has no 'action'"),
    "no data": (edited(["turns", 0, "data"], ...), "turn 1 has no 'data'"),
    "a number as a flag": (edited(["turns", 0, "terminated"], 1), "true or false"),
    "an unknown key": (edited(["score"], 1), "unknown key 'score'"),
    "an unknown key of a turn": (edited(["turns", 0, "reward"], 1), "unknown key 'reward'"),
    "a text as total": (edited(["expected", "total"], "1"), "no finite number"),
    "true as total": (edited(["expected", "total"], True), "no finite number"),
    "a total beyond floats": (edited(["expected", "total"], 10**400), "no finite number"),
    "null as a part": (edited(["expected", "parts", "right"], None), "part 'right' is no finite number"),
    "parts as a list": (edited(["expected", "parts"], [1]), "no object"),
    "another status": (edited(["expected", "status"], "fine"), "status"),
    "a list as status": (edited(["expected", "status"], []), "status"),
    "a note that is a number": (edited(["note"], 1), "note is no text"),
    "the same again": (edited(["note"], "again"), "stands on line 1 already"),
    "another score for it": (edited(["expected", "total"], 0.25), "line 1 expects another score"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_probe_is_named_with_its_line(write, case):
    line, message = BAD[case]
    root = write(PROBE, b"", line)
    with pytest.raises(UnreadableError) as caught:
        read_probes(root)
    assert "reward/probes.jsonl:3: " in caught.value.message
    assert message in caught.value.message
    assert len(caught.value.message) < 300


def test_validate_reports_every_bad_line_and_none_that_is_fine(tmp_path):
    lines = [json.dumps(PROBE), "{", json.dumps(PROBE), json.dumps(edited(["task", "id"], "t")), "[]"]
    root = write_environment(tmp_path / "adding", files={"reward/probes.jsonl": "\n".join(lines)})
    report = validate(root)
    assert [(f.path, f.line) for f in report.findings if f.rule == "HFE429"] == [
        ("reward/probes.jsonl", line) for line in (2, 3, 5)
    ]
    assert "HFE429" in report.ran


def test_an_ignored_file_counts_as_none(write):
    root = write("{")
    (root / ".hfenvignore").write_text("reward/probes.jsonl\n")
    assert read_probes(root, walk(root)) == ()


def test_too_many_probes_are_refused_and_not_held(write):
    root = write(*(edited(["task", "id"], f"t{n}") for n in range(MOST + 2)))
    found = list(scan_probes(root))
    assert len(found) == MOST + 1
    assert found[-1].line == MOST + 1


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path):
    (tmp_path / "reward").mkdir()
    os.mkfifo(tmp_path / "reward" / "probes.jsonl")
    with pytest.raises(UnreadableError, match="can't be read"):
        read_probes(tmp_path)
