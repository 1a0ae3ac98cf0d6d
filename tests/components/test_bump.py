"""Status, bump and changelog on a folder whose last release is recorded."""

from __future__ import annotations

import pytest

from hfenv.card.reader import manifest, read_card
from hfenv.components.bump import bump
from hfenv.components.changelog import entries, read_changelog
from hfenv.components.ownership import Component
from hfenv.components.release import parse_record, read_record
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import status
from hfenv.errors import ConflictError, UnreadableError
from tests.support import release, replace_in, run_cli, write_environment


@pytest.fixture
def released(tmp_path):
    """An environment just after its first release."""
    root = write_environment(tmp_path / "adding", files={"env/run.sh": "#!/bin/sh\n"})
    (root / "env" / "run.sh").chmod(0o755)
    return release(root)


def changed(root):
    return {n for n, c in run_cli("status", root, "--format", "json").json["components"].items() if c["changed"]}


def version(root, component):
    return getattr(manifest(read_card(root / "README.md")), component).version


def test_a_fresh_release_has_not_changed(released):
    assert changed(released) == set()


@pytest.mark.parametrize("path", ["LICENSE", "audit/policies.py", "changelog/code.md", "tests/test_x.py"])
def test_files_of_no_component_change_nothing(released, path):
    (released / path).parent.mkdir(exist_ok=True)
    (released / path).write_text("other\n", encoding="utf-8")
    assert changed(released) == set()


def test_prose_and_descriptions_change_nothing(released):
    replace_in(released / "README.md", "It is tiny.", "It is very small.")
    replace_in(released / "README.md", "description: the sum", "description: a number")
    assert changed(released) == set()


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("reward/reward.py", "-1.0", "-0.5", ("reward", "reward-number", "2.0.0")),
        ("env/words.py", "much", "many", ("code", "body", "1.0.1")),
        ("tasks/test.jsonl", "19", "20", ("tasks", "task-edited", "2.0.0")),
        ("README.md", "max_steps: 1", "max_steps: 2", ("code", "max-steps-raised", "2.0.0")),
        ("README.md", "[-1.0, 1.0]", "[-2.0, 1.0]", ("reward", "reward-range", "2.0.0")),
    ],
)
def test_status_names_the_component_the_place_and_the_level(released, path, old, new, expected):
    component, kind, required = expected
    replace_in(released / path, old, new)
    result = run_cli("status", released, "--format", "json").json["components"]
    assert changed(released) == {component}
    assert result[component]["files"] == [{"path": path, "kind": "edited"}]
    (change,) = result[component]["changes"]
    assert (change["path"], change["kind"], change["line"] > 0) == (path, kind, True)
    assert result[component]["required"] == required


def test_a_lost_executable_bit_is_no_change_and_a_new_one_is(released):
    assert run_cli("validate", released, "--format", "json").json["findings"] == []
    (released / "env" / "run.sh").chmod(0o644)
    assert changed(released) == set()
    (lost,) = run_cli("validate", released, "--format", "json").json["findings"]
    assert (lost["rule"], lost["severity"], lost["fix"]) == ("HFE207", "warning", "chmod +x env/run.sh")
    (released / "env" / "words.py").chmod(0o755)
    assert changed(released) == {"code"}


def test_bumping_twice_does_not_climb_twice(released):
    replace_in(released / "reward/reward.py", "-1.0", "-0.5")
    before = (released / "README.md").read_text(encoding="utf-8")
    for message in ("Halve the penalty", "Really halve it"):
        assert run_cli("bump", "reward", "minor", "-m", message, "--path", released).exit_code == 0
    assert version(released, "reward") == "1.1.0"
    after = (released / "README.md").read_text(encoding="utf-8")
    assert after == before.replace('reward: {version: "1.0.0"', 'reward: {version: "1.1.0"')
    log = entries(read_changelog(released, Component.REWARD))
    assert [entry.version for entry in log] == ["1.1.0", "1.0.0"]
    assert "Halve the penalty" in log[0].body
    assert "Really halve it" in log[0].body


def test_a_higher_bump_later_moves_the_unreleased_heading(released):
    replace_in(released / "reward/reward.py", "-1.0", "-0.5")
    run_cli("bump", "reward", "patch", "-m", "A patch", "--path", released)
    run_cli("bump", "reward", "major", "-m", "After all more", "--path", released)
    log = entries(read_changelog(released, Component.REWARD))
    assert [entry.version for entry in log] == ["2.0.0", "1.0.0"]
    assert "A patch" in log[0].body
    run_cli("bump", "reward", "minor", "-m", "Less again", "--path", released)
    assert version(released, "reward") == "2.0.0"


def test_bump_without_a_component_takes_every_changed_one(released):
    replace_in(released / "reward/reward.py", "-1.0", "-0.5")
    replace_in(released / "env/words.py", "much", "many")
    result = run_cli("bump", "-m", "Two things", "--path", released, "--format", "json").json
    assert {b["component"]: b["version"] for b in result["bumps"]} == {"code": "1.0.1", "reward": "2.0.0"}
    assert version(released, "tasks") == "1.0.0"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["reward", "1.0.0"], 2, "isn't above"),
        (["reward", "0.9.0"], 2, "isn't above"),
        (["reward", "banana"], 2, "neither a component nor a step"),
        (["reward", "1.0"], 2, "no semantic version"),
        (["reward", "1.1.0+x"], 2, "build metadata"),
        (["banana"], 2, "neither a component nor a step"),
        (["2.0.0"], 2, "one component only"),
        (["rewrd", "minor"], 2, "no component"),
        (["reward", "auto"], 2, "hasn't changed"),
        (["reward", "minor", "extra"], 2, "one word too many"),
    ],
)
def test_bump_refuses(released, words, code, says):
    before = (released / "README.md").read_bytes()
    result = run_cli("bump", *words, "-m", "x", "--path", released)
    assert (result.exit_code, says in result.stderr) == (code, True), result.stderr
    assert (released / "README.md").read_bytes() == before


