"""The cache looked after: listed, verified, repaired, pruned, shared between processes, read-only, offline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

import hfenv
from hfenv.hub.cachelocks import alone
from hfenv.hub.client import connect
from hfenv.hub.fetch import fetch_checked
from hfenv.hub.verify import verified_commit
from tests.hub.conftest import STEADY
from tests.hub.faults import Rule, cut, drop
from tests.support import replace_in, run_cli

REPO = "local/adding"
RUN = ("--trust-remote-code", "--backend", "inline", "--episodes", "1")


def cached(home, pattern="*"):
    (folder,) = home.glob("cache/hub/*/*--*")
    return sorted(folder.glob(pattern))


@pytest.fixture
def two_pulled(pushed, tmp_path):
    """Two releases that share most files, both in the cache; returns their revisions."""
    root, first = pushed
    assert run_cli("pull", f"{REPO}@{first}", "--to", tmp_path / "one").exit_code == 0
    replace_in(root / "env/words.py", "much", "many")
    run_cli("bump", "code", "patch", "-m", "Other words", "--path", root)
    second = run_cli("push", REPO, root, "--format", "json").json["revision"]
    assert run_cli("pull", f"{REPO}@1.0.1", "--to", tmp_path / "two").exit_code == 0
    return first, second


def test_ls_shows_what_is_there_with_the_bytes_on_the_disk(home, two_pulled):
    found = run_cli("cache", "ls", "--format", "json").json
    (entry,) = found["repositories"]
    assert (entry["repo"], entry["releases"]) == (REPO, ["1.0.0", "1.0.1"])
    assert set(two_pulled) <= set(entry["revisions"])
    assert entry["last_used"].startswith("20")
    files = [path for path in (home / "cache").rglob("*") if path.is_file()]
    assert entry["bytes"] <= found["bytes"] < sum(path.stat().st_size for path in files)
    shown = run_cli("cache", "ls").stdout
    assert "  local  " in shown
    assert "1.0.0, 1.0.1" in shown
    assert run_cli("cache", "ls", "--format", "quiet").stdout == f"{REPO}\n"


def test_an_empty_cache(home):
    assert run_cli("cache", "ls", "--format", "json").json["repositories"] == []
    assert run_cli("cache", "prune").exit_code == run_cli("cache", "verify").exit_code == 0


DAMAGE = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:5]),
    "other bytes": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "deleted": lambda path: path.unlink(),
    "link": lambda path: (path.rename(path.with_name("aside")), path.symlink_to("aside")),
    "folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", ["tree.json", "refs.json", "words.py"])
def test_whatever_is_damaged_is_refused_and_repaired(home, pushed, tmp_path, kind, name):
    _, revision = pushed
    assert run_cli("pull", f"{REPO}@1.0.0", "--to", tmp_path / "x").exit_code == 0
    path = next((home / "cache").rglob(f"{revision}/**/{name}" if name != "refs.json" else name))
    DAMAGE[kind](path)
    ref = f"{REPO}@1.0.0" if name == "refs.json" else f"{REPO}@{revision}"
    refused = run_cli("pull", ref, "--to", tmp_path / "y", "--offline")
    if kind == "deleted":
        assert refused.exit_code == (0 if name == "words.py" else 6)  # its content is still there
    elif kind == "link" and name == "refs.json":
        assert refused.exit_code == 0  # it is a cache of a name, not of content
    else:
        assert refused.exit_code == 7, refused.stderr
        assert "hfenv cache verify --repair" in refused.stderr
        assert run_cli("cache", "verify").exit_code == 1
    repaired = run_cli("cache", "verify", "--repair", "--format", "json")
    assert repaired.exit_code == 0
    cures = {each["path"].split("/")[-1]: each["cure"] for each in repaired.json["damaged"]}
    if refused.exit_code == 7:
        assert cures[name] == ("removed" if name == "refs.json" else "fetched")
    assert run_cli("cache", "verify").exit_code == 0
    assert run_cli("pull", ref, "--to", tmp_path / "z").exit_code == 0


def test_prune_takes_what_was_not_used_for_long_and_nothing_that_others_need(home, two_pulled, tmp_path):
    first, second = two_pulled
    for tree in cached(home, f"commits/{first}/tree.json"):
        os.utime(tree, (1, 1))
    planned = run_cli("cache", "prune", "--older-than", "30d", "--dry-run", "--format", "json").json
    assert cached(home, f"commits/{first}") != []
    done = run_cli("cache", "prune", "--older-than", "30d", "--format", "json").json
    assert {**planned, "dry_run": False} == done
    assert done["revisions"] == [{"repo": REPO, "revision": first}]
    assert (done["blobs"] > 0, done["bytes"] > 0) == (True, True)
    assert cached(home, f"commits/{first}") == []
    assert run_cli("pull", f"{REPO}@{second}", "--offline", "--to", tmp_path / "x").exit_code == 0
    again = run_cli("cache", "prune", "--format", "json").json
    assert (again["blobs"], again["bytes"], again["revisions"]) == (0, 0, [])


def test_prune_keeps_what_is_locked_and_what_is_in_use(home, two_pulled, tmp_path):
    first, second = two_pulled
    lock = tmp_path / "hfenv.lock"
    assert run_cli("lock", f"{REPO}@{first}", "--lock-file", lock).exit_code == 0
    env = hfenv.load(REPO, revision=second, trust_remote_code=True)
    with connect("local") as hub:
        done = run_cli("cache", "prune", "--repo", REPO, "--keep-locked", lock, "--format", "json").json
        assert {"repo": REPO, "revision": second} in done["in_use"]
        assert cached(home, f"commits/{first}") != []
        assert cached(home, f"commits/{second}") != []
        env.close()
        for sha in (first, second):
            verified_commit(hub, REPO, sha, [], lambda path: False).let_go()
    done = run_cli("cache", "prune", "--repo", REPO, "--format", "json").json
    assert {each["revision"] for each in done["revisions"]} >= {first, second}
    assert {path.name for path in cached(home)} == {"marks.json", "refs.json"}


def test_what_another_process_loaded_is_in_use_as_long_as_it_lives(home, two_pulled):
    _, second = two_pulled
    code = (
        f"import hfenv, sys; env = hfenv.load({REPO!r}, revision={second!r}, trust_remote_code=True)\n"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "ready\n"
        done = run_cli("cache", "prune", "--older-than", "0s", "--format", "json").json
        assert second in [each["revision"] for each in done["in_use"]]
        holder.kill()
    done = run_cli("cache", "prune", "--older-than", "0s", "--format", "json").json
    assert second in [each["revision"] for each in done["revisions"]]


def test_leftovers_of_killed_downloads_go_unless_somebody_goes_on_with_them(home, released, proxy):
    proxy.script(Rule(cut(), "GET", "*big.bin"), Rule(drop(), "GET", "*big.bin", nth=2, times=None))
    with connect() as hub, pytest.raises(hfenv.HfenvError):
        fetch_checked(hub, STEADY, released[1], lambda path: path.endswith("big.bin"))
    ((partial,),) = (cached(home, "partial/*"),)
    lock = partial.parent.parent / "locks" / partial.name

    def no_waiting(_):
        pytest.fail("the lock is free")

    with alone(lock, no_waiting) as held:
        assert held
        assert run_cli("cache", "prune", "--format", "json").json["leftovers"] == 0
    lock.touch()  # what a killed process leaves
    assert run_cli("cache", "prune", "--format", "json").json["leftovers"] == 1
    assert cached(home, "partial/*") == cached(home, "locks/*") == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--older-than", "soon"], 2),
        (["--repo", "x"], 2),
        (["--keep-locked", "nothing.lock"], 4),
        (["--repo", "local/adding", "--keep-locked", "adding/README.md"], 3),  # which keeps nothing
    ],
)
def test_prune_refuses_what_it_does_not_understand(home, two_pulled, tmp_path, options, code):
    before = cached(home, "**/*")
    assert run_cli("cache", "prune", *options, cwd=tmp_path).exit_code == code
    assert cached(home, "**/*") == before


def test_a_load_takes_its_split_alone_and_the_resources_that_the_card_names(home, adding):
    for name in ("named", "other"):
        (adding / "tasks" / "resources").mkdir(exist_ok=True)
        (adding / "tasks" / "resources" / f"{name}.bin").write_bytes(name.encode())
    entry = "  resources: [{name: words, path: tasks/resources/named.bin}]\n"
    replace_in(adding / "README.md", '  spec: "1"\n', '  spec: "1"\n' + entry)
    assert run_cli("push", REPO, adding).exit_code == 0
    for split, files in (("test", ["named.bin", "test.jsonl"]), (None, ["named.bin", "test.jsonl", "train.jsonl"])):
        env = hfenv.load(REPO, split=split, trust_remote_code=True)
        env.reset(seed=0)
        assert env.provenance["tasks"]["exact"]
        env.close()
        assert sorted(path.name for path in cached(home, "commits/*/files/tasks/**/*.*")) == files


def test_offline_by_name_says_what_it_serves_and_never_another_revision(home, pushed, tmp_path, caplog):
    _, revision = pushed
    assert run_cli("pull", f"{REPO}@1.0.0", "--to", tmp_path / "x").exit_code == 0
    by_name = run_cli("pull", f"{REPO}@1.0.0", "--offline", "--to", tmp_path / "y")
    assert by_name.exit_code == 0
    (notice,) = [record.getMessage() for record in caplog.records if "Offline" in record.getMessage()]
    assert (f"{REPO}@1.0.0 is {revision}" in notice, "UTC" in notice) == (True, True)
    caplog.clear()
    by_hash = run_cli("pull", f"{REPO}@{revision}", "--offline", "--to", tmp_path / "z")
    assert (by_hash.exit_code, by_hash.stderr, caplog.text) == (0, "", "")
    gone = run_cli("pull", f"{REPO}@{'1' * 40}", "--offline", "--to", tmp_path / "w")
    assert (gone.exit_code, "1" * 40 in gone.stderr) == (6, True)
    shutil.rmtree(home / "hub" / "datasets")
    assert run_cli("run", f"{REPO}@{revision}", *RUN).exit_code == 0
    assert run_cli("pull", f"{REPO}@main", "--to", tmp_path / "w").exit_code == 4
    assert not (tmp_path / "w").exists()


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root writes everywhere")
def test_a_cache_that_cannot_be_written_serves_what_it_holds(home, pushed, tmp_path):
    _, revision = pushed
    env = hfenv.load(f"{REPO}@1.0.0", trust_remote_code=True)
    env.close()
    for path in [home / "cache", *(home / "cache").rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = f"import hfenv; hfenv.load({REPO!r}, revision={revision!r}, trust_remote_code=True, offline=True).close()"
    command = [sys.executable, "-c", code]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for path in [home / "cache", *(home / "cache").rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.returncode == 0, done.stderr


def pullers(count, tmp_path):
    """Processes that pull the same release into one cache at the same moment."""
    command = [sys.executable, "-m", "hfenv.cli", "pull", f"{STEADY}@1.0.0", "--format", "json", "--to"]
    started = [
        subprocess.Popen([*command, str(tmp_path / f"{n}")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for n in range(count)
    ]
    return [(process.communicate(), process.returncode) for process in started]


@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_processes_that_pull_one_release_download_each_file_once(released, proxy, tmp_path, count):
    for (out, err), code in pullers(count, tmp_path):
        assert code == 0, err
        assert json.loads(out)["revision"] == released[1]
    asked = [seen.path for seen in proxy.seen("GET", "*/resolve/*")]
    assert len(asked) == len(set(asked)) >= 12
    assert proxy.count("GET", "*/tree/*") == 1
    for number in range(count):
        assert (tmp_path / f"{number}" / "env/words.py").read_bytes() == (released[0] / "env/words.py").read_bytes()


def test_a_cache_that_cannot_be_is_no_damaged_one(pushed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HFENV_CACHE", str(tmp_path / "file" / "cache"))
    refused = run_cli("pull", "local/adding", "--to", tmp_path / "copy")
    assert refused.exit_code == 2
    assert "damaged" not in refused.stderr
    assert str(tmp_path / "file") in refused.stderr


def test_what_killed_processes_left_is_swept_by_the_next_download(pushed, home, tmp_path):
    root, _ = pushed
    (repository,) = (home / "cache" / "hub").glob("*/local--adding")
    (commit, *_) = (repository / "commits").iterdir()
    left = [commit / ".hfenv-abc.part", repository / "blobs" / ".hfenv-abc.part", repository / ".hfenv-abc.part"]
    young = commit / ".hfenv-now.part"
    for path in (*left, young):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    for path in left:
        os.utime(path, (1, 1))
    (root / "LICENSE").write_text("Another text.\n")
    assert run_cli("push", "local/adding", root).exit_code == 0
    assert run_cli("pull", "local/adding@main", "--to", tmp_path / "copy").exit_code == 0
    assert [path for path in left if path.exists()] == []
    assert young.exists()
