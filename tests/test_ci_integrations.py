"""hfenv in other people's CI: the GitHub action and the pre-commit hook, used as their users use them, offline."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import yaml

from hfenv import scaffold
from hfenv.cli.output import FindingsFormat
from tests.support import replace_in, write_environment

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", ".hfenv", "*.sqlite", "build", "dist")
# pip reads --no-build-isolation from the environment as the value of "isolate": false turns isolation off.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "false", "PIP_NO_COMPILE": "1"}
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **GIT}, check=True, capture_output=True)


def commit(folder):
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """This repository as others clone it."""
    folder = tmp_path_factory.mktemp("clone") / "hfenv"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """What hfenv depends on, and pip and its build tool, without hfenv: a registry is out of reach."""
    folder = tmp_path_factory.mktemp("libraries")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "hfenv" not in entry.name and entry.suffix != ".pth":
            (folder / entry.name).symlink_to(entry)
    return folder


# The hook


def try_repo(checkout, libraries, repository, *options):
    own = {"PRE_COMMIT_HOME": str(repository.parent / "pc"), "PYTHONPATH": str(libraries)}
    variables = {**os.environ, **GIT, **OFFLINE, **own}
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(checkout), "hfenv-validate", *options]
    done = subprocess.run(command, cwd=repository, env=variables, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_the_hook_checks_the_environments_of_changed_files(checkout, libraries, tmp_path):
    repository = tmp_path / "repo"
    good, bad = (write_environment(repository / "envs" / name) for name in ("good", "bad"))
    (repository / "README.md").write_text("# Two environments\n", encoding="utf-8")
    replace_in(bad / "README.md", '"1.0.0"', '"banana"')
    commit(repository)

    code, shown = try_repo(checkout, libraries, repository, "--all-files")
    assert code == 1, shown
    assert "Failed" in shown
    assert "envs/bad/README.md:7:19: error HFE106 " in shown
    assert shown.count("rules run") == 1
    assert "in 2 places" in shown

    # A change to any file of the good environment checks all of that one, and not the other.
    (good / "env" / "new.py").write_text("X = 1\n", encoding="utf-8")
    git(repository, "add", "-A")
    code, shown = try_repo(checkout, libraries, repository, "--verbose")
    assert code == 0, shown
    assert "Passed" in shown
    assert "nothing found: " in shown


# The action


@pytest.fixture(scope="module")
def runner(checkout, libraries, tmp_path_factory):
    """A machine on which the action's first step has run: the folder with its programs."""
    home = tmp_path_factory.mktemp("runner") / "venv"
    venv.create(home, with_pip=False)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    (purelib / "borrowed.pth").write_text(f"{libraries}\n", encoding="utf-8")
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    done = run_step(ACTION["runs"]["steps"][0], {}, programs, checkout, tmp_path_factory.mktemp("empty"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (programs / "hfenv").is_file()
    return programs


def run_step(step, inputs, programs, checkout, workspace):
    """Run a step as GitHub does: expressions filled in, then bash on the script."""
    given = {name: inputs.get(name, about["default"]) for name, about in ACTION["inputs"].items()}
    assert set(inputs) <= set(given)

    def filled(text):
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)

    script = workspace.parent / "step.sh"
    script.write_text(filled(step["run"]), encoding="utf-8")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))},
        **OFFLINE,
        **{name: filled(value) for name, value in step.get("env", {}).items()},
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(checkout),
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_STEP_SUMMARY": str(workspace.parent / "summary.md"),
    }
    assert step["shell"] == "bash"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=workspace, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture
def act(runner, checkout, tmp_path):
    workspace = tmp_path / "work"
    workspace.mkdir()

    def run(**inputs):
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        return run_step(ACTION["runs"]["steps"][1], named, runner, checkout, workspace)

    run.workspace = workspace
    return run


def test_the_action_annotates_and_summarises(act):
    root = write_environment(act.workspace)
    good = act()
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("nothing found: ")
    replace_in(root / "README.md", '"1.0.0"', '"banana"')
    bad = act()
    assert bad.returncode == 1
    assert "::error file=README.md,title=HFE106 " in bad.stdout
    summary = (act.workspace.parent / "summary.md").read_text(encoding="utf-8")
    assert summary.count("### hfenv validate\n") == 2
    assert "| error | HFE106 | README.md:7:19 |" in summary