def test_bump_needs_a_message(released):
    assert run_cli("bump", "reward", "minor", "--path", released).exit_code == 2


def test_before_the_first_release_a_bump_only_writes_the_changelog(tmp_path):
    root = write_environment(tmp_path / "adding")
    assert run_cli("bump", "code", "minor", "-m", "Better words", "--path", root).exit_code == 0
    assert version(root, "code") == "1.0.0"
    assert "Better words" in read_changelog(root, Component.CODE)
    assert run_cli("bump", "code", "0.3.0", "-m", "Start lower", "--path", root).exit_code == 0
    assert version(root, "code") == "0.3.0"
    assert [entry.version for entry in entries(read_changelog(root, Component.CODE))] == ["0.3.0"]


def test_crlf_changelogs_stay_crlf(released):
    path = released / "changelog" / "code.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    run_cli("bump", "code", "patch", "-m", "One", "--path", released)
    text = path.read_bytes()
    assert b"1.0.1" in text
    assert text.count(b"\n") == text.count(b"\r\n")


def test_a_record_reads_back_as_it_was_written(released):
    record = read_record(released)
    assert parse_record(record.to_bytes(), "x") == record
    assert record.to_bytes() == (released / "release.json").read_bytes()


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": 9, "algorithms": {"exact": "x"}}'])
def test_a_damaged_record_is_one_sentence(released, content):
    (released / "release.json").write_bytes(content)
    with pytest.raises(UnreadableError):
        read_record(released)
    assert run_cli("status", released).exit_code == 3


def test_changelog_prints_one_or_all(released):
    assert run_cli("changelog", "code", "--path", released).stdout.count("## [1.0.0]") == 1
    assert run_cli("changelog", "--path", released).stdout.count("## [1.0.0]") == 3
    assert run_cli("changelog", "banana", "--path", released).exit_code == 2


@pytest.mark.parametrize(
    "hidden",
    [
        "```markdown\n## [1.0.1] - someday\n- x\n```",
        "~~~\n## [1.0.1]\n~~~",
        "<!--\n## [1.0.1]\n-->",
        "```\n## [1.0.1] in a fence that never ends\n",
    ],
)
def test_a_heading_that_markdown_does_not_show_is_no_entry(released, hidden):
    path = released / "changelog" / "code.md"
    path.write_bytes(f"# Changelog\n\n## [1.0.0] - 2026-01-01\n\n{hidden}".encode())
    replace_in(released / "env/words.py", "How much", "What")
    assert run_cli("bump", "code", "patch", "-m", "Ask anew", "--path", released).exit_code == 0
    text = path.read_bytes().decode()
    assert text.endswith(hidden), "what stands in the fence stays as it is"
    assert text.index("- Ask anew") < text.index("## [1.0.0]")
    shown = run_cli("changelog", "code", "--path", released, "--format", "json").json
    assert [entry["version"] for entry in shown["components"]["code"]] == ["1.0.1", "1.0.0"]


def test_a_draft_gives_way_to_the_next_one_and_an_entry_of_ones_own_does_not(released):
    def log():
        return entries(read_changelog(released, Component.REWARD))[0].body

    replace_in(released / "reward/reward.py", "-1.0, {", "-0.5, {")
    run_cli("bump", "--path", released)
    assert "- Breaking: score differs in its numbers alone" in log()
    run_cli("bump", "reward", "-m", "Milder", "--path", released)
    first = log()
    assert "- Milder" in first
    assert "numbers alone" in first
    replace_in(released / "reward/reward.py", "if not said.isdigit():", "if not said.isalnum():")
    run_cli("bump", "--path", released)
    assert log().count("Breaking: ") == len(status_changes(released, "reward"))
    assert "- Milder" in log()
    path = released / "changelog/reward.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("the body of score changed", "another test"), encoding="utf-8"
    )
    run_cli("bump", "--path", released)
    assert "another test" in log()  # edited, and so the author's own


def status_changes(root, component):
    return run_cli("status", root, "--format", "json").json["components"][component]["changes"]


def test_a_draft_leaves_no_empty_group(released):
    def body():
        run_cli("bump", "--path", released)
        return entries(read_changelog(released, Component.TASKS))[0].body

    with (released / "tasks/train.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"id": "more", "question": "8 + 9?", "answer": "17", "difficulty": "easy"}\n')
    assert body() == "### Added\n\n- 1 train task added: more (tasks/train.jsonl)."
    replace_in(released / "tasks/train.jsonl", '"8 + 9?"', '"9 + 8?"')
    replace_in(released / "tasks/test.jsonl", '"19"', '"20"')
    again = body()
    assert again.startswith("### Changed\n\n- Breaking: 1 test task edited")
    assert "\n\n\n" not in again


def test_a_card_that_was_edited_meanwhile_is_left_alone(released):
    replace_in(released / "reward" / "reward.py", "-1.0", "-0.5")
    folder = Snapshot.of(released)
    states = status(folder)
    replace_in(released / "README.md", "It is tiny.", "It is small.")
    edited = {path: (released / path).read_bytes() for path in ("README.md", "changelog/reward.md")}
    with pytest.raises(ConflictError, match=r"README\.md changed"):
        bump(folder, states, None, step="auto", message="", today="2026-01-01")
    assert {path: (released / path).read_bytes() for path in edited} == edited
