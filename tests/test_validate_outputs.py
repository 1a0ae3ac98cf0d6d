"""What `hfenv validate` prints in each format, and what makes it fail: strictness, baselines, fixes, bad paths."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import yaml

from hfenv.cli.output import cells
from hfenv.rules.catalogue import RULES
from tests.support import replace_in, run_cli, write_environment

ROOT = Path(__file__).resolve().parent.parent
SECRET = "hf_" + "aB3" * 12
FORMATS = ("human", "json", "quiet", "github", "sarif", "junit")


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "HFENV_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    return write_environment(tmp_path / "adding")


def worsen(root):
    """One error, at 14:55 of the card, and one warning, at 4:11."""
    replace_in(root / "README.md", "description: the sum}", "description: the sum, extract: fence}")
    replace_in(root / "README.md", "environment:\n", "language: no\nenvironment:\n")


def check(root, *options):
    return run_cli("validate", root.name, *options, cwd=root.parent)


# For people


def excerpt_of(result, rule):
    lines = result.stdout.splitlines()
    index = next(i for i, line in enumerate(lines) if f" {rule} " in line)
    return lines[index + 1], lines[index + 2]


@pytest.mark.parametrize(
    "before",
    [
        "type: text, ",
        "type:\ttext,\t",
        'type: text, description: "🎉 版本 é e\u0301 👩\u200d👩\u200d👧", ',
        f"type: text, description: {'很长 long ' * 40}, ",
        f'type: text, description: "{"x" * 300}🎉", ',
    ],
)
@pytest.mark.parametrize("after", ["", f", x: {'y' * 500}", f', x: "{"版" * 300}"'])
def test_the_caret_stands_under_what_is_meant(root, before, after):
    replace_in(
        root / "README.md", "action: {type: text, description: the sum}", f"action: {{{before}extract: fence{after}}}"
    )
    source, caret = excerpt_of(check(root), "HFE105")
    assert caret.split() == ["|", "^"]
    shown = source[: source.index("fence")]
    assert cells(shown) == caret.index("^")
    assert cells(source) <= 120
    assert "\t" not in source


def test_of_a_line_of_megabytes_a_window_is_shown(root):
    line = '{"id": "x", "question": "' + "问" * 2_000_000 + '"\n'
    (root / "tasks" / "test.jsonl").write_text(line, encoding="utf-8")
    result = check(root)
    assert result.exit_code == 1
    assert "HFE301" in result.stdout
    assert len(result.stdout) < 5_000


def test_a_line_that_may_hold_a_secret_is_in_no_output(root):
    line = f'reward: {{version: 1.0, token: "{SECRET}", '
    replace_in(root / "README.md", 'reward: {version: "1.0.0", ', line)
    replace_in(root / "README.md", "environment:\n", f"x: {{a: no, b: {SECRET}}}\nenvironment:\n")
    for fmt in FORMATS:
        result = check(root, "--format", fmt)
        assert result.exit_code == 1
        assert "HFE608" in result.stdout
        assert SECRET not in result.stdout + result.stderr
    for options in (("--diff",), ("--diff", "--format", "json"), ("--write-baseline", "b.json")):
        result = check(root, *options)
        assert SECRET not in result.stdout + result.stderr
    assert SECRET not in (root.parent / "b.json").read_text(encoding="utf-8")
    assert SECRET not in check(root, "--fix").stdout


def test_colours_are_the_users_choice(root, monkeypatch):
    worsen(root)
    assert "\x1b" not in check(root).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[31m\x1b[1merror" in check(root).stdout
    assert "\x1b" not in check(root, "--format", "quiet").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in check(root).stdout


def test_a_terminal_gets_colours(root):
    worsen(root)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "hfenv.cli", "validate", str(root)]
    process = subprocess.Popen(command, stdout=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:
        pass  # how Linux says that the other end is closed
    os.close(ours)
    assert process.wait() == 1
    assert b"\x1b[31m" in shown
    assert b"\x1b[33m" in shown


def test_nothing_an_author_wrote_commands_the_terminal(root):
    (root / "env" / "a\x1b[2Jb\nc.py").write_text("def broken(:\n", encoding="utf-8")
    (root / "env" / "bad.py").write_text("x = '\x1b[2J\u202e' +\n", encoding="utf-8")
    result = check(root)
    assert result.exit_code == 1
    assert "\\x1b[2J" in result.stdout
    assert not re.search("[\x1b\u202e]", result.stdout)
    assert not any(line.startswith("c.py") for line in result.stdout.splitlines())


def test_environments_have_headings_and_totals(root):
    worsen(root)
    write_environment(root.parent / "fine")
    one = check(root).stdout
    assert "adding: " not in one
    result = run_cli("validate", "fine", "adding", cwd=root.parent)
    assert "adding: 1 error, 1 warning\n\nadding/README.md:4:11: warning HFE012 " in result.stdout
    assert "fine:" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("1 error, 1 warning in 2 places: ")


# For programs


def closed(schema):
    """The schema with no room for keys that it doesn't describe."""
    if isinstance(schema, dict):
        inner = {key: closed(value) for key, value in schema.items()}
        if ("properties" in inner and "allOf" not in inner) or "allOf" in inner:
            inner["unevaluatedProperties"] = False
        return inner
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def test_json_is_as_its_schema_says(root):
    from jsonschema import Draft202012Validator

    schema = yaml.safe_load((ROOT / "schemas" / "validation-v1.yaml").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    strict = closed(schema)
    strict["$defs"]["finding"].pop("unevaluatedProperties")  # what is suppressed says more
    validator = Draft202012Validator(strict)
    worsen(root)
    base = root.parent / "base.json"
    calls = [(), ("--write-baseline", base), ("--baseline", base), ("nope",), ("--diff",), ("--fix",), ("--strict",)]
    for options in calls:
        result = check(root, *options, "--format", "json")
        errors = [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(result.json)]
        assert errors == [], options
        assert ("diff" in result.json, "fixed" in result.json) == ("--diff" in options, "--fix" in options)
    (root / "README.md").write_bytes(b"")
    assert not list(validator.iter_errors(check(root, "--format", "json").json))


def test_quiet_is_a_place_and_a_rule(root):
    worsen(root)
    assert check(root, "--format", "quiet").stdout == "adding/README.md:4:11 HFE012\nadding/README.md:14:55 HFE105\n"


def commands(text):
    return [re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups() for line in text.splitlines() if line.startswith("::")]


def unescaped(text):
    return unquote(text)  # the same escapes as in URLs, of fewer signs


def test_github_gets_commands_errors_first(root):
    worsen(root)
    result = check(root, "--format", "github")
    (first, where, message), (second, _, _) = commands(result.stdout)
    assert (first, second) == ("error", "warning")
    properties = dict(item.split("=", 1) for item in where.split(","))
    assert {**properties, "title": properties["title"][:6]} == {
        "file": "adding/README.md", "line": "14", "col": "55", "title": "HFE105",
    }  # fmt: skip
    assert "action.extract" in message
    assert result.stdout.splitlines()[-1].startswith("1 error, 1 warning: ")


def test_github_commands_survive_any_name_and_text(root):
    worse = write_environment(root.parent / "a,b: c%d")
    (worse / "env" / "x\n::error::y.py").write_text("\n", encoding="utf-8")
    replace_in(worse / "README.md", "environment:\n", "environment:\n  'k%0A,\\r:é': 1\n".replace("\\r", "\t"))
    result = check(worse, "--format", "github")
    found = commands(result.stdout)
    assert len(found) == len(check(worse, "--format", "json").json["findings"]) >= 2
    assert len(result.stdout.splitlines()) == len(found) + 1
    for _, where, _ in found:
        (file,) = [item[5:] for item in where.split(",") if item.startswith("file=")]
        assert "a%2Cb%3A c%25d" in file
        assert unescaped(file).startswith("a,b: c%d/")


def test_github_annotations_start_at_the_workspace(root, monkeypatch):
    worsen(root)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(root.parent))
    result = run_cli("validate", ".", "--format", "github", cwd=root)
    assert "file=adding/README.md" in result.stdout


