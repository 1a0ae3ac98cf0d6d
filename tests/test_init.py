"""`hfenv init`: names, folders, templates, and an environment that works as it is."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hfenv import scaffold
from hfenv.card.reader import manifest, read_card
from hfenv.errors import UsageError
from tests.support import run_cli

TEMPLATES = [template.name for template in scaffold.templates()]


def files_of(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="session", params=TEMPLATES)
def fresh(request, tmp_path_factory):
    """An environment straight from each template."""
    folder = tmp_path_factory.mktemp("fresh") / "my-env.v2"
    scaffold.scaffold(folder, request.param)
    return folder


def test_fresh_environment_has_no_findings(fresh):
    result = run_cli("validate", fresh, "--format", "json")
    assert (result.exit_code, result.json["findings"]) == (0, [])
    card = read_card(fresh / "README.md")
    assert manifest(card).name == card.front_matter["pretty_name"] == "my-env.v2"


def test_probes_of_a_fresh_environment_score_as_they_say(fresh):
    if not (fresh / "reward/probes.jsonl").is_file():
        pytest.skip("this template has no probes")
    result = run_cli("probe", "check", fresh, "--format", "json")
    assert result.exit_code == 0, result.stdout
    assert result.json["probes"] >= 10
    assert all(result.json["attempts"].values())


def test_fresh_environment_passes_its_own_tests(fresh):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=fresh, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("split", ["train", "test"])
def test_policies_of_a_fresh_environment(fresh, split):
    from hfenv.loading import EnvironmentPool
    from hfenv.runtime.summary import summarise

    with EnvironmentPool(str(fresh), 1, split=split, backend="inline") as pool:
        means = {
            policy: summarise(pool.rollout(policy, episodes=12, seed=1)).mean_u
            for policy in ("oracle", "heuristic", "random")
        }
    assert means["oracle"] == pytest.approx(1.0)
    assert 0.3 <= means["heuristic"] <= 0.9
    assert means["random"] <= 0.1


def test_fresh_environment_can_be_pushed(fresh):
    result = run_cli("push", "me/my-env", fresh, "--hub", "local", "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert result.json["release"] == "1.0.0"


def test_text_files_end_lines_with_lf_and_hold_no_placeholder(fresh):
    for path, content in files_of(fresh).items():
        assert b"\r" not in content, path
        assert not path.endswith(".jinja")
        if path != "env/prompt.md":
            assert b"{{" not in content, path


def test_two_runs_write_the_same_bytes(tmp_path):
    first, second = (tmp_path / place / "same" for place in "ab")
    scaffold.scaffold(first)
    scaffold.scaffold(second)
    assert files_of(first) == files_of(second)


def test_output_names_the_next_commands(tmp_path):
    result = run_cli("init", "my env's folder/shop", cwd=tmp_path)
    assert result.exit_code == 0
    commands = [line.strip() for line in result.stdout.split("Next:\n")[1].splitlines()]
    assert [command.split()[1] for command in commands] == ["validate", "run", "push", "push"]
    folder = subprocess.run(
        ["bash", "-c", f"printf %s {commands[0].removeprefix('hfenv validate ')}"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert (tmp_path / folder / "README.md").is_file()


def test_json_output(tmp_path):
    result = run_cli("init", "shop", "--template", "sql", "--format", "json", cwd=tmp_path)
    assert result.json | {"files": []} == {
        "format": 1, "command": "init", "name": "shop", "path": str(tmp_path / "shop"), "template": "sql",
        "files": [], "replaced": [],
    }  # fmt: skip
    assert set(result.json["files"]) == set(files_of(tmp_path / "shop"))


def test_list_names_what_is_there():
    result = run_cli("init", "--list", "--format", "json")
    assert [template["name"] for template in result.json["templates"]] == TEMPLATES
    assert all(template["summary"].endswith(".") for template in result.json["templates"])


def test_unknown_template_is_refused_with_the_list(tmp_path):
    result = run_cli("init", "shop", "--template", "sqll", cwd=tmp_path)
    assert result.exit_code == 2
    assert "Did you mean 'sql'?" in result.stderr
    assert all(name in result.stderr for name in TEMPLATES)
    assert list(tmp_path.iterdir()) == []


def test_no_name_is_a_usage_error():
    assert run_cli("init").exit_code == 2


@pytest.mark.parametrize("name", ["a b", "-a", ".a", "a-", "a.", "a--b", "a..b", "x.git", "ä", "a" * 97, "a:b"])
def test_bad_names_are_refused(tmp_path, name):
    result = run_cli("init", "--", name, cwd=tmp_path)
    assert result.exit_code == 2
    assert "can't be the name" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "notes.txt").write_text("mine", encoding="utf-8")
    result = run_cli("init", "shop", cwd=tmp_path)
    assert result.exit_code == 2
    assert "isn't empty" in result.stderr
    assert "--force" in result.stderr
    assert files_of(tmp_path) == {"shop/notes.txt": b"mine"}


def test_force_replaces_files_of_the_template_alone_and_says_so(tmp_path):
    target = tmp_path / "shop"
    (target / "env").mkdir(parents=True)
    (target / "env" / "mine.py").write_bytes(b"mine = 1\n")
    (target / "README.md").write_bytes(b"mine\n")
    result = run_cli("init", "shop", "--force", "--format", "json", cwd=tmp_path)
    assert result.exit_code == 0
    assert result.json["replaced"] == ["README.md"]
    assert (target / "env" / "mine.py").read_bytes() == b"mine = 1\n"
    assert (target / "README.md").read_bytes() != b"mine\n"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "shop").write_bytes(b"a file")
    assert run_cli("init", "shop", "--force", cwd=tmp_path).exit_code == 2
    assert files_of(tmp_path) == {"shop": b"a file"}


@pytest.mark.parametrize("prepared", [(), (".git",)])
def test_an_empty_folder_and_one_with_git_alone_are_used(tmp_path, prepared):
    target = tmp_path / "shop"
    target.mkdir()
    for name in prepared:
        (target / name).mkdir()
    assert run_cli("init", ".", cwd=target).exit_code == 0
    assert manifest(read_card(target / "README.md")).name == "shop"


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that has no room for one file after so many others."""

    def after(files):
        moves = iter(range(1_000))
        really = Path.replace

        def replace(self, goal):
            if next(moves) == files:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return really(self, goal)

        monkeypatch.setattr(Path, "replace", replace)
        return monkeypatch

    return after


