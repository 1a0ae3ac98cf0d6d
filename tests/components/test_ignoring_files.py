"""Which files ignore rules leave out: the fixed list, `.gitignore` as git reads it, and `.hfenvignore` on top."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hfenv.components import ignoring
from hfenv.components.ignoring import left_out
from hfenv.components.ownership import walk
from hfenv.errors import UnreadableError
from tests.support import run_cli, write_environment

FOLDERS = ("", "a/", "b/", "a/b/", "a/b/a/")
NAMES = ("a", "b", "x.log", "keep.log", "#c", "!d", "b c", "[e]")
PARTS = ("a", "b", "*", "**", "*.log", "keep.log", "?", "[ab]", "[!a]", "x*", r"\#c", r"\!d", "b c", r"\[e]", "*.*")


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())


def paths(root):
    return {entry.path for entry in walk(root)}


def patterns():
    body = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join)
    parts = st.tuples(st.sampled_from(["", "", "!"]), st.sampled_from(["", "", "/"]), body)
    line = st.tuples(parts.map("".join), st.sampled_from(["", "", "/", " ", "\r"])).map("".join)
    return st.lists(line | st.sampled_from(["", "# a", "#", "   "]), max_size=5).map("\n".join)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A repository of git's with the same few names in every folder; none of git's own excludes hold."""
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", root], check=True)
    write(root, {folder + name: "" for folder in FOLDERS for name in NAMES if folder + name + "/" not in FOLDERS})
    (root / ".git" / "info" / "exclude").write_text("")
    return root


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(files={"": "*.log\n!a"})
@example(files={"": "a/**\n!a/b", "a/": "!x.log"})
@example(files={"": "a/*\n!a/b/\n*.log", "a/b/": "!*.log"})
@example(files={"": "a/\n", "a/": "!x.log"})
@example(files={"": "/b/\n**/a/**\n"})
@example(files={"": "*/"})
@example(files={"": "a/**/"})
@example(files={"": "/**/\n!a/**/**/"})
@example(files={"a/": "**/\n!b/"})
@given(files=st.dictionaries(st.sampled_from(FOLDERS), patterns(), min_size=1, max_size=3))
def test_nested_ignore_files_mean_what_git_says(tree, files):
    try:
        write(tree, {f"{folder}.gitignore": text for folder, text in files.items()})
        every = [p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file() and ".git" not in p.parts]
        git = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        asked = subprocess.run(
            ["git", "check-ignore", "-z", "--no-index", "--stdin"], cwd=tree, env=git, check=False,
            input="\0".join(every).encode(), capture_output=True,
        )  # fmt: skip
        ignored = set(asked.stdout.decode().rstrip("\0").split("\0")) - {""}
        assert paths(tree) == set(every) - ignored
        assert sum(out.files for out in left_out(tree) if out.source != "built-in") == len(ignored)
    finally:
        for folder in files:
            (tree / folder / ".gitignore").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "name",
    [".GIT", "Venv", "id_rsa", "server.pem", "Key.PEM", ".env", ".env.local", ".netrc", "x.py~", ".x.py.swp", "._x.py",
     "#x.py#", ".#x.py", ".DS_Store", "Thumbs.db", "$RECYCLE.BIN"],
)  # fmt: skip
def test_the_fixed_list_has_the_last_word(tmp_path, name):
    negated = "!" + name.replace("#", r"\#") + "\n!*\n"
    ignore = {".hfenvignore": negated, ".gitignore": negated}
    root = write_environment(tmp_path, files={f"env/{name}": "1", f"docs/{name}/x.txt": "1", **ignore})
    before = paths(root)
    assert not [path for path in before if name in path.split("/")]
    assert {(out.path, out.source) for out in left_out(root)} == {
        (f"env/{name}", "built-in"), (f"docs/{name}/", "built-in"),
    }  # fmt: skip


@pytest.mark.parametrize("name", [".env.example", ".envrc", "pem", "#", "key.pub", "a~b", "environment"])
def test_what_only_looks_like_it_stays(tmp_path, name):
    write(tmp_path, {name: "1"})
    assert paths(tmp_path) == {name}


def test_hfenvignore_comes_on_top_of_every_gitignore(tmp_path):
    write(
        tmp_path,
        {
            ".gitignore": "*.parquet\n*.log\n", ".hfenvignore": "!/tasks/*.parquet\nnotes/\n",
            "tasks/.gitignore": "*.parquet\n", "tasks/train.parquet": "", "env/x.parquet": "", "a.log": "",
            "notes/n": "", "notes/m": "",
        },
    )  # fmt: skip
    assert paths(tmp_path) == {".gitignore", ".hfenvignore", "tasks/.gitignore", "tasks/train.parquet"}
    told = {(out.path, out.rule, out.line, out.files) for out in left_out(tmp_path)}
    assert told == {
        ("env/x.parquet", ".gitignore: *.parquet", 1, 1),
        ("a.log", ".gitignore: *.log", 2, 1),
        ("notes/", ".hfenvignore: notes/", 2, 2),
    }


def test_ignore_files_above_an_environment_do_not_change_its_digests(tmp_path):
    write(tmp_path, {".gitignore": "*", "one/a.txt": ""})
    assert paths(tmp_path / "one") == {"a.txt"}


def test_an_ignore_file_that_is_no_text_is_refused_by_name(tmp_path):
    write(tmp_path, {"env/a.txt": ""})
    (tmp_path / "env" / ".gitignore").write_bytes(b"\xff\xfe*")
    with pytest.raises(UnreadableError, match=r"env/\.gitignore can't be read"):
        walk(tmp_path)


def test_a_link_is_refused_unless_it_is_left_out(tmp_path):
    write(tmp_path, {"a.txt": "", ".gitignore": "/out\n"})
    (tmp_path / "out").symlink_to("/")
    assert paths(tmp_path) == {".gitignore", "a.txt"}
    (tmp_path / "in").symlink_to("a.txt")
    with pytest.raises(UnreadableError, match="in: Symbolic links"):
        walk(tmp_path)


def test_without_ignore_files_no_pattern_is_asked(tmp_path, monkeypatch):
    write(tmp_path, {f"d{n}/f{m}.txt": "" for n in range(5) for m in range(5)})
    monkeypatch.setattr(ignoring.Ignores, "rule_for", lambda *_, **__: pytest.fail("a pattern was asked"))
    assert len(paths(tmp_path)) == 25


def test_what_is_left_out_is_in_no_digest(adding_status):
    root, before = adding_status
    write(root, {".hfenvignore": "scratch/\n"})
    write(root, {"env/scratch/x.py": "1", "tasks/scratch/y.jsonl": "{}", "reward/.env": "T=1"})
    assert run_cli("status", root, "--format", "json").json["components"] == before


@pytest.fixture
def adding_status(tmp_path):
    root = write_environment(tmp_path / "adding")
    return root, run_cli("status", root, "--format", "json").json["components"]