def test_github_gets_a_summary_of_the_step(root, monkeypatch):
    worsen(root)
    replace_in(root / "README.md", "language: no\n", 'language: no\n"<b>|`x`": [*a]\n')
    page = root.parent / "summary.md"
    page.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    for fmt in set(FORMATS) - {"github"}:
        check(root, "--format", fmt)
    assert page.read_text(encoding="utf-8") == "before\n"
    check(root, "--format", "github")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n### hfenv validate\n")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "HFE" in line]
    assert len(rows) == len(check(root, "--format", "json").json["findings"])
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
    assert "<b>" not in text


def test_a_summary_of_hundreds_of_findings_stays_readable(root, monkeypatch):
    page = root.parent / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    for n in range(300):
        (root / "env" / f"broken{n}.py").write_text("(", encoding="utf-8")
    check(root, "--format", "github")
    assert page.stat().st_size < 100_000
    assert "\nand 100 more\n" in page.read_text(encoding="utf-8")


def sarif_of(result):
    from jsonschema import Draft4Validator

    log = json.loads(result.stdout)
    schema = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    validator = Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(log)] == []
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
    return run


def test_sarif_is_valid_and_says_everything(root):
    worsen(root)
    run = sarif_of(check(root, "nope", "--format", "sarif"))
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    warning, error = run["results"]
    assert (warning["level"], error["level"], error["ruleId"]) == ("warning", "error", "HFE105")
    place = error["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "adding/README.md"
    assert place["region"] == {"startLine": 14, "startColumn": 55}
    assert run["columnKind"] == "unicodeCodePoints"
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    levels = [notice["level"] for notice in invocation["toolExecutionNotifications"]]
    skipped = check(root, "--format", "json").json["summary"]["skipped"]
    assert (levels.count("error"), levels.count("note")) == (1, len(skipped))
    assert len(skipped) > 0


@pytest.mark.parametrize("broken", [b"", b"---\na: \xff\n---\n", b"---\n- x\n---\n"])
def test_sarif_of_a_card_that_cannot_be_read(root, broken):
    (root / "README.md").write_bytes(broken)
    result = check(root, "--format", "sarif")
    assert result.exit_code == 3
    assert sarif_of(result)["invocations"][0]["executionSuccessful"] is False


def test_sarif_names_files_as_uris(root):
    other = write_environment(root.parent / "数据 100%: #1?")
    worsen(other)
    (run,) = [sarif_of(run_cli("validate", other.name, "--format", "sarif", cwd=root.parent))]
    uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9%._/~-]+", uri)
    assert unquote(uri) == f"{other.name}/README.md"


