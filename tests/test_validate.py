"""`hfenv validate` on folders: layout, tasks, code and reward, versions; and the command's output and exit codes."""

import subprocess
import sys

import pytest

from hfenv.components.gate import GATE_RULES
from hfenv.components.validation import is_unreadable, require_valid, validate
from hfenv.errors import FindingsError
from hfenv.rules.catalogue import RULES
from tests.support import replace_in, run_cli, write_environment


def rules_of(report):
    return [finding.rule for finding in report.findings]


def only(report):
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


def test_a_whole_environment_has_no_finding_and_nothing_is_skipped(root):
    report = validate(root)
    assert report.findings == ()
    assert report.skipped == ()
    assert report.rules_run > 50


# Layout


@pytest.mark.parametrize(
    ("path", "rule", "pointer"),
    [
        ("env/environment.py", "HFE201", "/environment/code/entry"),
        ("reward/reward.py", "HFE201", "/environment/reward/entry"),
        ("audit/policies.py", "HFE201", "/environment/policies/oracle"),
        ("tasks/test.jsonl", "HFE202", "/environment/tasks/splits/test"),
    ],
)
def test_a_file_that_the_card_names_is_missing(root, path, rule, pointer):
    (root / path).unlink()
    finding = only(validate(root))
    assert (finding.rule, finding.pointer, finding.path) == (rule, pointer, "README.md")
    assert path in finding.message
    assert finding.line > 1


def test_a_resource_file_and_a_glob_that_match_nothing(root):
    replace_in(root / "README.md", "  limits:", "  resources: [{name: db, path: tasks/resources/db}]\n  limits:")
    replace_in(root / "README.md", "test: tasks/test.jsonl", "test: [tasks/test.jsonl, tasks/more-*.jsonl]")
    assert [(f.rule, f.pointer) for f in validate(root).findings] == [
        ("HFE202", "/environment/tasks/splits/test/1"),
        ("HFE201", "/environment/resources/0/path"),
    ]


def test_a_file_that_an_ignore_file_leaves_out_would_be_missing_after_a_push(root):
    (root / ".hfenvignore").write_text("tasks/test.jsonl\n", encoding="utf-8")
    finding = only(validate(root))
    assert finding.rule == "HFE202"
    assert "ignore" in finding.message


def test_files_that_cannot_be_stored_and_files_of_no_component(root):
    (root / "env" / "stray.pyc").write_bytes(b"x")
    (root / "env" / "link.py").symlink_to("environment.py")
    (root / "notes").mkdir()
    for name in ("a.txt", "b.txt"):
        (root / "notes" / name).write_text("x", encoding="utf-8")
    report = validate(root)
    assert [(f.rule, f.path) for f in report.findings] == [
        ("HFE203", "env/link.py"),
        ("HFE203", "env/stray.pyc"),
        ("HFE204", "notes"),
    ]
    assert {s.rule for s in report.skipped} == {*GATE_RULES, "HFE504"}


def test_nothing_of_the_author_is_imported(root):
    witness = root.parent / "ran"
    code = f"open({str(witness)!r}, 'w').close()\n"
    for path in ("env/environment.py", "reward/reward.py", "audit/policies.py"):
        replace_in(root / path, "", code)
    assert validate(root).ok
    assert not witness.exists()


# Versions


def test_versions_are_checked_when_the_card_can_say_them(root):
    replace_in(root / "README.md", 'code: {version: "1.0.0"', 'code: {version: "1.1.0"')
    assert rules_of(validate(root)) == ["HFE503"]
    (root / "release.json").write_text("{", encoding="utf-8")
    assert rules_of(validate(root)) == ["HFE504"]


# Broken in many places


def break_everything(root):
    replace_in(root / "env" / "environment.py", "def start(", "def start((")
    (root / "reward" / "reward.py").unlink()
    card = (root / "README.md").read_text(encoding="utf-8")
    header = card.split("# Adding")[0].replace('code: {version: "1.0.0"', "code: {version: banana")
    (root / "README.md").write_text(header.replace("  limits:", "  limit:"), encoding="utf-8")