@pytest.mark.slow
def test_the_action_takes_every_input(act):
    for name in ("one", "two words"):
        replace_in(
            write_environment(act.workspace / name) / "README.md", "environment:\n", "language: no\nenvironment:\n"
        )
    both = "one\n\n  two words  \n"
    assert act(paths=both).returncode == 0
    strict = act(paths=both, strict="true", format="quiet", sarif_file="out.sarif")
    assert (strict.returncode, strict.stdout.splitlines()) == (
        1,
        ["one/README.md:4:11 HFE012", "two words/README.md:4:11 HFE012"],
    )
    results = json.loads((act.workspace / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["HFE012", "HFE012"]
    assert act(paths=both, args="--write-baseline base.json").returncode == 0
    assert act(paths=both, strict="true", baseline="base.json").returncode == 0
    assert act(paths="nowhere").returncode == 4
    fixed = act(paths=both, args="  --fix\n--strict ", sarif_file="out.sarif")
    assert fixed.stdout.startswith("2 findings fixed; nothing found in 2 places")


def test_what_stands_in_an_input_is_never_a_command(act):
    write_environment(act.workspace)
    evil = "$(touch pwned) `touch pwned`; touch pwned #\" ' && touch pwned\n--help\n*"
    for name in ACTION["inputs"]:
        result = act(**{name.replace("-", "_"): evil})
        assert "Traceback" not in result.stderr
    assert not list(act.workspace.rglob("pwned"))
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


def test_nothing_in_the_checkout_runs(act):
    root = write_environment(act.workspace)
    for name in ("yaml.py", "typer.py", "hfenv.py", "sitecustomize.py"):
        (root / name).write_text("open('ran', 'w')\n", encoding="utf-8")
    assert act().returncode == 0
    assert not (root / "ran").exists()
    assert "python -I -m pip" in ACTION["runs"]["steps"][0]["run"]


def test_formats_that_the_action_names_exist():
    named = set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", ACTION["inputs"]["format"]["description"]))) - {"or"}
    assert named == {each.value for each in FindingsFormat}


# The workflow that `init` writes


@pytest.mark.parametrize("template", [template.name for template in scaffold.templates()])
def test_a_fresh_environment_uses_the_action_of_this_release(tmp_path, template):
    from importlib.metadata import version

    folder = scaffold.scaffold(tmp_path / "mine", template).path
    workflow = yaml.safe_load((folder / ".github/workflows/environment.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["check"]["steps"]
    (use,) = [step for step in steps if step.get("uses", "").startswith(scaffold.REPOSITORY)]
    assert use["uses"] == f"hfenv/hfenv@v{version('hfenv')}"
    assert set(use.get("with", {})) <= set(ACTION["inputs"])
    assert not any("install hfenv" in step.get("run", "") for step in steps)


@pytest.mark.parametrize(
    ("installed", "reference"),
    [("1.2.0", "v1.2.0"), ("1.2.0rc1", "v1.2.0rc1"), ("1.3.0.dev4", "main"), ("1.3.0+local", "main")],
)
def test_only_releases_are_pinned(monkeypatch, installed, reference):
    monkeypatch.setattr("importlib.metadata.version", lambda name: installed)
    assert scaffold.action() == f"hfenv/hfenv@{reference}"


def test_the_page_shows_what_there_is():
    page = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    examples = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)]
    lists = [example if isinstance(example, list) else example.get("steps", []) for example in examples]
    steps = [step for each in lists for step in each]
    ours = [step for step in steps if step.get("uses", "").startswith(scaffold.REPOSITORY)]
    assert len(ours) == 2
    assert {step["uses"] for step in ours} == {scaffold.action()}
    assert {name for step in ours for name in step.get("with", {})} <= set(ACTION["inputs"])
    ((hooks,),) = [example["repos"] for example in examples if "repos" in example]
    (offered,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in hooks["hooks"]] == [offered["id"]]
    assert f"@{hooks['rev']}" == scaffold.action().removeprefix(scaffold.REPOSITORY)
    for each in ACTION["inputs"]:
        assert f"`{each}`" in page