def keys(run):
    return [result["partialFingerprints"]["hfenv/v1"] for result in run["results"]]


def test_sarif_fingerprints_outlast_moved_lines(root):
    worsen(root)
    card = root / "README.md"
    for path, text in {"env/one.py": "x = (\n", "reward/two.py": "def f(:\n\n"}.items():
        (root / path).write_text(text, encoding="utf-8")
    before = keys(sarif_of(check(root, "--format", "sarif")))
    assert len(set(before)) == len(before) >= 4
    replace_in(card, "license:", "# a comment\n\nlicense:")
    (root / "reward/two.py").write_text("# a comment\n\ndef f(:\n\n", encoding="utf-8")
    after = keys(sarif_of(check(root, "--format", "sarif")))
    assert after == before


def test_sarif_tells_equal_findings_apart(root):
    (root / "tasks" / "test.jsonl").write_text("{\n" * 3, encoding="utf-8")
    run = sarif_of(check(root, "--format", "sarif"))
    assert len(set(keys(run))) == len(run["results"])


def applied(text, run):
    """The text after all fixes of a run, as an editor would apply them."""
    edits = []
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]
    for result in run["results"]:
        for fix in result.get("fixes", []):
            for replacement in fix["artifactChanges"][0]["replacements"]:
                region = replacement["deletedRegion"]
                start = starts[region["startLine"] - 1] + region["startColumn"] - 1
                end = starts[region["endLine"] - 1] + region["endColumn"] - 1
                edits.append((start, end, replacement.get("insertedContent", {}).get("text", "")))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_sarif_fixes_do_what_fix_does(root, ending):
    card = root / "README.md"
    replace_in(card, "environment:\n", "pretty_name: 加法 🎉\nlanguage: no\nenvironment:\n")
    replace_in(card, 'code: {version: "1.0.0"', "code: {version: 1.0")
    card.write_bytes(card.read_bytes().replace(b"\n", ending.encode()))
    run = sarif_of(check(root, "--format", "sarif"))
    assert sum("fixes" in result for result in run["results"]) >= 2
    want = applied(card.read_bytes().decode(), run)
    assert check(root, "--fix").exit_code == 0
    assert card.read_bytes().decode() == want


