"""The gate: every outcome of validate and push about versions, each with its evidence, and none without a reason."""

from __future__ import annotations

import json

import pytest

from hfenv.card.reader import manifest, read_card
from hfenv.components.ownership import Component
from hfenv.components.release import read_record
from tests.support import release, replace_in, run_cli, write_environment

LOOSE = 'reward: {version: "1.0.0"'
HALVED = ("reward/reward.py", "-1.0, {", "-0.5, {")
TEXT = ("reward/reward.py", "import hfenv\n", "import hfenv  # the contract\n")
DEV = json.dumps({"id": "dev-1", "question": "90 + 9?", "answer": "99", "difficulty": "hard"}) + "\n"
HELPER = ("reward/reward.py", "if not said.isdigit():", "if said.isdigit() is False:")


@pytest.fixture
def released(tmp_path):
    return release(write_environment(tmp_path / "adding"))


def probe(answer, said, total, parts, status="ok"):
    turn = {"action": said, "data": {"said": said}, "evidence": None, "terminated": True, "truncated": False}
    task = {"id": f"train-{answer}", "question": "?", "answer": answer, "difficulty": "easy"}
    expected = {"total": total, "parts": parts, "status": status}
    return json.dumps({"format": 1, "expected": expected, "turns": [turn], "task": task}) + "\n"


PROBES = (
    probe("7", "7", 1.0, {"right": 1.0})
    + probe("8", "9", 0.0, {"right": 0.0})
    + probe("9", "nine", -1.0, {"form": -1.0}, "agent_fault")
)


@pytest.fixture
def probed(tmp_path):
    """A release whose reward has probes."""
    return release(write_environment(tmp_path / "adding", files={"reward/probes.jsonl": PROBES}))


def edit(root, *edits):
    for path, old, new in edits:
        replace_in(root / path, old, new)


def declare(root, component, declared, *, entry=True):
    """Write a version on the card by hand, with its changelog entry unless told otherwise."""
    now = getattr(manifest(read_card(root / "README.md")), component).version
    replace_in(root / "README.md", f'{component}: {{version: "{now}"', f'{component}: {{version: "{declared}"')
    if entry:
        with (root / "changelog" / f"{component}.md").open("a", encoding="utf-8") as stream:
            stream.write(f"\n## [{declared}] - 2026-02-01\n\n- More.\n")


def findings(root):
    return {f["rule"]: f for f in run_cli("validate", root, "--format", "json").json["findings"]}


def test_an_edit_of_no_component_moves_no_version(released):
    replace_in(released / "README.md", "It is tiny.", "It is small.")
    (released / "NOTES.md").write_text("later\n", encoding="utf-8")
    assert not findings(released).keys() & {"HFE501", "HFE505"}
    states = run_cli("status", released, "--format", "json").json["components"]
    assert {state["level"] for state in states.values()} == {"none"}


def test_a_version_reused_for_other_content(released):
    edit(released, HALVED)
    found = findings(released)["HFE501"]
    assert found["severity"] == "error"
    assert "still declares it; it needs 2.0.0 (major)" in found["message"]
    assert "reward/reward.py:4: score differs in its numbers alone" in found["message"]
    assert (found["pointer"], found["path"][-9:]) == ("/environment/reward/version", "README.md")
    assert found["fix"] == f"hfenv bump reward auto -m 'what changed' --path {released}"


def test_a_declared_bump_below_the_required_one(released):
    edit(released, HALVED)
    declare(released, "reward", "1.1.0")
    found = findings(released)
    assert "HFE501" not in found
    assert "reward declares 1.1.0 after 1.0.0 but needs 2.0.0 (major): reward/reward.py:4" in found["HFE505"]["message"]
    refused = run_cli("push", "local/adding", released, "--hub", "local")
    assert (refused.exit_code, "HFE505" in refused.stderr) == (1, True)
    declare(released, "reward", "2.0.0")
    assert findings(released) == {}


