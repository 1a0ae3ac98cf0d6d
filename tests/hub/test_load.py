"""Pull and load: by hash without a request, verified, trusted, mixed, and refused with a cure."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pygit2
import pytest

import hfenv
from hfenv.components.ownership import Component
from hfenv.hub.client import connect
from hfenv.hub.fetch import fetch
from hfenv.hub.references import parse_reference
from hfenv.hub.resolve import resolve
from hfenv.runtime.loader import load_environment
from hfenv.specify import Origin, specify
from tests.support import replace_in, run_cli

REPO = "local/adding"


def requests_of_load(ref, **options):
    """Load and close an environment; how many requests that took."""
    with connect("local") as hub:
        spec = specify(ref, origin=Origin(trust_remote_code=True, opened=hub), **options)
        load_environment(spec).close()
        return hub.requests


@pytest.fixture
def two_releases(pushed):
    """Releases 1.0.0 and 2.0.0, whose rewards differ; returns their revisions."""
    root, first = pushed
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    run_cli("bump", "reward", "major", "-m", "Halve the penalty", "--path", root)
    second = run_cli("push", REPO, root, "--format", "json").json["revision"]
    return first, second


def penalty(env):
    env.reset(seed=0)
    reward = env.step("no number").reward
    env.close()
    return reward


def test_a_warm_load_by_hash_makes_no_request_and_by_version_one(pushed):
    _, revision = pushed
    assert requests_of_load(REPO, revision=revision) > 0
    assert requests_of_load(REPO, revision=revision) == 0
    assert requests_of_load(f"{REPO}@{revision}") == 0
    assert requests_of_load(f"{REPO}@1.0.0") == 1


def test_two_revisions_live_side_by_side(two_releases):
    first, second = two_releases
    old = hfenv.load(REPO, revision=first, trust_remote_code=True)
    new = hfenv.load(REPO, revision=second, trust_remote_code=True)
    assert old.reset(seed=3)[0] == new.reset(seed=3)[0]
    assert (old.step("x").reward, new.step("x").reward) == (-1.0, -0.5)
    assert old.provenance["reward"]["version"] == "1.0.0"
    assert new.provenance["reward"]["version"] == "2.0.0"
    old.close()
    new.close()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("", -0.5), ("@2.0.0", -0.5), ("@1.0.0", -1.0), ("@^1", -1.0), ("@v1.0.0", -1.0), ("@main", -0.5),
        ("@reward=1.0.0", -1.0), ("@code=1.0.0,reward=2.0.0", -0.5), ("@code=1.0.0", -1.0),
    ],
)  # fmt: skip
def test_every_form_of_reference(two_releases, spec, expected):
    assert penalty(hfenv.load(REPO + spec, trust_remote_code=True)) == expected


def test_mixed_components_say_where_each_comes_from(two_releases):
    first, second = two_releases
    env = hfenv.load(f"{REPO}@code={second},tasks=1.0.0,reward={first}", trust_remote_code=True)
    where = {name: env.provenance[name]["revision"] for name in ("code", "tasks", "reward")}
    assert where == {"code": second, "tasks": first, "reward": first}
    assert env.provenance["release"] is None
    assert penalty(env) == -1.0


def test_load_reward_and_tasks_bring_nothing_else(home, two_releases):
    score = hfenv.load_reward(f"{REPO}@reward=1.0.0", trust_remote_code=True)
    turn = hfenv.Turn("x", hfenv.Outcome(data={"said": "19"}))
    assert score({"answer": "19"}, (turn,)).total == 1.0
    tasks = hfenv.load_tasks(f"{REPO}@1.0.0", split="test")
    assert tasks.num_rows == 4
    assert tasks[0]["answer"] == "19"
    cached = {path.name for path in (home / "cache").rglob("files/**/*") if path.is_file()}
    assert "environment.py" not in cached
    assert "train.jsonl" not in cached


def test_untrusted_code_is_never_imported(pushed, tmp_path):
    root, _ = pushed
    marker = tmp_path / "imported"
    (root / "reward/reward.py").write_text(
        f"open({str(marker)!r}, 'w').close()\n" + (root / "reward/reward.py").read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    run_cli("bump", "reward", "major", "-m", "Leave a mark", "--path", root)
    run_cli("push", REPO, root)
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load(REPO)
    assert caught.value.exit_code == 7
    assert run_cli("run", REPO).exit_code == 7
    assert not marker.exists()
    assert run_cli("trust", "add", REPO).exit_code == 0
    assert not marker.exists()
    hfenv.load(REPO).close()
    assert marker.exists()


def test_trust_is_for_exactly_this_code_and_reward(pushed):
    root, _ = pushed
    assert run_cli("trust", "add", REPO).exit_code == 0
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    run_cli("push", REPO, root)
    hfenv.load(f"{REPO}@main").close()  # a documentation commit isn't asked about
    replace_in(root / "env/words.py", "much", "many")
    run_cli("bump", "code", "patch", "-m", "Other words", "--path", root)
    run_cli("push", REPO, root)
    assert run_cli("run", REPO).exit_code == 7
    assert run_cli("run", f"{REPO}@1.0.0", "--backend", "inline").exit_code == 0
    assert run_cli("trust", "remove", REPO).exit_code == 0
    assert run_cli("run", f"{REPO}@1.0.0").exit_code == 7
    assert run_cli("trust", "remove", REPO).exit_code == 4


def test_a_pulled_folder_needs_trust_until_it_is_the_users_own(pushed, tmp_path):
    assert run_cli("pull", REPO, "--to", tmp_path / "copy").exit_code == 0
    assert run_cli("run", tmp_path / "copy").exit_code == 7
    assert run_cli("trust", "add", tmp_path / "copy").exit_code == 0
    assert run_cli("run", tmp_path / "copy", "--backend", "inline").exit_code == 0


def test_pull_lays_out_the_release_and_restores_modes(tmp_path):
    from tests.support import write_environment

    root = write_environment(tmp_path / "adding", files={"env/run.sh": "#!/bin/sh\n"})
    (root / "env" / "run.sh").chmod(0o755)
    run_cli("push", REPO, root)
    result = run_cli("pull", f"{REPO}@1.0.0", "--to", tmp_path / "copy", "--format", "json")
    assert result.exit_code == 0, result.stderr
    copy = tmp_path / "copy"
    ours = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    theirs = {p.relative_to(copy).as_posix(): p.read_bytes() for p in copy.rglob("*") if p.is_file()}
    ours.pop(".hfenv/state.json")
    ours.pop(".hfenv/pushed.json")  # what was pushed is nothing that a pulled folder knows
    theirs.pop(".hfenv/state.json")
    theirs.pop(".gitattributes", None)
    assert theirs == ours
    assert os.access(copy / "env" / "run.sh", os.X_OK)
    assert run_cli("push", REPO, copy, "--format", "json").json["created"] is False


def test_pull_only_one_component(pushed, tmp_path):
    assert run_cli("pull", REPO, "--to", tmp_path / "copy", "--only", "reward").exit_code == 0
    found = {p.relative_to(tmp_path / "copy").parts[0] for p in (tmp_path / "copy").iterdir()}
    assert found == {"README.md", "release.json", "reward", ".hfenv"}


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (["pull", "local/nothing"], 4, "local/nothing"),
        (["run", "local/nothing@1.0.0"], 4, "local/nothing"),
        (["pull", f"{REPO}@9.9.9"], 4, "Released: 1.0.0"),
        (["pull", f"{REPO}@reward=9.9.9"], 4, "Released: 1.0.0"),
        (["pull", f"{REPO}@^7"], 4, "Released: 1.0.0"),
        (["pull", f"{REPO}@{'0' * 40}"], 4, "0000"),
        (["pull", f"{REPO}@nobranch"], 4, "main"),
        (["pull", f"{REPO}@abcdef1"], 4, "in full"),
        (["pull", "local/--bad"], 2, "namespace/name"),
        (["pull", REPO, "--only", "banana"], 2, "code, tasks or reward"),
        (["run", REPO, "--split", "banana", "--trust-remote-code"], 4, "test"),
        (["run", REPO, "--policy", "banana", "--trust-remote-code"], 2, "oracle"),
        (["run", REPO, "--hub", "banana"], 2, "http"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(pushed, tmp_path, command, code, says):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    result = run_cli(*command, cwd=elsewhere)
    assert (result.exit_code, says in result.stderr) == (code, True), result.stderr
    assert list(elsewhere.iterdir()) == []


def test_the_embedded_hub_asks_nobody_to_log_in(tmp_path):
    refused = run_cli("pull", "local/nothing", "--to", tmp_path / "x")
    assert refused.exit_code == 4
    assert "the embedded hub" in refused.stderr
    assert "log in" not in refused.stderr


def test_a_target_that_is_not_empty_is_refused(pushed, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", encoding="utf-8")
    assert run_cli("pull", REPO, "--to", tmp_path / "full").exit_code == 2
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert run_cli("pull", REPO, "--to", tmp_path / "empty").exit_code == 0


@pytest.mark.parametrize("damage", [b"def score(task, transcript): return 1.0\n", b"", None])
def test_a_damaged_cache_is_refused_and_repaired(home, pushed, damage):
    _, revision = pushed
    hfenv.load(REPO, revision=revision, trust_remote_code=True).close()
    victim = next((home / "cache").rglob(f"{revision}/files/reward/reward.py"))
    victim.unlink()
    if damage is not None:
        victim.write_bytes(damage)
        with pytest.raises(hfenv.HfenvError) as caught:
            hfenv.load(REPO, revision=revision, trust_remote_code=True)
        assert caught.value.exit_code == 7
        assert "hfenv cache verify --repair" in caught.value.hint
        assert run_cli("cache", "verify").exit_code == 1
        assert run_cli("cache", "verify", "--repair").exit_code == 0
    assert run_cli("cache", "verify").exit_code == 0
    hfenv.load(REPO, revision=revision, trust_remote_code=True).close()


def test_a_damaged_blob_is_not_handed_on(home, pushed):
    _, revision = pushed
    hfenv.load(REPO, revision=revision, trust_remote_code=True).close()
    for blob in (home / "cache").rglob("blobs/*"):
        with blob.open("ab") as stream:  # in place: hard links to it change along
            stream.write(b"x")
    assert run_cli("run", f"{REPO}@{revision}", "--trust-remote-code").exit_code == 7
    assert run_cli("cache", "verify", "--repair").exit_code == 0
    assert run_cli("run", f"{REPO}@{revision}", "--trust-remote-code", "--backend", "inline").exit_code == 0


def test_offline_serves_hashes_and_names_seen_before_and_nothing_else(pushed, tmp_path):
    _, revision = pushed
    assert run_cli("pull", f"{REPO}@{revision}", "--offline", "--to", tmp_path / "x").exit_code == 6
    hfenv.load(f"{REPO}@1.0.0", trust_remote_code=True).close()
    for ref in (f"{REPO}@{revision}", f"{REPO}@1.0.0"):
        assert run_cli("run", ref, "--offline", "--trust-remote-code", "--backend", "inline").exit_code == 0
    assert run_cli("run", f"{REPO}@2.0.0", "--offline", "--trust-remote-code").exit_code == 4


def test_unreleased_content_needs_its_hash_and_a_word(pushed):
    with connect("local") as hub:
        info = hub.api.upload_file(
            path_or_fileobj=b"def score(task, transcript):\n    return 1.0\n", path_in_repo="reward/reward.py",
            repo_id=REPO, repo_type="dataset",
        )  # fmt: skip
    for ref in (f"{REPO}@main", f"{REPO}@{info.oid}"):
        with pytest.raises(hfenv.HfenvError) as caught:
            hfenv.load(ref, trust_remote_code=True)
        assert caught.value.exit_code == 7
    env = hfenv.load(REPO, revision=info.oid, allow_unreleased=True, trust_remote_code=True)
    assert env.provenance["unreleased"] is True
    env.close()
    assert hfenv.load(REPO, trust_remote_code=True).provenance["unreleased"] is False


def test_a_tag_that_was_moved_after_the_release_is_refused(home, two_releases):
    first, second = two_releases
    repository = pygit2.Repository(str(home / "hub" / "datasets" / f"{REPO}.git"))
    repository.references.create("refs/tags/v1.0.0", second, force=True)
    repository.references.create("refs/tags/reward-v1.0.0", second, force=True)
    assert run_cli("run", f"{REPO}@1.0.0", "--trust-remote-code").exit_code == 7
    assert run_cli("run", f"{REPO}@reward=1.0.0", "--trust-remote-code").exit_code == 7
    assert run_cli("run", f"{REPO}@{first}", "--trust-remote-code", "--backend", "inline").exit_code == 0


def test_yanked_releases_are_passed_over_but_still_load_by_name(two_releases, pushed):
    root, _ = pushed
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n  yanked: [{release: "2.0.0", reason: wrong sign}]\n')
    result = run_cli("push", REPO, root)
    assert result.exit_code == 0, result.stderr
    assert penalty(hfenv.load(REPO, trust_remote_code=True)) == -1.0
    assert penalty(hfenv.load(f"{REPO}@2.0.0", trust_remote_code=True)) == -0.5


HOSTILE = {
    "reserved name": {"env/con.py": b"x"},
    "backslash": {"env/..\\evil.py": b"x"},
    "case collision": {"env/Environment.py": b"x"},
    "compiled": {"env/evil.pyc": b"x"},
    "trailing dot": {"env/evil.": b"x"},
    "control character": {"env/a\nb.py": b"x"},
    "state of a folder": {".hfenv/state.json": b"{}"},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_repository_writes_nothing_and_is_refused(home, pushed, tmp_path, kind):
    repository = pygit2.Repository(str(home / "hub" / "datasets" / f"{REPO}.git"))
    head = repository.references["refs/heads/main"].peel(pygit2.Commit)
    ((path, content),) = HOSTILE[kind].items()
    folder, name = path.split("/")
    builder = repository.TreeBuilder(head.tree[folder]) if folder in head.tree else repository.TreeBuilder()
    builder.insert(name, repository.create_blob(content), pygit2.enums.FileMode.BLOB)
    top = repository.TreeBuilder(head.tree)
    top.insert(folder, builder.write(), pygit2.enums.FileMode.TREE)
    who = pygit2.Signature("evil", "evil@example.org")
    sha = str(repository.create_commit("refs/heads/main", who, who, "evil", top.write(), [head.id]))
    assert run_cli("pull", f"{REPO}@{sha}", "--to", tmp_path / "x").exit_code == 7
    assert run_cli("run", f"{REPO}@{sha}", "--trust-remote-code").exit_code == 7
    assert not (tmp_path / "x").exists()
    assert list((home / "cache").rglob(f"{sha}/files")) == []


def test_a_full_disk_leaves_nothing_behind(home, pushed, tmp_path):
    root, _ = pushed
    (root / "tasks" / "resources").mkdir()
    (root / "tasks" / "resources" / "big.bin").write_bytes(os.urandom(3_000_000))
    run_cli("bump", "tasks", "minor", "-m", "A big file", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0

    def small_files_only():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    command = [sys.executable, "-m", "hfenv.cli", "pull", REPO, "--to", str(tmp_path / "x"), "--hub", "local"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=small_files_only)
    assert done.returncode == 2, done.stderr
    assert " space" in done.stderr
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir() if p.name.endswith((".part", "x"))] == []
    assert list((home / "cache").rglob("*.part")) == []
    assert run_cli("pull", REPO, "--to", tmp_path / "x").exit_code == 0


def test_a_download_that_cannot_fit_is_refused_before_it_starts(pushed, tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10))
    result = run_cli("pull", REPO, "--to", tmp_path / "x")
    assert result.exit_code == 2
    assert "HFENV_CACHE" in result.stderr


def test_resources_are_fetched_with_the_tasks(pushed, tmp_path):
    root, _ = pushed
    (root / "tasks" / "resources").mkdir()
    (root / "tasks" / "resources" / "words.txt").write_text("w\n", encoding="utf-8")
    entry = "  resources: [{name: words, path: tasks/resources/words.txt}]\n"
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n' + entry)
    run_cli("bump", "tasks", "minor", "-m", "Words", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    with connect("local") as hub:
        resolved = resolve(hub, parse_reference(REPO))
        cached = fetch(hub, REPO, resolved.commits[Component.TASKS], lambda path: path.startswith("tasks/"))
    assert Path(cached.files / "tasks/resources/words.txt").read_text(encoding="utf-8") == "w\n"


def test_load_dataset_reads_what_was_pushed(home, pushed):
    # The real `datasets` client, on the config that push wrote for it; it has no in-process transport of its own.
    import datasets

    root, _ = pushed
    card = (root / "README.md").read_text(encoding="utf-8")
    assert "config_name: tasks" in card
    rows = datasets.load_dataset(str(root), "tasks", split="test", cache_dir=str(home / "datasets"))
    expected = [json.loads(line) for line in (root / "tasks/test.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [dict(row) for row in rows] == expected


BUILTIN = """\
import hfenv