def test_sarif_has_a_fix_for_a_byte_order_mark(root):
    card = root / "README.md"
    card.write_bytes(b"\xef\xbb\xbf" + card.read_bytes())
    (result,) = sarif_of(check(root, "--format", "sarif"))["results"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement == {"deletedRegion": {"byteOffset": 0, "byteLength": 3}}


def parsed(text):
    return ElementTree.fromstring(text)  # noqa: S314 - our own document


def test_junit_has_a_suite_per_environment_and_a_case_per_rule(root):
    worsen(root)
    write_environment(root.parent / "fine")
    result = run_cli("validate", "fine", "adding", "nope", "--format", "junit", cwd=root.parent)
    assert result.exit_code == 4
    suites = parsed(result.stdout)
    fine, adding, nope = suites
    assert [suite.get("name") for suite in suites] == ["fine", "adding", "nope"]
    assert (fine.get("failures"), fine.get("skipped"), nope.get("errors")) == ("0", "0", "1")
    assert {case.get("name")[:6] for case in fine} == set(RULES)
    (failed,) = [case for case in adding if case.find("failure") is not None]
    assert failed.get("name").startswith("HFE105 ")
    assert "adding/README.md:14:55: error" in failed.find("failure").text
    skipped = [case.find("skipped").get("message") for case in adding if case.find("skipped") is not None]
    assert len(skipped) == int(adding.get("skipped")) > 0
    assert all(reason.startswith("not run: the ") for reason in skipped)
    warned = [case for case in adding if case.find("system-out") is not None]
    assert [case.get("name")[:6] for case in warned] == ["HFE012"]
    strict = parsed(check(root, "--format", "junit", "--strict").stdout)
    assert strict.get("failures") == "2"
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(suites.get(name)) == sum(int(suite.get(name)) for suite in suites)


def test_junit_is_xml_whatever_the_names(root):
    (root / "env" / "a\x01\ufffe]]>&<.py").write_text("def broken(:\n", encoding="utf-8")
    document = check(root, "--format", "junit").stdout
    assert document.isascii()
    assert "]]>&<" in "".join(parsed(document).itertext())


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_good_environment_is_fine_in_every_format(root, fmt):
    result = check(root, "--format", fmt)
    assert result.exit_code == 0
    assert "::" not in result.stdout


def test_one_variable_serves_commands_with_and_without_findings(root, monkeypatch):
    monkeypatch.setenv("HFENV_FORMAT", "sarif")
    assert sarif_of(check(root))["results"] == []
    status = run_cli("status", root)
    assert (status.exit_code, status.stdout.split()[0]) == (0, "component")
    monkeypatch.setenv("HFENV_FORMAT", "json")
    assert run_cli("status", root).json["command"] == check(root).json["command"].replace("validate", "status")
    assert run_cli("status", root, "--format", "human").stdout.startswith("component")
    monkeypatch.setenv("HFENV_FORMAT", "xml")
    refused = check(root)
    assert refused.exit_code == 2
    assert "HFENV_FORMAT is 'xml'" in refused.stderr
    monkeypatch.delenv("HFENV_FORMAT")
    assert run_cli("status", root, "--format", "sarif").exit_code == 2


# What makes it fail


def test_strict_makes_warnings_fail_and_calls_them_warnings(root):
    replace_in(root / "README.md", "environment:\n", "language: no\nenvironment:\n")
    assert check(root).exit_code == 0
    strict = check(root, "--strict")
    assert strict.exit_code == 1
    assert ": warning HFE012 " in strict.stdout
    assert strict.stdout.rstrip().endswith("warnings fail (--strict)")
    assert check(root, "--strict", "--format", "json").json["summary"]["ok"] is False
    replace_in(root / "README.md", "language: no", "language: en")
    assert check(root, "--strict").exit_code == 0


def test_what_cannot_be_checked_hides_nothing_and_counts_most(root):
    worsen(root)
    write_environment(root.parent / "mute", files={"README.md": ""})

    def code(*names):
        return run_cli("validate", *names, cwd=root.parent).exit_code

    assert (code("adding"), code("adding", "mute"), code("mute", "adding")) == (1, 3, 3)
    assert (code("nope", "mute"), code("adding/LICENSE", "mute"), code("mute", "x" * 300)) == (4, 2, 2)
    result = run_cli("validate", "nope", "adding", "adding/LICENSE", "--format", "json", cwd=root.parent)
    assert result.exit_code == 4
    assert len(result.json["findings"]) == 2
    assert [each["path"] for each in result.json["summary"]["unchecked"]] == ["nope", "adding/LICENSE"]
    assert result.stderr.count("error: ") == 2


def test_nothing_is_checked_twice(root):
    (root.parent / "link").symlink_to(root)
    names = ["adding/README.md", "./adding", "adding", root, "link"]
    summary = run_cli("validate", *names, "--format", "json", cwd=root.parent).json["summary"]
    assert summary["checked"] == ["adding"]


def test_changed_files_stand_for_their_environments(root):
    other = write_environment(root.parent / "repo" / "envs" / "other")
    worsen(other)
    (root.parent / "repo" / "README.md").write_text("# Many environments\n", encoding="utf-8")
    (root.parent / "repo" / "notes.md").write_text("---\ntitle: x\n---\nenvironment: no\n", encoding="utf-8")

    def checked(*names, cwd):
        result = run_cli("validate", "--changed", *names, "--format", "json", cwd=cwd)
        return result.json["summary"]["checked"], result.exit_code

    repo = root.parent / "repo"
    assert checked("README.md", "notes.md", cwd=repo) == ([], 0)
    several = ("README.md", "envs/other/tasks/train.jsonl", "envs/other/gone/lost.py", "envs/other/README.md")
    assert checked(*several, cwd=repo) == (["envs/other"], 1)
    assert checked("env/environment.py", cwd=other) == (["."], 1)
    assert checked(cwd=other / "env")[0] == [other.as_posix()]
    (other / "README.md").write_text("oops\n", encoding="utf-8")
    assert checked("envs/other/LICENSE", cwd=repo) == (["envs/other"], 3)
    (other / "README.md").unlink()
    assert checked("envs/other/reward/reward.py", cwd=repo) == (["envs/other"], 3)
    none = run_cli("validate", "--changed", "README.md", cwd=repo)
    assert "None of these files belongs to an environment." in none.stderr


# Baselines


def test_a_baseline_covers_what_was_there_and_nothing_new(root):
    worsen(root)
    base = root.parent / "base.json"
    written = check(root, "--write-baseline", base, "--strict")
    assert (written.exit_code, "2 findings covered by the baseline" in written.stdout) == (0, True)
    assert f"Wrote the baseline {base}: 2 findings" in written.stderr
    first = base.read_bytes()
    assert check(root, "--write-baseline", base).exit_code == 0
    assert base.read_bytes() == first
    replace_in(root / "README.md", "license:", "# one more line\nlicense:")
    assert check(root, "--baseline", base, "--strict").exit_code == 0
    replace_in(root / "README.md", 'spec: "1"', 'spec: "7"')
    later = check(root, "--baseline", base, "--format", "json")
    assert later.exit_code == 1
    assert [finding["pointer"] for finding in later.json["findings"]] == ["/environment/spec"]
    assert [(each["rule"], each["by"]) for each in later.json["suppressed"]] == [
        ("HFE012", "baseline"), ("HFE105", "baseline"),
    ]  # fmt: skip
    run = sarif_of(check(root, "--baseline", base, "--format", "sarif"))
    kinds = {one["ruleId"]: [each["kind"] for each in one.get("suppressions", [])] for one in run["results"]}
    assert (kinds["HFE012"], kinds[later.json["findings"][0]["rule"]]) == (["external"], [])


def test_a_baseline_names_what_it_no_longer_needs(root):
    worsen(root)
    write_environment(root.parent / "other", files={"env/x.py": "("})
    base = root.parent / "sub" / "base.json"
    run_cli("validate", "adding", "other", "--write-baseline", base, cwd=root.parent)
    assert check(root, "--baseline", base, "--format", "json").json["summary"]["stale"] == []
    replace_in(root / "README.md", "language: no\n", "")
    (stale,) = check(root, "--baseline", base, "--format", "json").json["summary"]["stale"]
    assert (stale["path"], stale["rule"], stale["at"]) == ("../adding/README.md", "HFE012", "/language")
    assert "    ../adding/README.md HFE012 /language\n" in check(root, "--baseline", base).stdout
    # Rules that didn't run say nothing about their entries.
    (root.parent / "other" / "README.md").write_bytes(b"")
    lone = run_cli("validate", "other", "--baseline", base, "--format", "json", cwd=root.parent)
    assert (lone.exit_code, lone.json["summary"]["stale"]) == (3, [])


def test_a_baseline_counts(root):
    (root / "env" / "x.py").write_text("(", encoding="utf-8")
    rows = (root / "tasks" / "test.jsonl").read_text(encoding="utf-8")
    (root / "tasks" / "test.jsonl").write_text(rows + "{\n{\n", encoding="utf-8")
    base = root.parent / "base.json"
    check(root, "--write-baseline", base)
    assert check(root, "--baseline", base).exit_code == 0
    (root / "tasks" / "test.jsonl").write_text(rows + "{\n{\n{\n", encoding="utf-8")
    more = check(root, "--baseline", base, "--format", "json")
    assert (more.exit_code, len(more.json["findings"])) == (1, 1)
    (root / "tasks" / "test.jsonl").write_text(rows + "{\n", encoding="utf-8")
    fewer = check(root, "--baseline", base, "--format", "json")
    assert (fewer.exit_code, [entry["count"] for entry in fewer.json["summary"]["stale"]]) == (0, [1])


@pytest.mark.parametrize("row", [{"question": "q"}, {"question": "q", "answer": 7}])
def test_a_baseline_counts_the_rows_that_one_finding_stands_for(root, row):
    tasks = root / "tasks" / "train.jsonl"
    before = tasks.read_text(encoding="utf-8")

    def with_rows(count):
        rows = ({"id": f"n{n}", "difficulty": "easy", **row, "question": f"q{n}"} for n in range(count))
        tasks.write_text(before + "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    base = root.parent / "base.json"
    with_rows(2)
    assert len(check(root, "--write-baseline", base, "--format", "json").json["suppressed"]) == 1
    assert check(root, "--baseline", base).exit_code == 0
    with_rows(3)
    assert check(root, "--baseline", base).exit_code == 1
    with_rows(1)
    assert check(root, "--baseline", base).exit_code == 0


def with_fields(root, *names):
    """Fields that have no role, in all rows."""
    for tasks in (root / "tasks").glob("*.jsonl"):
        rows = [json.loads(line) | dict.fromkeys(names, "x") for line in tasks.read_text(encoding="utf-8").splitlines()]
        tasks.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_baseline_tells_findings_at_one_place_apart(root):
    with_fields(root, "hint", "source")
    replace_in(root / "README.md", "fields: {", "fields: {hint: meta, ")
    base = root.parent / "base.json"
    assert check(root, "--write-baseline", base).exit_code == 0
    replace_in(root / "README.md", "fields: {hint", "fields: {source")
    later = check(root, "--baseline", base, "--format", "json").json
    assert [finding["pointer"] for finding in later["findings"] if finding["rule"] == "HFE307"] == [
        "/environment/tasks/fields/hint"
    ]
    assert [entry["at"] for entry in later["summary"]["stale"]] == ["/environment/tasks/fields/source"]


def test_findings_that_differ_in_their_message_alone_share_their_line(root):
    with_fields(root, "hint", "source", "why")
    lines = check(root).stdout.splitlines()
    assert ["HFE307" in line for line in lines[:4]] == [True, True, True, False]
    assert sum("fields:" in line for line in lines) == sum("Give it the role" in line for line in lines) == 1


def test_a_card_that_cannot_be_read_is_in_no_baseline(root):
    (root / "README.md").write_bytes(b"")
    base = root.parent / "base.json"
    assert check(root, "--write-baseline", base).exit_code == 3
    assert check(root, "--baseline", base).exit_code == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "isn't JSON"),
        (b"\xff", "isn't JSON"),
        (b"[" * 100_000, "isn't JSON"),
        (b"[]", "list 'findings'"),
        (b'{"format": 2, "findings": []}', "its format is 2"),
        (b'{"format": 1, "findings": [{"path": "a", "rule": "b", "at": "c", "count": 0}]}', "entry 1"),
        (b'{"format": 1, "findings": [7]}', "entry 1"),
    ],
)
def test_a_bad_baseline_is_said_in_a_sentence(root, text, says):
    base = root.parent / "base.json"
    base.write_bytes(text)
    result = check(root, "--baseline", base)
    assert (result.exit_code, result.stdout) == (3, "")
    assert says in result.stderr
    assert base.name in result.stderr