def unbumped(root):
    edit(root, HALVED)


def backwards(root):
    declare(root, "reward", "0.9.0")


def untold(root):
    edit(root, TEXT)
    declare(root, "reward", "1.0.1", entry=False)


def stranger(root):
    (root / "changelog" / "grader.md").write_text("# Changelog\n", encoding="utf-8")


def misspelt(root):
    edit(root, ("README.md", "spec:", "change_policy: {reward: {weight: major}}\n  spec:"))


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [(unbumped, "HFE501"), (backwards, "HFE502"), (untold, "HFE503"), (stranger, "HFE507"), (misspelt, "HFE508")],
)
def test_a_push_refuses_what_validation_calls_an_error(released, spoil, rule):
    spoil(released)
    before = (released / "release.json").read_bytes()
    refused = run_cli("push", "local/adding", released, "--hub", "local")
    assert (refused.exit_code, rule in refused.stderr) == (1, True)
    assert (released / "release.json").read_bytes() == before
    assert run_cli("changelog", "local/adding", "--hub", "local").exit_code == 4


def test_the_same_tasks_written_otherwise_are_a_patch(released):
    edit(released, ("tasks/train.jsonl", '", "', '","'))
    state = run_cli("status", released, "--format", "json").json["components"]["tasks"]
    assert [(change["kind"], change["level"]) for change in state["changes"]] == [("task-files", "patch")]
    assert state["required"] == "1.0.1"


@pytest.mark.parametrize(
    ("old", "new", "kind", "place"),
    [
        ("answer: target", "answer: grading", "field-role", "fields:"),
        (
            "train: tasks/train.jsonl, test",
            "train: tasks/train.jsonl, dev: tasks/dev.jsonl, test",
            "split-added",
            "splits:",
        ),
        ("train: tasks/train.jsonl, test", "training: tasks/train.jsonl, test", "split-removed", "splits:"),
    ],
)
def test_a_change_of_tasks_on_the_card_says_the_line(released, old, new, kind, place):
    (released / "tasks/dev.jsonl").write_text(DEV, encoding="utf-8")
    edit(released, ("README.md", old, new))
    state = run_cli("status", released, "--format", "json").json["components"]["tasks"]
    lines = (released / "README.md").read_text(encoding="utf-8").splitlines()
    (line,) = (change["line"] for change in state["changes"] if change["kind"] == kind)
    assert lines[line - 1].strip().startswith(place)


@pytest.mark.parametrize("declared", ["1.0.1", "1.1.0", "2.0.0", "1.0.1-rc.1"])
def test_any_higher_version_covers_a_change_of_text(released, declared):
    edit(released, TEXT)
    declare(released, "reward", declared)
    assert findings(released) == {}


def test_a_version_going_backwards(released):
    declare(released, "reward", "0.9.0")
    found = findings(released)["HFE502"]
    assert found["message"] == "reward declares 0.9.0, below the released 1.0.0"
    edit(released, HALVED)
    assert "HFE502" in findings(released)
    assert "HFE505" not in findings(released)


def test_a_missing_changelog_entry(released):
    declare(released, "reward", "1.0.1", entry=False)
    assert findings(released)["HFE503"]["message"] == "changelog/reward.md has no entry for reward 1.0.1"


def test_an_unknown_component(released):
    (released / "changelog" / "grader.md").write_text("# Changelog\n", encoding="utf-8")
    found = findings(released)["HFE507"]
    assert (found["path"][-9:], "code, tasks, reward" in found["fix"]) == ("grader.md", True)


@pytest.mark.parametrize(("declared", "gap"), [("1.0.2", True), ("1.2.0", True), ("3.0.0", True), ("2.0.0", False)])
def test_a_version_that_leaves_others_out(released, declared, gap):
    edit(released, TEXT)
    declare(released, "reward", declared)
    assert ("HFE506" in findings(released)) is gap


