"""Lock files: made, kept, moved, checked, synced and loaded by, with the requests that each takes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import hfenv
from hfenv.errors import AccessError
from hfenv.hub.client import Hub, connect, hub_key
from hfenv.hub.locking.lockfile import to_bytes
from hfenv.hub.locking.reaching import Reach
from hfenv.hub.locking.reading import read_lock
from tests.hub.test_push import git
from tests.support import replace_in, run_cli, write_environment

REPO = "local/adding"
NEVER = "0" * 40


def bump(root, component, level, text):
    assert run_cli("bump", component, level, "-m", text, "--path", root).exit_code == 0


def push(root, repo=REPO):
    result = run_cli("push", repo, root, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return result.json["revision"]


def mark(root, text):
    """Put something into the card's block at the head, as a commit without a release."""
    card = root / "README.md"
    replace_in(card, "  limits: {max_steps: 1}\n", f"  limits: {{max_steps: 1}}\n{text}")
    with connect("local") as hub:
        made = hub.api.upload_file(path_or_fileobj=card, path_in_repo=card.name, repo_id=REPO, repo_type="dataset")
    return made.oid


def lock(*arguments, code=0):
    result = run_cli("lock", *arguments, "--format", "json")
    assert result.exit_code == code, result.stdout + result.stderr
    return result


def entry():
    (only,) = read_lock(Path("hfenv.lock")).entries
    return only


def checked(*arguments, code):
    """Rules that `lock --check` finds, each with its cure."""
    result = run_cli("lock", "--check", *arguments, "--format", "json")
    assert result.exit_code == code, result.stdout + result.stderr
    return {finding["rule"]: finding["fix"] for finding in result.json["findings"]}


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """An empty folder to lock in."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Releases 1.0.0 and 1.1.0 of `local/adding`, of which `local/adding@^1` was locked in between, and `local/second`.

    Made once: pushing is what takes longest here.
    """
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HFENV_HOME", str(folder / "home"))
        patch.setenv("HFENV_HUB", "local")
        patch.delenv("HFENV_CACHE", raising=False)
        patch.chdir(folder)
        root = write_environment(folder / "adding")
        first = push(root)
        assert [one["change"] for one in lock(f"{REPO}@^1").json["entries"]] == ["added"]
        push(write_environment(folder / "second"), "local/second")
        replace_in(root / "env/words.py", "much", "many")
        bump(root, "code", "minor", "Ask in other words")
        return folder, first, push(root)


@pytest.fixture
def locked(built, home, adding):
    """A copy of that for each test; returns the environment's folder and both revisions."""
    folder, first, second = built
    shutil.copytree(folder / "home", home)
    shutil.rmtree(adding)
    shutil.copytree(folder / "adding", adding)
    shutil.copy(folder / "hfenv.lock", "hfenv.lock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HFENV_HOME", str(folder / "home"))
        before = hub_key("local")
    (home / "cache/hub" / before).rename(home / "cache/hub" / hub_key("local"))
    replace_in(adding / ".hfenv/state.json", before, hub_key("local"))
    return adding, first, second