def test_a_baseline_that_is_not_there_or_cannot_be_written(root):
    assert check(root, "--baseline", "none.json").exit_code == 4
    assert check(root, "--write-baseline", root / "LICENSE" / "x.json").exit_code == 2
    lost = run_cli("validate", "adding", "nope", "--write-baseline", "b.json", cwd=root.parent)
    assert lost.exit_code == 4
    assert not (root.parent / "b.json").exists()


# Fixes


def test_fix_says_what_it_cured_and_what_is_left(root):
    worsen(root)
    card = root / "README.md"
    result = check(root, "--fix")
    assert result.exit_code == 1
    assert 'language: "no"\n' in card.read_text(encoding="utf-8")
    assert result.stdout.splitlines()[-1].startswith("1 finding fixed; 1 error: ")
    assert result.stdout.startswith("Fixed:\n    adding/README.md:4:11 HFE012 ")
    before = card.read_bytes()
    assert check(root, "--fix", "--format", "json").json["fixed"] == []
    assert card.read_bytes() == before


def test_diff_writes_nothing_and_can_be_applied(root):
    worsen(root)
    replace_in(root / "README.md", "description: the sum, extract: fence}", "description: the sum}")
    # Without a line break at the end, as editors leave it.
    card = root / "README.md"
    card.write_bytes(card.read_bytes().rstrip(b"\n"))
    before = card.read_bytes()
    result = check(root, "--diff")
    assert (result.exit_code, card.read_bytes()) == (1, before)
    assert "--fix would cure 1; afterwards: nothing found." in result.stderr
    assert check(root, "--diff", "--fix", "--format", "json").json["diff"] == result.stdout.rstrip("\n")
    assert card.read_bytes() == before
    assert check(root, "--diff", "--format", "quiet").stdout == result.stdout
    subprocess.run(["git", "apply", "-"], input=result.stdout.encode(), cwd=root.parent, check=True)
    applied = card.read_bytes()
    card.write_bytes(before)
    assert check(root, "--fix").exit_code == 0
    assert card.read_bytes() == applied
    clean = check(root, "--diff")
    assert (clean.exit_code, clean.stdout) == (0, "")
    assert "would change nothing" in clean.stderr


def test_diff_shows_rights_that_come_back(root):
    from hfenv.components.checks.fixing import plan_fixes

    script = root / "env" / "run.sh"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    assert run_cli("push", "local/adding", root, "--hub", "local").exit_code == 0
    script.chmod(0o644)
    assert plan_fixes(root).executable == ("env/run.sh",)
    shown = check(root, "--diff")
    assert shown.exit_code == 1
    assert shown.stdout == "diff --git a/adding/env/run.sh b/adding/env/run.sh\nold mode 100644\nnew mode 100755\n"
    assert script.stat().st_mode & 0o111 == 0
    subprocess.run(["git", "apply", "-"], input=shown.stdout.encode(), cwd=root.parent, check=True)
    assert script.stat().st_mode & 0o100
    assert check(root, "--diff").exit_code == 0


def test_wishes_that_do_not_go_together(root):
    for options in (("--diff", "--format", "sarif"), ("--diff", "--write-baseline", "b.json")):
        result = check(root, *options)
        assert (result.exit_code, result.stdout) == (2, "")
    assert not (root.parent / "b.json").exists()