def test_code_that_cannot_be_parsed_is_not_judged(released):
    edit(released, ("reward/reward.py", "def score", "deff score"))
    assert "what changed can't be told" in findings(released)["HFE501"]["message"]
    state = run_cli("status", released, "--format", "json").json["components"]["reward"]
    assert "reward/reward.py" in state["unclear"]
    refused = run_cli("bump", "reward", "auto", "--path", released)
    assert (refused.exit_code, "reward/reward.py" in refused.stderr) == (3, True)


def test_a_record_without_meaning_makes_any_change_the_largest(released):
    path = released / "release.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    del record["algorithms"]["semantic"]
    path.write_text(json.dumps(record), encoding="utf-8")
    assert findings(released) == {}
    edit(released, TEXT)
    assert "needs 2.0.0 (major): release.json: what it meant wasn't recorded" in findings(released)["HFE501"]["message"]


@pytest.mark.parametrize("what", ["shape", "tasks"])
def test_a_damaged_meaning_is_named(released, what):
    path = released / "release.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    for component in record["components"].values():
        if what in component:
            component[what] = {"files": 3}
    path.write_text(json.dumps(record), encoding="utf-8")
    edit(released, TEXT, ("env/words.py", "much", "many"), ("tasks/train.jsonl", "train-0", "train-x"))
    assert "release.json, " in findings(released)["HFE504"]["message"]
    assert run_cli("status", released).exit_code == 3


class TestPolicy:
    def test_an_environment_tightens(self, released):
        edit(
            released,
            ("env/words.py", "much", "many"),
            ("README.md", "spec:", "change_policy: {code: {body: minor}}\n  spec:"),
        )
        assert "needs 1.1.0 (minor)" in findings(released)["HFE501"]["message"]
        assert "HFE510" not in findings(released)

    def test_loosening_is_printed_with_every_verdict(self, released):
        policy = "change_policy: {reward: {reward-number: minor}}\n  spec:"
        edit(released, HALVED, ("README.md", "spec:", policy))
        found = findings(released)
        assert "needs 1.1.0 (minor)" in found["HFE501"]["message"]
        said = "the card loosens what a change of reward needs: reward-number minor and not major"
        assert (found["HFE510"]["message"], found["HFE510"]["severity"]) == (said, "info")
        push = ("push", "local/adding", released, "--hub", "local")
        for command in (("status", released), ("bump", "reward", "--path", released), push):
            assert f"warning: {said}." in run_cli(*command).stderr

    def test_a_kind_that_there_is_not(self, released):
        edit(released, ("README.md", "spec:", "change_policy: {reward: {weight: major}}\n  spec:"))
        found = findings(released)["HFE508"]
        assert "reward.weight" in found["message"]
        assert "reward-number" in found["fix"]
        assert run_cli("status", released).exit_code == 3


