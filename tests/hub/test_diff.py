"""`hfenv diff`: the verdict, what differs, how little is fetched for it, and what hostile or broken sides do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml

from hfenv.diffing.comparing import compare_references
from hfenv.hub.client import connect
from hfenv.hub.references import parse_reference
from tests.arithmetic import GENERATOR, write_arithmetic
from tests.support import CARD, replace_in, run_cli, write_environment

REPO = "local/adding"
SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "diff-v1.yaml"
VALID = jsonschema.Draft202012Validator(yaml.safe_load(SCHEMA.read_text(encoding="utf-8")))


def diff(*args, code=0):
    """What the command prints as JSON, held to its schema."""
    result = run_cli("diff", *args, "--format", "json")
    assert result.exit_code == code, result.stderr
    VALID.validate(result.json)
    return result.json


def verdict(*args):
    return diff(*args)["comparable"]["line"].removeprefix("comparable: ")


def release(root, **bumps):
    for component, level in bumps.items():
        result = run_cli("bump", component, level, "-m", f"A {level} of {component}", "--path", root)
        assert result.exit_code == 0, result.stderr
    result = run_cli("push", REPO, root, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return result.json["revision"]


def upload(path, content):
    """An edit made on the hub, without a release; returns the commit."""
    with connect("local") as hub:
        done = hub.api.upload_file(path_or_fileobj=content, path_in_repo=path, repo_id=REPO, repo_type="dataset")
        return done.oid


@pytest.fixture
def edited(pushed):
    """1.0.0, and 2.0.0 with another reward, a test task edited and one train task with another grade."""
    root, _ = pushed
    replace_in(root / "reward/reward.py", "-1.0", "-0.5")
    replace_in(root / "tasks/test.jsonl", '"19"', '"20"')
    replace_in(root / "tasks/train.jsonl", '"easy"', '"hard"')
    release(root, reward="major", tasks="major")
    return root


def test_it_opens_with_whether_numbers_fit_together(edited):
    shown = run_cli("diff", f"{REPO}@1.0.0", f"{REPO}@2.0.0").stdout
    line = "comparable: no, reward 1.0.0 -> 2.0.0, 1 of 4 test tasks edited"
    assert shown.splitlines()[0] == line
    assert run_cli("diff", f"{REPO}@1.0.0", f"{REPO}@2.0.0", "--format", "quiet").stdout == line + "\n"
    assert "code       1.0.0  1.0.0  -      the same" in shown
    assert 'edited  test   test-12  answer (target): "19" -> "20"' in shown
    assert '+        return hfenv.Score(-0.5, {"form": -1.0}, status="agent_fault")' in shown
    found = diff(f"{REPO}@1.0.0", f"{REPO}@2.0.0")
    assert found["comparable"]["splits"]["train"]["comparable"]
    assert found["rows"]["counts"] == {"train": {"meta": 1}, "test": {"edited": 1}}
    assert {name: one["level"] for name, one in found["components"].items()} == {
        "code": None, "tasks": "major", "reward": "major",
    }  # fmt: skip
    assert [change["line"] for change in found["components"]["reward"]["changes"]] == [4]
    assert "\n-        return hfenv.Score(-1.0" in found["components"]["reward"]["files"][0]["patch"]


def test_the_verdict_does_not_depend_on_the_order(edited):
    assert verdict(f"{REPO}@2.0.0", f"{REPO}@1.0.0") == "no, reward 2.0.0 -> 1.0.0, 1 of 4 test tasks edited"
    replace_in(edited / "README.md", "{type: text, description: the sum}", "{type: text, extract: boxed}")
    release(edited, code="major")
    replace_in(edited / "README.md", "max_steps: 1}", "max_steps: 1, step_timeout_s: 5}")
    release(edited, code="major")
    pairs = [("3.0.0", "2.0.0"), ("4.0.0", "3.0.0")]
    for one, other in pairs:
        verdicts = [
            diff(f"{REPO}@{a}", f"{REPO}@{b}")["comparable"]["verdict"] for a, b in ((one, other), (other, one))
        ]
        assert verdicts == ["no", "no"]


def test_widening_is_comparable_from_both_sides(pushed):
    root, _ = pushed
    replace_in(root / "README.md", "max_steps: 1}", "max_steps: 1, step_timeout_s: 5}")
    release(root, code="major")
    replace_in(root / "README.md", "step_timeout_s: 5", "step_timeout_s: 9")
    release(root, code="minor")
    reason = "yes, the same test tasks, code {} needs no major version"
    assert verdict(f"{REPO}@2.0.0", f"{REPO}@2.1.0") == reason.format("2.0.0 -> 2.1.0")
    assert verdict(f"{REPO}@2.1.0", f"{REPO}@2.0.0") == reason.format("2.1.0 -> 2.0.0")


def test_a_major_version_by_its_author_counts_though_no_change_is_seen_to_need_it(pushed):
    root, _ = pushed
    replace_in(root / "env/environment.py", "str(action).strip()", "str(action).strip().lower()")
    release(root, code="major")
    found = diff(f"{REPO}@1.0.0", f"{REPO}@2.0.0")
    assert found["components"]["code"]["level"] == "patch"
    assert found["comparable"]["line"] == "comparable: no, code 1.0.0 -> 2.0.0"


def test_what_is_the_same_is_not_fetched(home, edited):
    replace_in(edited / "reward/reward.py", "-0.5", "-0.25")
    release(edited, reward="major")
    shutil.rmtree(home / "cache", ignore_errors=True)
    with connect("local") as hub:
        before = hub.requests
        found = compare_references(hub, parse_reference(f"{REPO}@2.0.0"), parse_reference(f"{REPO}@3.0.0"))
        # Of each side the refs, the tree, card and record, and the one file of the reward.
        assert hub.requests - before == 2 * (1 + 1 + 2 + 1)
    assert found.comparable.line == "comparable: no, reward 2.0.0 -> 3.0.0"
    fetched = {path.name for path in (home / "cache").rglob("files/**/*") if path.is_file()}
    assert fetched == {"README.md", "release.json", "reward.py"}
    with connect("local") as hub:
        commit = found.components["reward"].commits[0]
        compare_references(hub, parse_reference(f"{REPO}@{commit}"), parse_reference(f"{REPO}@{commit}"))
        assert hub.requests == 0


def test_the_same_twice(edited):
    for sides in ((REPO, REPO), (edited, edited), (edited, REPO), (f"{REPO}@main", f"{REPO}@2.0.0")):
        found = diff(*sides)
        assert found["comparable"]["line"] == "comparable: yes, code, tasks and reward are the same"
        assert all(one["same"] for one in found["components"].values())
        assert found["rows"]["total"] == 0


def test_an_edit_on_the_hub_that_the_record_does_not_know_is_seen(edited):
    head = upload("reward/reward.py", (edited / "reward/reward.py").read_bytes().replace(b"-0.5", b"-0.9"))
    found = diff(f"{REPO}@2.0.0", f"{REPO}@{head}")
    assert found["comparable"]["line"] == "comparable: no, reward 2.0.0 edited"
    assert (found["new"]["release"], found["new"]["note"]) == (None, "reward changed since release 2.0.0")
    assert "is no release: reward changed" in run_cli("diff", REPO, f"{REPO}@{head}").stderr


def test_a_folder_without_a_record_and_one_that_was_edited(edited, tmp_path):
    fresh = write_environment(tmp_path / "fresh")
    found = diff(fresh, f"{REPO}@1.0.0")
    assert found["comparable"]["verdict"] == "yes"
    assert found["old"]["note"] == "no release record, so that it is no release"
    replace_in(edited / "tasks/train.jsonl", '"7"', '"8"')
    assert verdict(f"{REPO}@2.0.0", edited) == "yes, the same 4 test tasks"
    test = edited / "tasks/test.jsonl"
    test.write_bytes(b"".join(reversed(test.read_bytes().splitlines(keepends=True))))
    assert [c["kind"] for c in diff(f"{REPO}@2.0.0", edited)["components"]["tasks"]["changes"]] == [
        "task-edited", "task-order",
    ]  # fmt: skip


def test_components_mixed_from_several_revisions(edited):
    mixed = f"{REPO}@code=1.0.0,tasks=2.0.0,reward=1.0.0"
    found = diff(f"{REPO}@1.0.0", mixed)
    assert found["comparable"]["line"] == "comparable: no, 1 of 4 test tasks edited"
    assert found["new"]["note"] == "components of several releases"
    assert len({one["revision"] for one in found["new"]["components"].values()}) == 2


def test_splits_are_told_apart(edited):
    card = edited / "README.md"
    replace_in(card, "test: tasks/test.jsonl}", "test: tasks/test.jsonl, more: tasks/more.jsonl}")
    (edited / "tasks/more.jsonl").write_text(
        '{"id": "m1", "question": "1?", "answer": "1", "difficulty": "easy"}\n', encoding="utf-8"
    )
    release(edited, tasks="minor")
    assert verdict(f"{REPO}@2.0.0", f"{REPO}@2.1.0") == "yes, the same 4 test tasks"
    (edited / "tasks/more.jsonl").write_text(
        '{"id": "m1", "question": "1?", "answer": "2", "difficulty": "easy"}\n', encoding="utf-8"
    )
    release(edited, tasks="major")
    found = diff(f"{REPO}@2.1.0", f"{REPO}@3.0.0")
    assert found["comparable"]["line"] == "comparable: on test only; 1 of 1 more task edited"
    assert found["comparable"]["verdict"] == "partly"
    replace_in(card, "test: tasks/test.jsonl, more: tasks/more.jsonl}", "exam: tasks/more.jsonl}")
    (edited / "tasks/test.jsonl").unlink()
    release(edited, tasks="major")
    found = diff(f"{REPO}@3.0.0", f"{REPO}@4.0.0")
    # No evaluation split is left on both sides, so that training counts.
    assert found["comparable"]["line"] == "comparable: yes, the same 12 train tasks"
    splits = found["comparable"]["splits"]
    assert {name: one["on_both"] for name, one in splits.items()} == {
        "train": True, "exam": False, "test": False, "more": False,
    }  # fmt: skip
    assert splits["exam"]["reason"] == "only the second side has a split 'exam'"


def test_files_that_are_renamed_binary_or_large(edited):
    text = (edited / "reward/reward.py").read_text(encoding="utf-8")
    for path in ("reward/a.bin", "reward/b.bin"):
        (edited / path).write_bytes(b"\0" + path.encode())
    (edited / "reward/large.txt").write_text("x\n" * 600_000, encoding="utf-8")
    (edited / "reward/latin.txt").write_bytes(b"caf\xe9\n")
    release(edited, reward="major")
    (edited / "reward/b.bin").rename(edited / "reward/c.bin")
    (edited / "reward/a.bin").write_bytes(b"\0other")
    (edited / "reward/large.txt").write_text("y\n" * 600_000, encoding="utf-8")
    (edited / "reward/latin.txt").write_bytes(b"th\xe9\n")
    (edited / "reward/reward.py").unlink()
    (edited / "reward/judge.py").write_text(text.replace("-0.5", "-0.75"), encoding="utf-8")
    replace_in(edited / "README.md", "reward/reward.py:score", "reward/judge.py:score")
    release(edited, reward="major")
    files = {one["path"]: one for one in diff(f"{REPO}@3.0.0", f"{REPO}@4.0.0")["components"]["reward"]["files"]}
    assert {path: (one["kind"], one["before_path"]) for path, one in files.items()} == {
        "reward/a.bin": ("edited", "reward/a.bin"),
        "reward/c.bin": ("renamed", "reward/b.bin"),
        "reward/judge.py": ("renamed", "reward/reward.py"),
        "reward/large.txt": ("edited", "reward/large.txt"),
        "reward/latin.txt": ("edited", "reward/latin.txt"),
    }
    assert files["reward/a.bin"]["unseen"] == "binary"
    assert "1,200,000 bytes" in files["reward/large.txt"]["unseen"]
    assert files["reward/judge.py"]["patch"].count("\n-") == 1 + 0 * len(text)
    assert "+th\ufffd" in files["reward/latin.txt"]["patch"]


def test_patches_have_a_bound_together_and_many_renames_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr("hfenv.diffing.files._MOST_PATCHES", 1500)
    words = [f"word {n}\n" * 100 for n in range(300)]
    old = write_environment(tmp_path / "old", files={f"reward/old-{n}.txt": text for n, text in enumerate(words)})
    new = write_environment(tmp_path / "new", files={f"reward/new-{n}.txt": text for n, text in enumerate(words)})
    files = diff(old, new)["components"]["reward"]["files"]
    assert {(one["kind"], one["path"].replace("new", "old") == one["before_path"]) for one in files} == {
        ("renamed", True)
    }
    shutil.copytree(new, tmp_path / "more")
    for n in range(3):
        (tmp_path / f"more/reward/new-{n}.txt").write_text("x\n" * 200, encoding="utf-8")
    files = diff(new, tmp_path / "more")["components"]["reward"]["files"]
    assert [(bool(one["patch"]), bool(one["unseen"])) for one in files] == [(True, False), (False, True), (False, True)]


def test_the_lines_of_code_are_shown_when_asked_for(pushed):
    root, _ = pushed
    replace_in(root / "env/words.py", "much", "many")
    (root / "env/more.py").write_text("MORE = 1\n", encoding="utf-8")
    release(root, code="major")
    sides = (f"{REPO}@1.0.0", f"{REPO}@2.0.0")
    files = diff(*sides)["components"]["code"]["files"]
    assert [(one["kind"], one["path"], one["patch"]) for one in files] == [
        ("added", "env/more.py", None), ("edited", "env/words.py", None),
    ]  # fmt: skip
    patch = diff(*sides, "--code")["components"]["code"]["files"][1]["patch"]
    assert patch == '--- env/words.py\n+++ env/words.py\n@@ -1 +1 @@\n-ASK = "How much is "\n+ASK = "How many is "\n'
    assert "+MORE = 1" in run_cli("diff", *sides, "--code").stdout


def test_card_and_packages(edited):
    card = edited / "README.md"
    replace_in(card, "license: apache-2.0", "license: mit")
    replace_in(card, "description: the sum", "description: a number")
    replace_in(card, "## Limitations\nIt is tiny.", "## Limitations\nIt is small.\n\n## More\nWords.")
    replace_in(card, "limits: {max_steps: 1}", 'limits: {max_steps: 1}\n  requires: {packages: ["tqdm>=4"]}')
    (edited / "LICENSE").write_text("MIT\n", encoding="utf-8")
    release(edited, code="patch")
    found = diff(f"{REPO}@2.0.0", f"{REPO}@2.0.1")
    assert {one["key"]: (one["before"], one["after"]) for one in found["card"]["keys"]} == {
        "license": ('"apache-2.0"', '"mit"'),
        "environment.action.description": ('"the sum"', '"a number"'),
    }
    sections = {(one["kind"], one["title"]) for one in found["card"]["sections"]}
    assert sections == {("added", "More"), ("edited", "Limitations")}
    assert [one["path"] for one in found["card"]["files"]] == ["LICENSE", "changelog/code.md"]
    (package,) = found["packages"]
    assert (package["name"], package["required_before"], package["required_after"]) == ("tqdm", None, "tqdm>=4")
    assert package["resolved_after"]
    assert "tqdm" in run_cli("diff", f"{REPO}@2.0.0", f"{REPO}@2.0.1").stdout


def test_many_rows_are_counted_and_written_but_not_shown(pushed, tmp_path):
    root, _ = pushed
    rows = [json.loads(line) for line in (root / "tasks/train.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps({**row, "answer": "none"}) + "\n" for row in rows]
    (root / "tasks/train.jsonl").write_text("".join(lines), encoding="utf-8")
    out = tmp_path / "rows.jsonl"
    sides = (f"{REPO}@1.0.0", root)
    assert "and 9 more" in run_cli("diff", *sides, "--rows", "3").stdout
    found = diff(*sides, "--rows", "3", "--rows-out", out)
    assert (found["rows"]["total"], len(found["rows"]["shown"])) == (12, 3)
    written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert written[:3] == found["rows"]["shown"]
    assert [row["id"] for row in written] == [row["id"] for row in rows]
    assert diff(*sides, "--rows", "0")["rows"]["shown"] == []
    assert run_cli("diff", *sides, "--rows", "-1").exit_code == 2
    for place in (tmp_path, tmp_path / "nowhere" / "x.jsonl"):
        result = run_cli("diff", *sides, "--rows-out", place)
        assert (result.exit_code, result.stderr.startswith("error: ")) == (2, True)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".hfenv-")] == []


SECRET = "hf_" + "aB3" * 12
HOSTILE = "\x1b[2J\u202e\r::error::x\x07"


def test_hostile_ids_values_names_and_sources_move_no_cursor(pushed, tmp_path):
    root, _ = pushed
    rows = [
        {"id": f"{HOSTILE}{n}", "question": HOSTILE * 99, "answer": f"{HOSTILE} {SECRET}", HOSTILE: n} for n in range(4)
    ]
    (root / "tasks/test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    replace_in(
        root / "reward/reward.py", "import hfenv", f'import hfenv\n\nWORD = "{HOSTILE} {SECRET}"'.replace("\r", "")
    )
    (root / "reward/::error::x.txt".replace(":", "_")).write_text("::error::x\n", encoding="utf-8")
    replace_in(root / "README.md", "license: apache-2.0", f"license: {json.dumps(HOSTILE)}\n{json.dumps(HOSTILE)}: 1")
    replace_in(root / "README.md", "## Limitations", f"## Limits {HOSTILE}".replace("\r", ""))
    out = tmp_path / "rows.jsonl"
    result = run_cli("diff", f"{REPO}@1.0.0", root, "--code", "--rows-out", out)
    assert result.exit_code == 0, result.stderr
    for text in (result.stdout, result.stderr, out.read_text(encoding="utf-8")):
        assert not {"\x1b", "\u202e", "\r", "\x07", "\t"} & set(text)
        assert "hf_aB3aB3aB3" not in text
    assert not [line for line in result.stdout.splitlines() if line.lstrip().startswith("::")]
    found = run_cli("diff", f"{REPO}@1.0.0", root, "--format", "json")
    VALID.validate(found.json)
    assert not {"\x1b", "\u202e", "\r", "\x07"} & set(found.stdout)
    assert "hf_aB3aB3aB3" not in found.stdout


def test_values_of_ten_megabytes(pushed):
    root, _ = pushed
    row = {"id": "test-12", "question": "a" * (10 << 20), "answer": "19"}
    (root / "tasks/test.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    found = run_cli("diff", f"{REPO}@1.0.0", root, "--format", "json")
    VALID.validate(found.json)
    assert len(found.stdout) < 20_000
    assert found.json["rows"]["counts"]["test"] == {"edited": 1, "removed": 3}


def test_what_can_not_be_read_is_said_and_the_rest_is_shown(edited):
    (edited / "reward/reward.py").write_text("def score(:\n", encoding="utf-8")
    found = diff(f"{REPO}@2.0.0", edited)
    assert found["comparable"]["line"] == "comparable: no, reward 2.0.0, of which can't be told what changed"
    assert "reward/reward.py:1" in found["components"]["reward"]["problem"]
    assert found["components"]["reward"]["files"][0]["patch"]
    (edited / "tasks/test.jsonl").write_text("[]\n", encoding="utf-8")
    found = diff(f"{REPO}@2.0.0", edited)
    assert "tasks/test.jsonl:1" in found["components"]["tasks"]["problem"]
    assert "the test tasks of both can't be compared" in found["comparable"]["line"]
    shutil.rmtree(edited / "tasks")
    for sides in ((f"{REPO}@2.0.0", edited), (edited, f"{REPO}@2.0.0"), (edited, edited)):
        found = diff(*sides)
        assert found["components"]["code"]["same"]
        assert run_cli("diff", *sides).exit_code == 0
    assert found["components"]["tasks"]["same"]
    assert "No task file matches" in diff(f"{REPO}@2.0.0", edited)["components"]["tasks"]["problem"]


def test_an_author_cannot_loosen_the_verdict_but_tighten_it(pushed):
    root, _ = pushed
    replace_in(root / "reward/reward.py", "-1.0", "-0.5")
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n  change_policy: {reward: {reward-number: patch}}\n')
    assert diff(f"{REPO}@1.0.0", root)["comparable"]["verdict"] == "no"
    replace_in(root / "reward/reward.py", "-0.5", "-1.0")
    replace_in(root / "README.md", "{reward: {reward-number: patch}}", "{code: {body: major}}")
    replace_in(root / "env/environment.py", "str(action).strip()", "str(action).strip().lower()")
    assert verdict(f"{REPO}@1.0.0", root) == "no, code 1.0.0 edited"


def test_yanked_releases_and_no_network(edited, home):
    replace_in(edited / "README.md", '  spec: "1"\n', '  spec: "1"\n  yanked: [{release: "2.0.0", reason: wrong}]\n')
    release(edited)
    assert diff(f"{REPO}@2.0.0", REPO)["new"]["release"] == "1.0.0"
    for offline in ((f"{REPO}@2.0.0", f"{REPO}@1.0.0"), (edited, f"{REPO}@1.0.0")):
        assert diff(*offline, "--offline")["comparable"]["verdict"] == "no"
    shutil.rmtree(home / "cache", ignore_errors=True)
    result = run_cli("diff", f"{REPO}@2.0.0", f"{REPO}@1.0.0", "--offline")
    assert (result.exit_code, result.stdout) == (6, "")
    assert run_cli("diff", edited, edited, "--offline").exit_code == 0


@pytest.mark.parametrize(
    ("new", "code"),
    [("local/other", 4), (f"{REPO}@9.9.9", 4), ("f" * 40, 2), ("./nowhere", 2), (f"{REPO}@{'f' * 40}", 4)],
)
def test_what_there_is_not(pushed, new, code):
    result = run_cli("diff", REPO, new)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("error: ")


def probe_line(said, total, *, note=""):
    task = {"id": f"task-{said}", "question": "12 + 7?", "answer": "19"}
    status, parts = ("ok", {"right": total}) if said.isdigit() else ("agent_fault", {"form": total})
    return json.dumps({
        "format": 1, "note": note, "task": task, "expected": {"total": total, "parts": parts, "status": status},
        "turns": [{"action": said, "data": {"said": said}, "evidence": None, "terminated": True, "truncated": False}],
    }) + "\n"  # fmt: skip


@pytest.fixture
def probed(adding):
    """1.0.0 with three probes; 1.0.1 says the same otherwise; 2.0.0 halves the penalty."""
    probes = probe_line("19", 1.0) + probe_line("20", 0.0) + probe_line("many", -1.0)
    (adding / "reward/probes.jsonl").write_text(probes, encoding="utf-8")
    release(adding)
    replace_in(
        adding / "reward/reward.py", "    if not said.isdigit():", "    number = said.isdigit()\n    if not number:"
    )
    release(adding, reward="patch")
    replace_in(adding / "reward/reward.py", "Score(-1.0", "Score(-0.5")
    (adding / "reward/probes.jsonl").write_text(probes.replace('"total": -1.0', '"total": -0.5'), encoding="utf-8")
    release(adding, reward="major")
    return adding


def test_probes_are_replayed_under_both_rewards_when_asked_for_and_trusted(probed):
    alike, moved = (f"{REPO}@1.0.0", f"{REPO}@1.0.1"), (f"{REPO}@1.0.1", f"{REPO}@2.0.0")
    found = diff(*alike)
    assert found["probes"] is None
    # Both releases recorded that their rewards score these probes as they say.
    fine = "comparable: yes, the same test tasks, reward 1.0.0 -> 1.0.1 needs no major version"
    assert found["comparable"]["line"] == fine
    for sides in (alike, (alike[0], f"{REPO}@{diff(*alike)['new']['components']['reward']['revision']}")):
        refused = run_cli("diff", *sides, "--probe")
        assert (refused.exit_code, refused.stdout) == (7, "")
    found = diff(*alike, "--probe", "--trust-remote-code")
    assert (found["probes"]["verdict"], found["probes"]["compared"]) == ("alike", 3)
    assert found["comparable"]["line"] == fine
    found = diff(*moved, "--probe", "--trust-remote-code")
    assert found["probes"]["verdict"] == "moved"
    assert [(one["task_id"], one["before"]["total"], one["after"]["total"]) for one in found["probes"]["moved"]] == [
        ("task-many", -1.0, -0.5)
    ]
    assert "probe-moved" in [change["kind"] for change in found["components"]["reward"]["changes"]]
    shown = run_cli("diff", *moved, "--probe", "--trust-remote-code").stdout
    assert "task-many: total -1 -> -0.5" in shown
    assert diff(REPO, REPO, "--probe")["probes"] is None


def test_probes_of_a_folder_and_of_a_reward_that_fails(probed, tmp_path):
    pulled = tmp_path / "pulled"
    assert run_cli("pull", f"{REPO}@1.0.1", "--to", pulled).exit_code == 0
    assert run_cli("diff", pulled, probed, "--probe").exit_code == 7
    assert diff(pulled, probed, "--probe", "--trust-remote-code")["probes"]["verdict"] == "moved"
    replace_in(probed / "reward/reward.py", "import hfenv", "import hfenv\nraise ValueError('never')")
    result = run_cli("diff", pulled, probed, "--probe", "--trust-remote-code", "--format", "json")
    VALID.validate(result.json)
    assert "never" in result.json["probes"]["problem"]
    assert "The probes weren't replayed" in result.stderr
    (probed / "reward/probes.jsonl").write_text("[]\n", encoding="utf-8")
    found = diff(pulled, probed, "--probe", "--trust-remote-code")
    assert "probes.jsonl" in found["probes"]["problem"]


def test_a_large_resource_is_not_fetched(home, tmp_path):
    card = CARD.replace("  reward:", "  resources: [{name: base, path: tasks/resources/base.bin}]\n  reward:", 1)
    root = write_environment(
        tmp_path / "with", files={"README.md": card, "tasks/resources/base.bin": b"\0" * 11_000_000}
    )
    release(root)
    replace_in(root / "tasks/test.jsonl", '"19"', '"20"')
    release(root, tasks="major")
    (root / "tasks/resources/base.bin").write_bytes(b"\1" * 11_000_000)
    release(root, tasks="major")
    shutil.rmtree(home / "cache", ignore_errors=True)
    assert verdict(f"{REPO}@1.0.0", f"{REPO}@2.0.0") == "no, 1 of 4 test tasks edited"
    assert verdict(f"{REPO}@2.0.0", f"{REPO}@3.0.0") == "no, the resource 'base' changed"
    assert not [path for path in (home / "cache").rglob("*") if path.is_file() and path.stat().st_size > 10_000_000]


def test_generated_splits_are_told_by_their_seeds_and_samples(tmp_path):
    old = write_arithmetic(tmp_path / "old")
    longer = write_arithmetic(tmp_path / "longer", most=30)
    found = diff(old, longer)
    assert found["comparable"]["line"] == "comparable: yes, the same 200 test tasks, as far as 20 sampled ones tell"
    assert found["rows"]["total"] == 0
    more = write_arithmetic(tmp_path / "more", card=("test: [100000, 100200]", "test: [100000, 100300]"))
    assert verdict(old, more) == "no, 100 test tasks added"
    other = write_arithmetic(tmp_path / "other", files={"tasks/words.py": 'ASK = "Say"\n'})
    (kinds,) = {c["kind"] for c in diff(old, other)["components"]["tasks"]["changes"]}
    assert kinds == "generator"
    edit = GENERATOR.replace("one + other)", "one + other + 1)")
    edited = write_arithmetic(tmp_path / "edited", files={"tasks/generate.py": edit})
    found = diff(old, edited)
    assert found["rows"]["counts"] == {"train": {"edited": 20}, "test": {"edited": 20}}
    assert found["comparable"]["line"] == "comparable: no, 20 of 200 test tasks edited"
    rows = write_environment(tmp_path / "rows")
    assert "generated on one side" in verdict(old, rows)