@pytest.fixture
def requests(monkeypatch):
    """How many requests were made since the list was cleared, one number for each connection."""
    made = []
    opened = Hub.__init__

    def remember(self, *arguments, **options):
        opened(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(Hub, "__init__", remember)
    return made


def count(made):
    total = sum(hub.requests for hub in made)
    made.clear()
    return total


def test_an_entry_says_what_was_asked_for_and_what_it_is(home, locked):
    _, first, _ = locked
    record = json.loads(git(home, "show", f"{first}:release.json"))
    found = entry()
    assert (found.ref, found.hub, found.release) == (f"{REPO}@^1", "local", "1.0.0")
    for component, one in found.components.items():
        recorded = record["components"][component.value]
        assert (one.commit, one.version, one.license) == (first, recorded["version"], "apache-2.0")
        assert (one.exact, one.semantic) == (recorded["exact"], recorded["semantic"])


def test_what_is_locked_stays_and_needs_no_request(locked, requests):
    _, first, second = locked
    before = Path("hfenv.lock").read_bytes()
    requests.clear()
    assert lock(f"{REPO}@^1").json["changed"] is False
    assert lock().json["changed"] is False
    assert count(requests) == 0
    assert Path("hfenv.lock").read_bytes() == before
    assert set(entry().commits.values()) == {first} != {second}


def test_another_reference_takes_the_place_or_stands_beside(locked):
    _, first, second = locked
    (change,) = lock(f"{REPO}@1.1.0").json["entries"]
    assert (change["change"], change["was"]) == ("moved", f"{REPO}@^1")
    assert entry().commits == dict.fromkeys(entry().commits, second)
    lock(f"{REPO}@1.0.0", "--beside")
    both = read_lock(Path("hfenv.lock")).entries
    assert [(one.release, one.line > 0) for one in both] == [("1.0.0", True), ("1.1.0", True)]
    assert lock(f"{REPO}@^1", code=2).stderr.count("--beside") == 1
    with pytest.raises(hfenv.HfenvError, match="means several entries"):
        hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True)
    with hfenv.load(f"{REPO}@1.0.0", lock="hfenv.lock", trust_remote_code=True) as env:
        assert env.provenance["code"]["revision"] == first
    lock("--remove", f"{REPO}@1.0.0")
    assert entry().release == "1.1.0"


def test_mixed_components_have_a_commit_each(locked):
    _, first, second = locked
    lock(f"{REPO}@code=1.1.0,tasks=1.0.0")
    assert {c.value: commit for c, commit in entry().commits.items()} == {
        "code": second,
        "tasks": first,
        "reward": second,
    }
    assert entry().release == ""
    with hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True) as env:
        assert env.provenance["tasks"]["revision"] == first
    assert checked(code=0) == {}


def test_what_is_no_release_is_not_locked(locked):
    root, _, _ = locked
    before = Path("hfenv.lock").read_bytes()
    folder = lock(root, code=2)
    assert "local folder" in folder.stderr
    assert lock(f"{REPO}@3.0.0", code=4).stderr.count("no release 3.0.0") == 1
    replace_in(root / "env/words.py", "many", "some")
    with connect("local") as hub:
        head = hub.api.upload_file(path_or_fileobj=root / "env/words.py", path_in_repo="env/words.py", repo_id=REPO,
                                   repo_type="dataset").oid  # fmt: skip
    # Without the content, whose size may be the same, nothing is known yet; a load finds it.
    result = run_cli("lock", f"{REPO}@{head}", "--lock-file", "other.lock")
    loaded = run_cli("run", REPO, "--lock", "other.lock", "--trust-remote-code") if result.exit_code == 0 else result
    assert loaded.exit_code == 7, loaded.stdout
    assert Path("hfenv.lock").read_bytes() == before


def test_a_locked_load_is_what_was_locked_and_asks_nothing(locked, requests):
    _, first, _ = locked
    assert run_cli("sync").exit_code == 0
    requests.clear()
    with hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True) as env:
        assert env.provenance["code"]["revision"] == first
        env.reset(seed=0)
        assert env.step("no number").reward == -1.0
    score = hfenv.load_reward(f"{REPO}@^1", lock=Path("hfenv.lock"), trust_remote_code=True)
    assert score({"answer": "1"}, (hfenv.Turn("x", hfenv.Outcome(data={"said": "x"})),)).total == -1.0
    assert hfenv.load_tasks(REPO, split="test", lock="hfenv.lock").num_rows == 4
    with hfenv.EnvironmentPool(REPO, 1, backend="inline", lock="hfenv.lock", trust_remote_code=True) as pool:
        (episode,) = pool.rollout("oracle", episodes=1, seed=0)
    assert episode.provenance["reward"]["revision"] == first
    assert count(requests) == 0