class TestProbes:
    def test_without_probes_a_helper_counts_as_the_behaviour(self, released):
        edit(released, HELPER)
        declare(released, "reward", "1.0.1")
        assert "needs 2.0.0 (major)" in findings(released)["HFE505"]["message"]

    def test_a_patch_rests_on_probes_until_they_were_replayed(self, probed):
        edit(probed, HELPER)
        assert "needs 2.0.0 (major)" in findings(probed)["HFE501"]["message"]
        declare(probed, "reward", "1.0.1")
        found = findings(probed)
        assert set(found) == {"HFE509"}
        assert (found["HFE509"]["severity"], found["HFE509"]["fix"][:20]) == ("warning", "hfenv status --probe")
        state = run_cli("status", probed, "--probe", "--format", "json").json["components"]["reward"]
        assert (state["level"], state["probed"], state["satisfied"]) == ("patch", "unchanged on 3 probes", True)
        assert run_cli("push", "local/adding", probed, "--hub", "local").exit_code == 0

    def test_bump_auto_says_what_the_probes_showed(self, probed):
        edit(probed, HELPER)
        result = run_cli("bump", "--path", probed, "--format", "json").json["bumps"]
        assert [(b["component"], b["version"], b["probed"]) for b in result] == [
            ("reward", "1.0.1", "unchanged on 3 probes")
        ]
        assert "Scores are unchanged on 3 probes." in (probed / "changelog/reward.md").read_text(encoding="utf-8")

    def test_a_patch_whose_probes_move_is_refused_by_push(self, probed):
        edit(probed, ("reward/reward.py", "if not said.isdigit():", "if not said.isalnum():"))
        declare(probed, "reward", "1.0.1")
        assert set(findings(probed)) == {"HFE509"}
        refused = run_cli("push", "local/adding", probed, "--hub", "local")
        assert refused.exit_code == 1
        assert "1 of 3 probes expect other scores" in refused.stderr
        state = run_cli("status", probed, "--probe", "--format", "json").json["components"]["reward"]
        assert state["required"] == "2.0.0"
        (moved,) = [change for change in state["changes"] if change["kind"] == "probe-moved"]
        assert "total -1 -> 0" in moved["message"]

    def test_a_bump_that_covers_the_change_takes_the_new_scores_over(self, probed):
        edit(probed, HALVED)
        low = run_cli("bump", "reward", "patch", "-m", "Milder", "--path", probed)
        assert "is below what the change needs, 2.0.0 (major)" in low.stderr
        assert (probed / "reward/probes.jsonl").read_text(encoding="utf-8") == PROBES
        assert run_cli("bump", "reward", "auto", "-m", "Milder", "--path", probed).exit_code == 0
        lines = (probed / "reward/probes.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["expected"]["total"] for line in lines] == [1.0, 0.0, -0.5]
        assert findings(probed) == {}
        assert run_cli("push", "local/adding", probed, "--hub", "local").exit_code == 0
        edit(probed, HELPER)
        state = run_cli("status", probed, "--probe", "--format", "json").json["components"]["reward"]
        assert (state["level"], state["probed"]) == ("patch", "unchanged on 3 probes")

    def test_a_reward_that_depends_on_chance_is_an_error(self, probed):
        edit(
            probed,
            ("reward/reward.py", "import hfenv\n", "import random\nimport hfenv\n"),
            ("reward/reward.py", "return hfenv.Score(float(", "return hfenv.Score(random.random() * float("),
        )
        for command in (("status", probed, "--probe"), ("bump", "--path", probed)):
            result = run_cli(*command)
            assert (result.exit_code, "scored differently in two runs" in result.stderr) == (1, True)

    def test_probes_of_a_reward_for_groups_stop_no_push_and_lower_nothing(self, tmp_path):
        root = write_environment(tmp_path / "adding", files={"reward/probes.jsonl": PROBES})
        group = "\n\ndef score_group(task, transcripts):\n    return [score(task, one) for one in transcripts]\n"
        (root / "reward/reward.py").write_text((root / "reward/reward.py").read_text(encoding="utf-8") + group)
        edit(root, ("README.md", "range: [-1.0, 1.0]}", "range: [-1.0, 1.0], scope: group}"))
        assert run_cli("push", "local/adding", root, "--hub", "local").exit_code == 0
        edit(root, HELPER)
        state = run_cli("status", root, "--probe", "--format", "json").json["components"]["reward"]
        assert (state["level"], state["probed"]) == ("major", None)

    def test_validate_runs_nothing_of_the_reward(self, probed, tmp_path):
        mark = tmp_path / "ran"
        edit(probed, ("reward/reward.py", "import hfenv\n", f"import hfenv\nopen({str(mark)!r}, 'w').close()\n"))
        for command in (("validate", probed), ("status", probed)):
            run_cli(*command)
        assert not mark.exists()


class TestVersions:
    @pytest.mark.parametrize(
        ("out", "declared", "fine"),
        [
            ("0.3.0", "0.3.1", False),
            ("0.3.0", "0.4.0", True),  # below 1.0.0, a minor version may break
            ("1.2.0-rc.1", "1.2.0-rc.2", False),  # announces a minor step
            ("1.2.0-rc.1", "2.0.0-rc.1", True),
            ("2.0.0-rc.1", "2.0.0-rc.2", True),
            ("2.0.0-rc.1", "2.0.0", True),
            ("1.0.0", "2.0.0-rc.1", True),
        ],
    )
    def test_candidates_and_versions_below_one(self, tmp_path, out, declared, fine):
        root = write_environment(tmp_path / "adding")
        declare(root, "reward", out)
        release(root)
        edit(root, HALVED)
        declare(root, "reward", declared)
        assert ("HFE505" not in findings(root)) is fine

    def test_bump_follows(self, tmp_path):
        root = write_environment(tmp_path / "adding")
        declare(root, "reward", "0.3.0")
        release(root)
        edit(root, HALVED)
        (done,) = run_cli("bump", "--path", root, "--format", "json").json["bumps"]
        assert (done["version"], done["required"], done["drafted"]) == ("0.4.0", "major", True)

    def test_a_release_knows_those_before_it(self, released):
        edit(released, HALVED)
        run_cli("bump", "--path", released)
        release(released)
        edit(released, TEXT)
        run_cli("bump", "--path", released)
        release(released)
        record = read_record(released)
        assert [each.reward for each in record.history] == ["1.0.0", "2.0.0"]
        assert (record.release, record.components[Component.REWARD].version) == ("2.0.1", "2.0.1")


def test_a_push_that_cannot_bump_everything_bumps_nothing(released):
    edit(released, HALVED, ("env/words.py", "much", "many"))
    (released / "tasks" / "test.jsonl").write_text("{\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in released.rglob("*.md")}
    outcome = run_cli("push", "me/adding", released, "--hub", "local", "--bump", "auto")
    assert outcome.exit_code != 0
    assert "tasks/test.jsonl:1" in outcome.stderr
    assert {path: path.read_bytes() for path in released.rglob("*.md")} == before


def test_a_push_under_a_looser_policy_says_so(released, tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    edit(released, ("README.md", "spec:", "change_policy: {code: {prompt: minor}}\n  spec:"))
    outcome = run_cli("push", "me/adding", released, "--hub", "local")
    assert "warning: the card loosens what a change of code needs: prompt minor and not major." in outcome.stderr


@pytest.mark.parametrize("value", ["[patch]", "{level: {a: b}}", "{other: patch}", "huge"])
def test_a_policy_in_no_form_is_told_the_form(released, value):
    edit(released, ("README.md", "spec:", f"change_policy: {{code: {{prompt: {value}}}}}\n  spec:"))
    found = findings(released)
    assert any("patch, minor or major" in finding["fix"] for finding in found.values())


def test_signs_that_a_terminal_obeys_are_shown_in_evidence_and_draft(released):
    edit(released, ("reward/reward.py", "import hfenv\n", 'import hfenv\n\nNAME = "\u202e\x7f"\n'))
    (released / "env" / "a\u202eb.txt").write_text("x", encoding="utf-8")
    status, bump = run_cli("status", released), run_cli("bump", "--path", released)
    written = "".join(
        (released / "changelog" / f"{name}.md").read_text(encoding="utf-8") for name in ("reward", "code")
    )
    for text in (status.stdout, bump.stdout, written):
        assert "\\u202e" in text
        assert not {"\u202e", "\x7f"} & set(text)


def test_a_version_that_no_tag_can_hold_is_found_on_the_card(released):
    declare(released, "code", "1" * 5000 + ".0.0")
    assert "at most 100" in findings(released)["HFE107"]["message"]
    assert run_cli("status", released).exit_code == 3