class Adding(hfenv.Environment):
    def reset(self, *, seed=None, task_id=None, options=None):
        return task_id, {}

    def step(self, action):
        return hfenv.StepResult(None, 0.5, True, False, {})
"""


def test_a_reward_that_is_built_in_cannot_be_mixed_or_loaded_alone(tmp_path):
    from tests.support import CARD, write_environment

    card = CARD.replace('entry: "reward/reward.py:score", range', "builtin: true, range")
    root = write_environment(tmp_path / "adding", files={"README.md": card, "env/environment.py": BUILTIN})
    (root / "reward" / "reward.py").unlink()
    (root / "reward").rmdir()
    first = run_cli("push", REPO, root)
    assert first.exit_code == 0, first.stderr
    replace_in(root / "env/environment.py", "0.5", "0.25")
    run_cli("bump", "code", "major", "-m", "Pay less", "--path", root)
    run_cli("bump", "reward", "2.0.0", "-m", "Pay less", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    env = hfenv.load(f"{REPO}@1.0.0", trust_remote_code=True)
    env.reset(seed=0)
    assert env.step("x").reward == 0.5
    env.close()
    for refused in (
        lambda: hfenv.load(f"{REPO}@code=2.0.0,reward=1.0.0", trust_remote_code=True),
        lambda: hfenv.load_reward(f"{REPO}@reward=1.0.0", trust_remote_code=True),
    ):
        with pytest.raises(hfenv.HfenvError) as caught:
            refused()
        assert caught.value.exit_code == 2


def test_a_missing_package_is_named_before_anything_is_imported(pushed):
    root, _ = pushed
    marker = root.parent / "imported"
    entry = '  requires: {packages: ["nosuchpackage-hfenv>=3"]}\n'
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n' + entry)
    replace_in(root / "env/environment.py", "import hfenv\n", f"import hfenv\nopen({str(marker)!r}, 'w').close()\n")
    run_cli("bump", "code", "patch", "-m", "Needs a package", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    for ref, options in ((REPO, ["--trust-remote-code"]), (root, [])):
        refused = run_cli("run", ref, *options)
        assert refused.exit_code == 3
        assert "pip install" in refused.stderr
        assert "nosuchpackage-hfenv>=3" in refused.stderr
    assert not marker.exists()


def test_policies_are_trusted_like_code(pushed, tmp_path):
    root, _ = pushed
    marker = tmp_path / "ran"
    assert run_cli("trust", "add", REPO).exit_code == 0
    assert run_cli("run", REPO, "--policy", "oracle", "--backend", "inline").exit_code == 0
    path = root / "audit/policies.py"
    path.write_text(f"open({str(marker)!r}, 'w').close()\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert run_cli("push", REPO, root).exit_code == 0
    assert run_cli("run", f"{REPO}@main", "--policy", "oracle", "--backend", "inline").exit_code == 7
    assert not marker.exists()
    (root / "audit" / "report.json").write_text("{}", encoding="utf-8")
    assert run_cli("push", REPO, root).exit_code == 0
    assert run_cli("trust", "add", f"{REPO}@main").exit_code == 0
    (root / "audit" / "report.json").write_text("{ }", encoding="utf-8")
    assert run_cli("push", REPO, root).exit_code == 0
    assert run_cli("run", f"{REPO}@main", "--policy", "oracle", "--backend", "inline").exit_code == 0


def test_files_outside_the_digest_are_never_imported(pushed, tmp_path):
    root, _ = pushed
    # A plain import of what isn't there would be found before the push.
    late = 'import importlib\n\nASK = importlib.import_module(".venv", __package__).ASK'
    replace_in(root / "env/environment.py", "from .words import ASK", late)
    run_cli("bump", "code", "patch", "-m", "Import what is excluded", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    with connect("local") as hub:
        hub.api.upload_file(
            path_or_fileobj=b"ASK = 'smuggled '\n", path_in_repo="env/venv/__init__.py", repo_id=REPO,
            repo_type="dataset",
        )  # fmt: skip
    assert run_cli("pull", f"{REPO}@main", "--to", tmp_path / "copy").exit_code == 0
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load(str(tmp_path / "copy"), trust_remote_code=True)
    assert caught.value.exit_code in (1, 7)
    assert "venv" in str(caught.value)


def test_code_that_changes_after_loading_is_not_picked_up(pushed):
    root, _ = pushed
    spec = specify(str(root), origin=Origin())
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    with pytest.raises(hfenv.HfenvError) as caught:
        load_environment(spec)
    assert caught.value.exit_code == 7
    assert "Load it again" in caught.value.hint


def test_a_file_added_to_the_cache_is_no_part_of_the_tasks(home, pushed):
    root, _ = pushed
    replace_in(root / "README.md", "train: tasks/train.jsonl", "train: tasks/tr*.jsonl")
    run_cli("bump", "tasks", "patch", "-m", "A pattern", "--path", root)
    revision = run_cli("push", REPO, root, "--format", "json").json["revision"]
    env = hfenv.load(REPO, revision=revision, trust_remote_code=True)
    assert len(env.tasks) == 12
    env.close()
    (cached,) = (home / "cache").rglob(f"{revision}/files/tasks")
    (cached / "tr2.jsonl").write_text('{"id": "x", "question": "x", "answer": "x"}\n', encoding="utf-8")
    env = hfenv.load(REPO, revision=revision, trust_remote_code=True)
    assert len(env.tasks) == 12
    env.close()


@pytest.mark.parametrize("pattern", ["tasks/**/tr*.jsonl", "tasks/*ain.jsonl", "tasks/[t]rain.jsonl"])
def test_split_patterns_mean_the_same_everywhere(pushed, pattern):
    root, _ = pushed
    replace_in(root / "README.md", "train: tasks/train.jsonl", f'train: "{pattern}"')
    run_cli("bump", "tasks", "patch", "-m", "A pattern", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    assert hfenv.load_tasks(f"{REPO}@1.0.1").num_rows == 12
    assert hfenv.load_tasks(str(root)).num_rows == 12


def test_tasks_of_an_unreleased_commit_need_a_word_too(pushed):
    with connect("local") as hub:
        row = b'{"id": "train-0", "question": "edited", "answer": "7", "difficulty": "easy"}\n'
        info = hub.api.upload_file(
            path_or_fileobj=row, path_in_repo="tasks/train.jsonl", repo_id=REPO, repo_type="dataset"
        )
    with pytest.raises(hfenv.HfenvError):
        hfenv.load_tasks(f"{REPO}@main")
    assert hfenv.load_tasks(REPO, revision=info.oid, allow_unreleased=True).num_rows == 1


def test_the_cure_for_missing_trust_names_exactly_what_was_asked_for(pushed):
    refused = run_cli("run", f"{REPO}@1.0.0", "--hub", "local")
    assert f"hfenv trust add {REPO}@1.0.0 --hub local" in refused.stderr


@pytest.mark.parametrize("kind", ["folder for a file", "file for a folder", "link", "dangling link", "linked folder"])
def test_whatever_stands_in_the_cache_is_refused_or_replaced_and_can_be_repaired(home, pushed, tmp_path, kind):
    _, revision = pushed
    command = ("run", f"local/adding@{revision}", "--trust-remote-code", "--backend", "inline", "--episodes", "1")
    assert run_cli(*command).exit_code == 0
    (folder,) = home.glob(f"cache/hub/*/*/commits/{revision}")
    env, words = folder / "files" / "env", folder / "files" / "env" / "words.py"
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(env, elsewhere)
    if "folder" in kind and kind != "folder for a file":
        shutil.rmtree(env)
        env.symlink_to(elsewhere) if kind == "linked folder" else env.write_text("x")
    else:
        words.unlink()
        if kind == "folder for a file":
            words.mkdir()
        else:
            words.symlink_to(tmp_path / "nothing" if kind == "dangling link" else __file__)
    first = run_cli(*command)
    assert first.exit_code in (0, 7), first.stderr
    assert first.exit_code == 0 or "cache verify --repair" in first.stderr
    (folder.parent / "stray").write_text("x")
    (folder.parent.parent / "blobs" / "stray").mkdir()
    assert run_cli("cache", "verify", "--repair").exit_code == 0
    assert run_cli("cache", "verify").exit_code == 0
    assert run_cli(*command).exit_code == 0
    assert not any(path.is_symlink() for path in (folder / "files").rglob("*"))


@pytest.mark.parametrize("to", ["card/README.md/below", "x" * 300])
def test_a_target_that_cannot_be_a_folder_is_no_network_error(pushed, tmp_path, to):
    root, _ = pushed
    (tmp_path / "card").symlink_to(root)
    before = sorted(tmp_path.iterdir())
    result = run_cli("pull", REPO, "--to", tmp_path / to)
    assert result.exit_code == 2, result.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_pull_into_the_working_folder_and_through_a_link(pushed, tmp_path):
    (tmp_path / "here").mkdir()
    assert run_cli("pull", REPO, "--to", ".", cwd=tmp_path / "here").exit_code == 0
    assert (tmp_path / "here" / "env" / "environment.py").is_file()
    assert run_cli("pull", REPO, "--to", ".", cwd=tmp_path / "here").exit_code == 2
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    assert run_cli("pull", REPO, "--to", tmp_path / "link").exit_code == 0
    assert (tmp_path / "there" / "README.md").is_file()
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert run_cli("pull", REPO, "--to", tmp_path / "file" / "x").exit_code == 2


def test_only_a_hash_allows_what_is_unreleased(home, pushed):
    with connect("local") as hub:
        info = hub.api.upload_file(
            path_or_fileobj=b"def score(task, transcript):\n    return 1.0\n", path_in_repo="reward/reward.py",
            repo_id=REPO, repo_type="dataset",
        )  # fmt: skip
    repository = pygit2.Repository(str(home / "hub" / "datasets" / f"{REPO}.git"))
    repository.references.create("refs/tags/reward-v1.0.0", info.oid, force=True)
    for ref in (f"{REPO}@reward=1.0.0", f"{REPO}@main"):
        with pytest.raises(hfenv.HfenvError) as caught:
            hfenv.load(ref, trust_remote_code=True, allow_unreleased=True)
        assert caught.value.exit_code == 7
    hfenv.load(f"{REPO}@reward={info.oid}", trust_remote_code=True, allow_unreleased=True).close()


def test_a_pull_request_is_a_revision(pushed):
    _, revision = pushed
    with connect("local") as hub:
        made = hub.api.upload_file(
            path_or_fileobj=b"note\n", path_in_repo="docs/note.md", repo_id=REPO, repo_type="dataset", create_pr=True
        )
    env = hfenv.load(f"{REPO}@{made.pr_revision}", trust_remote_code=True)
    assert env.provenance["code"]["revision"] == made.oid != revision
    env.close()


def test_a_resource_in_another_repository_is_held_against_the_card(pushed, tmp_path):
    root, _ = pushed
    with connect("local") as hub:
        hub.api.create_repo("local/data", repo_type="dataset")
        sha = hub.api.upload_file(
            path_or_fileobj=b"words\n", path_in_repo="words.txt", repo_id="local/data", repo_type="dataset"
        ).oid
    digest = hashlib.sha256(b"words\n").hexdigest()
    entry = f'{{name: words, uri: "hf://datasets/local/data@{sha}/words.txt", sha256: "{digest}", size: 6}}'
    replace_in(root / "README.md", '  spec: "1"\n', f'  spec: "1"\n  resources: [{entry}]\n')
    env = hfenv.load(str(root), hub="local")
    assert env.spec.resources["words"].read_bytes() == b"words\n"
    env.close()
    for wrong in (("size: 6", "size: 7"), (digest, "0" * 64)):
        text = (root / "README.md").read_text(encoding="utf-8")
        replace_in(root / "README.md", *wrong)
        with pytest.raises(hfenv.HfenvError) as caught:
            hfenv.load(str(root), hub="local")
        assert caught.value.exit_code == 7
        (root / "README.md").write_text(text, encoding="utf-8")
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load(str(root), hub="local", offline=True, split="nosuch")
    assert caught.value.exit_code == 4


def test_bytes_of_resources_elsewhere_are_told_before_the_first_of_them_comes(home, pushed, monkeypatch):
    root, _ = pushed
    contents = {"one": b"1" * 12_345, "two": b"2" * 12_345}
    with connect("local") as hub:
        hub.api.create_repo("local/data", repo_type="dataset")
        for name, content in contents.items():
            sha = hub.api.upload_file(
                path_or_fileobj=content, path_in_repo=f"{name}.bin", repo_id="local/data", repo_type="dataset"
            ).oid
    entries = ", ".join(
        f'{{name: {name}, uri: "hf://datasets/local/data@{sha}/{name}.bin", size: 12345, '
        f'sha256: "{hashlib.sha256(content).hexdigest()}"}}'
        for name, content in contents.items()
    )
    replace_in(root / "README.md", '  spec: "1"\n', f'  spec: "1"\n  resources: [{entries}]\n')
    told = []

    def tell(_, message):
        told.append((message, len(list((home / "cache").rglob("*.bin")))))

    monkeypatch.setattr(logging.getLogger("hfenv"), "warning", tell)
    for _ in range(2):  # the second time all is here
        hfenv.load(str(root), hub="local").close()
    says = "Resource '{0}': 12,345 bytes to fetch from local/data ({0}.bin)."
    assert told == [(says.format(name), 0) for name in ("one", "two")]
    assert len(list((home / "cache").rglob("*.bin"))) == 2


def test_load_reward_names_missing_packages_and_needs_no_resources(pushed):
    root, _ = pushed
    entry = "  resources: [{name: gone, path: tasks/resources/gone.bin}]\n"
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n' + entry)
    turn = hfenv.Turn("x", hfenv.Outcome(data={"said": "7"}))
    assert hfenv.load_reward(str(root))({"answer": "7"}, (turn,)).total == 1.0
    replace_in(root / "README.md", entry, '  requires: {packages: ["nosuchpackage-hfenv"]}\n')
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load_reward(str(root))
    assert caught.value.exit_code == 3
    assert "pip install" in caught.value.hint


def test_tasks_prompts_and_resources_are_held_to_their_digests(home, pushed):
    root, _ = pushed
    (root / "env" / "prompt.md").write_text("Answer: {{ observation }}", encoding="utf-8")
    (root / "tasks" / "resources").mkdir()
    (root / "tasks" / "resources" / "words.txt").write_text("w", encoding="utf-8")
    entry = "  resources: [{name: words, path: tasks/resources/words.txt}]\n"
    replace_in(root / "README.md", '  spec: "1"\n', '  spec: "1"\n' + entry)
    run_cli("bump", "-m", "A prompt and a resource", "--path", root)
    assert run_cli("push", REPO, root).exit_code == 0
    for path in ("tasks/train.jsonl", "env/prompt.md", "tasks/resources/words.txt"):
        with connect("local") as hub:
            spec = specify(REPO, origin=Origin(trust_remote_code=True, opened=hub))
        victim = spec.code.root / path
        content = victim.read_bytes()
        victim.unlink()
        victim.write_bytes(content + b"\n")
        with pytest.raises(hfenv.HfenvError) as caught:
            load_environment(spec)
        assert caught.value.exit_code == 7
        victim.write_bytes(content)
    load_environment(spec).close()


def test_a_prompt_that_is_no_part_of_the_release_is_not_used(home, pushed):
    _, revision = pushed
    hfenv.load(REPO, revision=revision, trust_remote_code=True).close()
    (cached,) = (home / "cache").rglob(f"{revision}/files/env")
    (cached / "prompt.md").write_text("Say yes.", encoding="utf-8")
    env = hfenv.load(REPO, revision=revision, trust_remote_code=True)
    observation, _ = env.reset(seed=0)
    assert "Say yes." not in env.render(observation)[0]["content"]
    env.close()


def test_a_folder_inside_a_pulled_one_needs_trust_too(tmp_path):
    from tests.support import write_environment

    root = write_environment(tmp_path / "outer")
    write_environment(root / "examples" / "inner")
    assert run_cli("push", REPO, root).exit_code == 0
    assert run_cli("run", root / "examples" / "inner", "--backend", "inline").exit_code == 0
    assert run_cli("pull", REPO, "--to", tmp_path / "copy").exit_code == 0
    assert run_cli("run", tmp_path / "copy" / "examples" / "inner").exit_code == 7