def test_every_mistake_of_a_broken_environment_is_found_at_once(root):
    break_everything(root)
    report = validate(root)
    assert {"HFE106", "HFE104", "HFE110", "HFE201", "HFE401"} <= set(rules_of(report))
    assert not is_unreadable(report)
    reasons = {skipped.rule: skipped.reason for skipped in report.skipped}
    assert set(reasons) >= {"HFE207", "HFE402", "HFE403", "HFE404", "HFE405", "HFE501", "HFE502", "HFE503", "HFE504"}


@pytest.mark.parametrize("content", [b"", None, b"---\n\tx: 1\n---\n", b"\xff"])
def test_a_card_that_cannot_be_read_does_not_hide_the_rest(root, content):
    break_everything(root)
    (root / "tasks" / "test.jsonl").write_text("{\n", encoding="utf-8")
    (root / "README.md").unlink() if content is None else (root / "README.md").write_bytes(content)
    report = validate(root)
    assert is_unreadable(report)
    assert {"HFE206", "HFE301", "HFE401"} <= set(rules_of(report))
    assert {"HFE101", "HFE110", "HFE202", "HFE303", "HFE404", "HFE503"} <= {s.rule for s in report.skipped}
    assert not {s.rule for s in report.skipped} & set(rules_of(report))


def test_without_a_card_a_lost_entry_is_found_by_what_the_folders_define(root):
    (root / "reward" / "reward.py").rename(root / "reward" / "judge.py")
    (root / "env" / "environment.py").unlink()
    (root / "README.md").write_bytes(b"")
    report = validate(root)
    assert [(f.rule, f.path) for f in report.findings if f.rule == "HFE206"] == [("HFE206", "env")]
    (root / "reward" / "judge.py").write_text("def helper(): ...\n", encoding="utf-8")
    assert [f.path for f in validate(root).findings if f.rule == "HFE206"] == ["env", "reward"]
    for path in ("env/environment.py", "reward/judge.py"):
        (root / path).write_text("def broken(:\n", encoding="utf-8")
    assert sorted(f.rule for f in validate(root).findings) == ["HFE004", "HFE401", "HFE401"]


def test_a_bare_card_says_what_was_not_checked(root):
    report = validate(root / "README.md")
    assert report.ok
    assert {s.rule for s in report.skipped} >= {"HFE201", "HFE301", "HFE401", "HFE501"}
    assert report.rules_run + len(report.skipped) == validate(root).rules_run


# The command


def test_exit_codes_and_human_output(root):
    fine = run_cli("validate", cwd=root)
    assert (fine.exit_code, fine.stderr) == (0, "")
    assert fine.stdout.startswith("nothing found: ")
    assert fine.stdout.endswith("none skipped\n")
    replace_in(root / "README.md", '"1.0.0"', '"1.0"')
    bad = run_cli("validate", root.name, cwd=root.parent)
    assert bad.exit_code == 1
    first, source, caret, cure, _, totals = bad.stdout.splitlines()
    assert first.startswith("adding/README.md:7:19: error HFE106 code.version '1.0' ")
    assert source.lstrip().startswith('7 |   code: {version: "1.0"')
    assert source[caret.index("^") :].startswith('"1.0"')
    assert cure == '    Write "1.0.0".'
    assert "1 error: " in totals
    assert f"{len(GATE_RULES) + 1} because the card's block breaks the schema" in totals
    (root / "README.md").write_bytes(b"")
    assert run_cli("validate", root).exit_code == 3


def test_json_is_one_object_with_every_field(root):
    replace_in(root / "README.md", '"1.0.0"', '"1.0"')
    result = run_cli("validate", "adding", "--format", "json", cwd=root.parent)
    assert result.exit_code == 1
    assert set(result.json) == {"format", "command", "findings", "suppressed", "summary"}
    assert (result.json["format"], result.json["command"]) == (1, "validate")
    (finding,) = result.json["findings"]
    assert finding == {
        "rule": "HFE106",
        "severity": "error",
        "path": "adding/README.md",
        "pointer": "/environment/code/version",
        "line": 7,
        "column": 19,
        "message": finding["message"],
        "fix": 'Write "1.0.0".',
        "fixable": finding["fixable"],
    }
    summary = result.json["summary"]
    assert (summary["ok"], summary["errors"]) == (False, 1)
    assert {"rule", "path", "reason"} == set(summary["skipped"][0])