def test_a_full_disk_leaves_nothing_behind(tmp_path, full_disk):
    full_disk(0)
    with pytest.raises(UsageError, match="can't be written"):
        scaffold.scaffold(tmp_path / "deep" / "er" / "shop")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_half_way_puts_back_what_was_there(tmp_path, full_disk):
    target = tmp_path / "shop"
    target.mkdir()
    (target / "README.md").write_bytes(b"mine\n")
    (target / "LICENSE").write_bytes(b"mine too\n")
    patch = full_disk(12)
    with pytest.raises(UsageError):
        scaffold.scaffold(target, force=True)
    patch.undo()
    assert files_of(tmp_path) == {"shop/README.md": b"mine\n", "shop/LICENSE": b"mine too\n"}
    assert sorted(path.name for path in target.iterdir()) == ["LICENSE", "README.md"]


def test_a_template_can_neither_run_code_nor_leave_a_gap(tmp_path, monkeypatch):
    for kind, text in {"gap": "{{ unknown }}", "code": "{{ name.__class__.__mro__[1].__subclasses__() }}"}.items():
        folder = tmp_path / "templates" / kind
        folder.mkdir(parents=True)
        (folder / "template.json").write_text(json.dumps({"summary": "Bad."}), encoding="utf-8")
        (folder / "README.md.jinja").write_text(text, encoding="utf-8")
    monkeypatch.setattr(scaffold, "data_folder", lambda name: tmp_path / name)
    for kind in ("gap", "code"):
        with pytest.raises(UsageError, match="template"):
            scaffold.scaffold(tmp_path / "out", kind)
        assert not (tmp_path / "out").exists()