def test_only_what_is_locked_is_loaded(locked, monkeypatch):
    root, first, second = locked
    for ref in (f"{REPO}@1.1.0", f"{REPO}@{second}", f"{REPO}@main", "local/other", str(root)):
        with pytest.raises(hfenv.HfenvError) as caught:
            hfenv.load(ref, lock="hfenv.lock", trust_remote_code=True)
        assert (caught.value.exit_code, caught.value.hint != "") == (7, True), ref
    hfenv.load(f"{REPO}@{first}", lock="hfenv.lock", trust_remote_code=True).close()
    hfenv.load(REPO, revision=first, lock="hfenv.lock", trust_remote_code=True).close()
    monkeypatch.setenv("HFENV_LOCK", "hfenv.lock")
    assert run_cli("pull", f"{REPO}@1.1.0").exit_code == 7
    assert run_cli("pull", REPO, "--format", "json").json["revision"] == first
    assert run_cli("run", f"{REPO}@main", "--trust-remote-code").exit_code == 7
    # The folder that was just pulled has the name, and the lock file goes first.
    shutil.copytree("adding", REPO)
    with hfenv.load(REPO, trust_remote_code=True) as env:
        assert env.provenance["code"]["revision"] == first
    monkeypatch.setenv("HFENV_LOCK", "missing.lock")
    with pytest.raises(hfenv.HfenvError, match="no lock file missing"):
        hfenv.load(REPO, trust_remote_code=True)


def test_content_with_another_digest_is_refused(locked):
    before = Path("hfenv.lock").read_bytes()
    for component, one in entry().components.items():
        replace_in(Path("hfenv.lock"), one.exact, "f" * 64)
        with pytest.raises(hfenv.HfenvError, match=f"The {component.value} of") as caught:
            hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True)
        assert caught.value.exit_code == 7
        Path("hfenv.lock").write_bytes(before)
    replace_in(Path("hfenv.lock"), one.exact, "f" * 64)
    assert run_cli("sync").exit_code == 7
    assert run_cli("pull", REPO, "--lock", "hfenv.lock").exit_code == 7
    assert not Path("adding").exists()
    assert set(checked(code=1)) == {"lock-digests"}


def test_an_edited_reference_has_to_be_locked_again(locked):
    _, _, second = locked
    replace_in(Path("hfenv.lock"), f"{REPO}@^1", f"{REPO}@~1.1")
    with pytest.raises(hfenv.HfenvError, match=r"asks for local/adding@~1.1 and has locked release 1.0.0"):
        hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True)
    assert run_cli("sync", "--frozen").exit_code == 7
    (change,) = lock().json["entries"]
    assert (change["change"], change["release"]) == ("moved", "1.1.0")
    assert set(entry().commits.values()) == {second}


def test_upgrade_moves_within_and_says_what_changes(locked):
    root, _, _ = locked
    replace_in(root / "reward/reward.py", "-1.0, {", "-0.5, {")
    bump(root, "reward", "major", "Halve the penalty")
    newest = push(root)
    result = lock("--upgrade", REPO)
    (told,) = result.json["upgrades"]
    assert (told["from"]["release"], told["to"]["release"]) == ("1.0.0", "1.1.0")
    assert [one["version"] for one in told["changes"]["code"]] == ["1.1.0"]
    assert "Ask in other words" in told["changes"]["code"][0]["text"]
    assert told["comparable"].startswith("comparable: yes")
    assert lock("--upgrade").json["changed"] is False
    # An edit of what is asked for by hand goes further.
    replace_in(Path("hfenv.lock"), "@^1", "@^2")
    assert newest[:12] in run_cli("lock").stdout
    replace_in(Path("hfenv.lock"), "@^2", "@main")
    assert "Nothing changed" in run_cli("lock", "--upgrade").stdout
    lock("--remove", REPO)
    lock(f"{REPO}@1.1.0")
    replace_in(Path("hfenv.lock"), "@1.1.0", "@2.0.0")
    text = run_cli("lock", "--upgrade").stdout
    assert "Numbers: comparable: no, reward 1.0.0 -> 2.0.0" in text
    assert "## [2.0.0]" in text
    assert "BREAKING" in text
    back = run_cli("lock", "--upgrade", "local/other")
    assert (back.exit_code, "It has local/adding@2.0.0" in back.stderr) == (4, True)