def test_quiet_prints_places_only(root):
    assert run_cli("validate", root, "--format", "quiet").stdout == ""
    replace_in(root / "README.md", '"1.0.0"', '"1.0"')
    assert run_cli("validate", "--format", "quiet", cwd=root).stdout == "README.md:7:19 HFE106\n"


def test_several_environments_in_the_order_given(root):
    write_environment(root.parent / "b")
    for name in ("adding", "b"):
        replace_in(root.parent / name / "README.md", '"1.0.0"', '"1.0"')
    result = run_cli("validate", "b", "adding", "./b", root, "b/README.md", "--format", "json", cwd=root.parent)
    assert [f["path"] for f in result.json["findings"]] == ["b/README.md", "adding/README.md"]
    assert result.exit_code == 1


def test_a_folder_of_environments_is_told_apart_from_a_broken_one(tmp_path):
    write_environment(tmp_path / "envs" / "one")
    write_environment(tmp_path / "envs" / "two")
    (tmp_path / "README.md").write_text("# Ours\n", encoding="utf-8")
    for where in (tmp_path, tmp_path / "envs"):
        refused = run_cli("validate", where)
        assert refused.exit_code == 2
        assert "no environment" in refused.stderr
        assert f"{tmp_path.as_posix()}/envs/one" in refused.stderr
        assert f"{tmp_path.as_posix()}/envs/two" in refused.stderr
    (tmp_path / "envs" / "two" / "README.md").unlink()
    assert run_cli("validate", tmp_path / "envs" / "two").exit_code == 3


def test_paths_that_are_nothing_to_validate(root):
    missing = run_cli("validate", root / "nope")
    assert (missing.exit_code, missing.stdout) == (4, "")
    assert "There is nothing at" in missing.stderr
    other = run_cli("validate", root / "LICENSE")
    assert other.exit_code == 2
    assert "neither a folder nor a card" in other.stderr


def test_validate_imports_neither_datasets_nor_the_hub_client_nor_a_server(root):
    script = (
        "import sys\nfrom hfenv.cli.app import main\n"
        "sys.argv = ['hfenv', 'validate', '.']\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "slow = ('datasets', 'huggingface_hub', 'starlette', 'pygit2', 'pyarrow')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


UNREADABLE = {
    "HFE001": None,
    "HFE002": b"---\nsummary: \xd7\xd6\n---\n",
    "HFE003": b"---\na: b\x00\n---\n",
    "HFE004": b"# Adding\n",
    "HFE005": b"---\na: b\n",
    "HFE006": b"---\na: {\n---\n",
    "HFE007": b"---\na:\n\tb: c\n---\n",
    "HFE010": b"---\n- a\n---\n",
    "HFE011": b"---\na: !b c\n---\n",
    "HFE013": b"---\na: &b c\n---\n",
    "HFE014": b"---\na: " + b"[" * 30 + b"]" * 30 + b"\n---\n",
    "HFE015": b"---\na: " + b"b" * 300_000 + b"\n---\n",
}


@pytest.mark.parametrize("rule", [None, *(rule.id for rule in RULES.values() if rule.fatal)])
def test_every_rule_ran_or_says_why_it_did_not(tmp_path, rule):
    root = write_environment(tmp_path / "adding")
    if rule is not None:
        content = UNREADABLE[rule]
        (root / "README.md").unlink() if content is None else (root / "README.md").write_bytes(content)
    report = validate(root)
    assert is_unreadable(report) is (rule is not None)
    assert rule is None or rule in {finding.rule for finding in report.findings}
    assert sorted([*report.ran, *(each.rule for each in report.skipped)]) == sorted(RULES)


def test_what_stands_in_the_way_is_told_in_sentences(tmp_path):
    root = write_environment(tmp_path / "adding")
    replace_in(root / "README.md", 'code: {version: "1.0.0"', 'code: {version: "1.0"')
    with pytest.raises(FindingsError) as caught:
        require_valid(root)
    assert "such as 1.0.0. Write" in caught.value.hint