def test_what_did_not_move_is_kept_whatever_the_order_on_the_card(adding):
    files = {"b": "tasks/resources/b.txt", "a": "tasks/resources/a.txt"}
    for path in files.values():
        (adding / path).parent.mkdir(exist_ok=True)
        (adding / path).write_text(path, encoding="utf-8")
    entries = ", ".join(f"{{name: {name}, path: {path}}}" for name, path in files.items())
    replace_in(adding / "README.md", '  spec: "1"\n', f'  spec: "1"\n  resources: [{entries}]\n')
    push(adding)
    lock(REPO)
    again = lock("--upgrade")
    assert [entry["change"] for entry in again.json["entries"]] == ["kept"]
    assert again.json["upgrades"] == []


def test_check_names_each_problem_with_its_cure(locked):
    root, _, _ = locked
    assert checked(code=0) == {}
    mark(
        root,
        '  yanked: [{release: "1.0.0", reason: It leaks answers}]\n'
        '  advisories: [{id: A-7, component: code, versions: "<1.1.0", fixed_in: "1.1.0", summary: It asks badly}]\n'
        "  lifecycle: {status: deprecated, successor: local/better}\n",
    )
    cures = checked(code=1)
    assert cures["lock-yanked"].endswith(f"1.1.0: hfenv lock --upgrade '{REPO}@^1'")
    assert cures["lock-advised"] == cures["lock-yanked"]
    assert cures["lock-lifecycle"] == f"hfenv lock local/better --hub local, then hfenv lock --remove '{REPO}@^1'"
    annotated = run_cli("lock", "--check", "--format", "github").stdout
    assert f"::error file=hfenv.lock,title=lock-yanked,line={entry().line}::{REPO}@1.0.0 is yanked" in annotated
    human = run_cli("lock", "--check").stdout
    assert "It asks badly" in human
    # Moving does what the cure promises; only the lifecycle is left.
    lock("--upgrade", f"{REPO}@^1")
    assert set(checked(code=1)) == {"lock-lifecycle"}


def test_a_pin_that_names_one_release_is_told_another_one(locked):
    root, _, _ = locked
    lock(f"{REPO}@1.0.0")
    mark(root, '  yanked: ["1.0.0"]\n')
    cure = checked(code=1)["lock-yanked"]
    assert cure == f"1.1.0 is out: hfenv lock {REPO}@1.1.0 --hub local"
    command = cure.partition("hfenv ")[2].split()
    assert run_cli(*command).exit_code == 0
    assert checked(code=0) == {}
    assert "yanked" in lock(f"{REPO}@1.0.0").stderr


def test_check_sees_a_tag_that_moved_and_a_commit_that_is_gone(home, locked):
    _, first, second = locked
    git(home, "tag", "-f", "v1.0.0", second)
    assert set(checked(code=1)) == {"lock-moved"}
    git(home, "tag", "-d", "v1.0.0")
    assert set(checked(code=1)) == {"lock-moved"}
    text = Path("hfenv.lock").read_text(encoding="utf-8")
    Path("hfenv.lock").write_text(text.replace(first, NEVER), encoding="utf-8")
    assert set(checked(code=1)) == {"lock-moved", "lock-vanished"}
    Path("hfenv.lock").write_text(text.replace(REPO, "local/nothing"), encoding="utf-8")
    assert checked(code=1) == {"lock-vanished": "hfenv lock --remove local/nothing@^1"}


def test_a_pin_of_the_head_or_of_a_hash_has_no_tag_to_move(locked):
    root, _, second = locked
    head = mark(root, "  canary: 123e4567-e89b-12d3-a456-426614174000\n")
    lock(f"{REPO}@main")
    assert set(entry().commits.values()) == {head}
    assert checked(code=0) == {}
    lock(f"{REPO}@{second}")
    assert checked(code=0) == {}


def test_check_takes_two_requests_for_a_repository_and_one_for_its_card(home, locked, requests):
    lock("local/second")
    lock(f"{REPO}@1.1.0", "--beside")
    shutil.rmtree(home / "cache")
    requests.clear()
    assert checked(code=0) == {}
    # adding: refs, card, and a record for each of its two pins; second: refs, card, record.
    assert count(requests) == 4 + 3
    run_cli("sync")
    requests.clear()
    assert checked(code=0) == {}
    assert count(requests) == 2 + 2


def test_marks_are_told_at_a_load_without_a_request(locked, requests, caplog):
    root, _, _ = locked
    run_cli("sync")
    mark(root, '  yanked: [{release: "1.0.0", reason: It leaks answers}]\n')
    hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True).close()
    assert caplog.messages == []  # nobody here has heard of it
    told = run_cli("sync")
    assert (told.exit_code, f"{REPO}@1.0.0 is yanked: It leaks answers" in told.stderr) == (0, True)
    requests.clear()
    hfenv.load(REPO, lock="hfenv.lock", trust_remote_code=True).close()
    assert caplog.messages == [f"{REPO}@1.0.0 is yanked: It leaks answers"]
    assert count(requests) == 0


def test_sync_offline_serves_what_is_here_and_nothing_else(home, locked, requests):
    assert run_cli("sync", "--offline").exit_code == 6
    assert run_cli("sync").exit_code == 0
    requests.clear()
    result = run_cli("sync", "--offline", "--frozen", "--format", "json")
    assert (result.exit_code, result.json["entries"][0]["files"] > 5) == (0, True)
    result = run_cli("lock", "--check", "--offline", "--format", "json")
    assert (result.exit_code, result.json["summary"]["skipped"][0]["reason"]) == (0, "offline mode is on")
    hfenv.load(REPO, lock="hfenv.lock", offline=True, trust_remote_code=True).close()
    assert count(requests) == 0
    shutil.rmtree(home / "cache")
    assert run_cli("sync", "--only", "tasks").exit_code == 0
    cached = {path.name for path in (home / "cache").rglob("files/**/*") if path.is_file()}
    assert "train.jsonl" in cached
    assert "environment.py" not in cached


def test_sync_locks_what_is_named_unless_frozen(locked):
    before = Path("hfenv.lock").read_bytes()
    refused = run_cli("sync", "local/second", "--frozen")
    assert (refused.exit_code, "hfenv lock local/second" in refused.stderr) == (7, True)
    assert Path("hfenv.lock").read_bytes() == before
    result = run_cli("sync", "local/second", "--format", "json")
    assert [one["ref"] for one in result.json["entries"]] == ["local/second"]
    assert [one.repo for one in read_lock(Path("hfenv.lock")).entries] == [REPO, "local/second"]


def test_licences_come_from_the_nearest_and_unknown_ones_are_named(adding):
    replace_in(adding / "README.md", "license: apache-2.0\n", "license: other\n")
    replace_in(
        adding / "README.md", '  tasks:\n    version: "1.0.0"', '  tasks:\n    license: cc-by-4.0\n    version: "1.0.0"'
    )
    replace_in(
        adding / "README.md", "  limits:", "  resources: [{name: words, path: tasks/resources/words.txt}]\n  limits:"
    )
    (adding / "tasks/resources").mkdir()
    (adding / "tasks/resources/words.txt").write_text("one\n", encoding="utf-8")
    push(adding)
    lock(REPO)
    (found,) = run_cli("lock", "--licenses", "--format", "json").json["entries"]
    assert (found["code"], found["tasks"], found["resources"]) == (None, "cc-by-4.0", {"words": "cc-by-4.0"})
    assert found["unknown"] == ["code", "reward"]
    assert "unknown" in run_cli("lock", "--licenses").stdout


def test_a_lock_file_may_hold_several_hubs(locked):
    _, first, second = locked
    text = Path("hfenv.lock").read_text(encoding="utf-8")
    elsewhere = text[text.index("[[environment]]") :].replace('hub = "local"', 'hub = "http://hub.example:8080"')
    Path("hfenv.lock").write_text(text + "\n" + elsewhere.replace(first, second), encoding="utf-8")
    with hfenv.load(REPO, hub="local", lock="hfenv.lock", trust_remote_code=True) as env:
        assert env.provenance["code"]["revision"] == first
    with pytest.raises(hfenv.HfenvError) as caught:
        hfenv.load(REPO, hub="http://hub.example:8080", lock="hfenv.lock", trust_remote_code=True, offline=True)
    assert caught.value.exit_code == 6  # it is asked there, and nothing of it is here
    assert to_bytes(read_lock(Path("hfenv.lock"))).count(b"[[environment]]") == 2


def test_a_hub_that_only_the_file_names_gets_no_token(locked, monkeypatch):
    """Lock files come with repositories of other people, who could name a hub of their own in them."""
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    text = Path("hfenv.lock").read_text(encoding="utf-8")
    Path("hfenv.lock").write_text(text.replace('hub = "local"', 'hub = "http://hub.example"'), encoding="utf-8")
    for named, expected in ((None, False), ("http://hub.example", "hf_secret"), ("http://other.example", False)):
        with Reach(named).to(entry()) as hub:
            assert hub.api.token == expected
    with pytest.raises(hfenv.HfenvError, match=r"name it yourself: --hub http://hub\.example"), Reach().to(entry()):
        raise AccessError("http://hub.example refused.", "Log in.")


def test_what_is_locked_at_the_hub_comes_through_its_mirror(locked, monkeypatch):
    text = Path("hfenv.lock").read_text(encoding="utf-8")
    Path("hfenv.lock").write_text(text.replace('hub = "local"', 'hub = "https://huggingface.co"'), encoding="utf-8")
    assert entry().hub_argument == "hf"
    before = entry().key
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
    assert (entry().hub_argument, entry().key != before) == ("hf", True)
    assert entry().key == hub_key("http://mirror.example")


@pytest.mark.slow
def test_two_hubs_in_one_file_are_each_asked_for_their_own(locked, hfenv_hub, adding, monkeypatch):
    """A served hub with a private repository beside the embedded one, from locking to loading."""
    monkeypatch.setenv("HF_TOKEN", hfenv_hub.token("ada"))
    replace_in(adding / "README.md", "It is tiny.", "It is private.")
    (adding / ".hfenv/state.json").unlink()
    pushed = run_cli("push", "ada/locked", adding, "--hub", hfenv_hub.endpoint, "--private")
    assert pushed.exit_code == 0, pushed.stderr
    lock("ada/locked", "--hub", hfenv_hub.endpoint)
    assert {one.hub for one in read_lock(Path("hfenv.lock")).entries} == {"local", hfenv_hub.endpoint}
    assert "hf_" not in Path("hfenv.lock").read_text(encoding="utf-8")
    refused = run_cli("sync")
    assert (refused.exit_code, f"--hub {hfenv_hub.endpoint}" in refused.stderr) == (4, True)
    assert run_cli("sync", "--hub", hfenv_hub.endpoint).exit_code == 0
    assert checked("--hub", hfenv_hub.endpoint, code=0) == {}
    for repo in ("ada/locked", REPO):  # both are here, so that neither hub is asked
        hfenv.load(repo, lock="hfenv.lock", trust_remote_code=True).close()


def test_the_page_shows_a_lock_file_as_it_is_written(locked):
    page = (Path(__file__).resolve().parents[2] / "docs/locking.md").read_text(encoding="utf-8")
    shown = re.search(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    Path("shown.lock").write_text(shown, encoding="utf-8")
    assert to_bytes(read_lock(Path("shown.lock"))).decode() == shown


def test_an_upgrade_that_moves_nothing_says_so_whatever_order_the_card_has(home, adding):
    resources = "resources: [{name: words, path: tasks/train.jsonl}, {name: alone, path: tasks/test.jsonl}]"
    replace_in(adding / "README.md", "  observation:", f"  {resources}\n  observation:")
    push(adding)
    lock(REPO)
    result = lock("--upgrade")
    assert [one["change"] for one in result.json["entries"]] == ["kept"]
    assert result.json["upgrades"] == []


def test_requirements_go_to_standard_output_without_a_file_or_with_a_dash(locked):
    text = run_cli("lock", "--requirements").stdout
    assert run_cli("lock", "--requirements", "-").stdout == text
    assert not Path("-").exists()


def test_a_range_that_only_a_yanked_release_fits_says_so(pushed):
    assert run_cli("yank", f"{REPO}@1.0.0", "-m", "Wrong.").exit_code == 0
    result = run_cli("lock", f"{REPO}@^1")
    assert (result.exit_code, "1.0.0 (yanked)" in result.stderr) == (4, True)
