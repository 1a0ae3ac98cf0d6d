"""`pull --update`: edits made on the hub come into a working folder, merged, whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hfenv.components import holding, journal
from hfenv.errors import ConflictError, StorageError
from hfenv.hub import client
from hfenv.hub.client import connect
from hfenv.hub.merging.cards import merge_cards
from hfenv.hub.push import PushOptions, push
from hfenv.hub.update import update
from tests.support import CARD, replace_in, run_cli

BINARY = b"\x89PNG\r\n\0"


def edit_on_hub(changes, repo="local/adding"):
    """One commit on the hub, as its web page makes them; None deletes a file. Returns its hash."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with connect("local") as hub:
        operations = [
            CommitOperationDelete(path) if text is None
            else CommitOperationAdd(path, text if isinstance(text, bytes) else text.encode())
            for path, text in changes.items()
        ]  # fmt: skip
        return hub.api.create_commit(repo, operations, commit_message="edit", repo_type="dataset").oid


def update_here(root, *arguments):
    return run_cli("pull", "--update", root, *arguments, "--format", "json")


def files_of(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*") if path.is_file() and "update" not in path.parts
    }  # fmt: skip


def state_of(root):
    return json.loads((root / ".hfenv" / "state.json").read_bytes())


def card_of(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_nothing_to_do_takes_one_request(home, pushed, monkeypatch):
    root, revision = pushed
    opened = []
    counting = client._counting
    monkeypatch.setattr(client, "_counting", lambda hub: opened.append(hub) or counting(hub))
    before = files_of(root)
    result = update_here(root)
    assert (result.exit_code, result.json["base"], result.json["revision"]) == (0, revision, revision)
    assert opened[0].requests <= 2
    assert files_of(root) == before
    assert "nothing to do" in run_cli("pull", "--update", cwd=root).stdout


def test_what_changed_on_one_side_only_is_taken_or_kept(home, pushed):
    root, revision = pushed
    replace_in(root / "audit" / "policies.py", "answer", "answer")
    (root / "audit" / "mine.txt").write_text("mine\n")
    (root / "LICENSE").write_text("MIT\n")
    head = edit_on_hub(
        {
            "docs/new.md": "new\n", "audit/policies.py": None,
            "README.md": card_of(root).replace("It is tiny.", "It is small."),
        }
    )  # fmt: skip
    dry = update_here(root, "--dry-run")
    assert dry.json["updated"] == ["README.md", "docs/new.md"]
    assert not (root / "docs").exists()
    assert state_of(root)["base"] == revision
    result = update_here(root)
    assert result.exit_code == 0, result.stderr
    assert (result.json["updated"], result.json["deleted"]) == (["README.md", "docs/new.md"], ["audit/policies.py"])
    assert "It is small." in card_of(root)
    assert not (root / "audit" / "policies.py").exists()
    assert (root / "LICENSE").read_text() == "MIT\n"
    assert (root / "audit" / "mine.txt").exists()
    assert state_of(root)["base"] == head
    assert update_here(root).json["base"] == head


def test_a_card_that_both_sides_edited_is_merged_by_key_and_by_line(home, pushed):
    root, _ = pushed
    hub = card_of(root)
    hub = hub.replace("Add two small numbers.", "Add two numbers.").replace("license: apache-2.0", "license: mit")
    edit_on_hub({"README.md": hub.replace("It is tiny.", "It is small.")})
    replace_in(root / "README.md", "limits: {max_steps: 1}", "limits: {max_steps: 2}  # two tries")
    replace_in(root / "README.md", "Sums, for tests.", "Sums, for all tests.")
    result = update_here(root)
    assert (result.exit_code, result.json["merged"]) == (0, ["README.md"]), result.stdout
    card = card_of(root)
    for text in ("summary: Add two numbers.  # what it is about", "license: mit", "{max_steps: 2}  # two tries",
                 "It is small.", "Sums, for all tests."):  # fmt: skip
        assert text in card


def test_conflicts_are_marked_listed_and_refused_until_they_are_settled(home, pushed):
    root, _ = pushed
    (root / "docs").mkdir()
    (root / "docs" / "plot.png").write_bytes(BINARY)
    assert run_cli("push", "local/adding", root).exit_code == 0
    edit_on_hub({
        "LICENSE": "MIT\n", "docs/plot.png": BINARY + b"hub", "audit/policies.py": None,
        "README.md": card_of(root).replace("Add two small numbers.", "Add numbers."), "tests/x.txt": "hub\n",
    })  # fmt: skip
    (root / "LICENSE").write_text("BSD\n")
    (root / "docs" / "plot.png").write_bytes(BINARY + b"here")
    (root / "audit" / "policies.py").write_text("def oracle(task, observation, info, rng):\n    return '1'\n")
    replace_in(root / "README.md", "Add two small numbers.", "Sum numbers.")
    (root / "tests").mkdir()
    (root / "tests" / "x.txt").write_text("here\n")
    result = update_here(root)
    assert result.exit_code == 5
    assert [each["path"] for each in result.json["conflicts"]] == [
        "LICENSE", "README.md", "audit/policies.py", "docs/plot.png", "tests/x.txt",
    ]  # fmt: skip
    assert (root / "LICENSE").read_text() == "<<<<<<< here\nBSD\n=======\nMIT\n>>>>>>> hub\n"
    assert (root / "docs" / "plot.png").read_bytes() == BINARY + b"here"
    assert (root / "docs" / "plot.png.remote").read_bytes() == BINARY + b"hub"
    card = card_of(root)
    assert "<<<<<<< here\n  summary: Sum numbers.  # what it is about\n=======\n  summary: Add numbers." in card
    assert run_cli("push", "local/adding", root).exit_code == 3  # the card can't be read
    (root / "README.md").write_text(
        card.split("<<<<<<< here\n")[0] + "  summary: Sum.\n" + card.split(">>>>>>> hub\n")[1]
    )
    validated = run_cli("validate", "--format", "json", cwd=root)
    assert validated.exit_code == 1
    assert [f["path"] for f in validated.json["findings"] if f["rule"] == "HFE611"] == [
        "LICENSE", "docs/plot.png.remote", "tests/x.txt",
    ]  # fmt: skip
    assert run_cli("push", "local/adding", root).exit_code == 1
    with connect("local") as hub, pytest.raises(ConflictError, match="isn't settled"):
        push(hub, root, "local/adding", PushOptions())
    (root / "LICENSE").write_text("MIT\n")
    (root / "tests" / "x.txt").write_text("both\n")
    (root / "docs" / "plot.png.remote").replace(root / "docs" / "plot.png")
    pushed_again = run_cli("push", "local/adding", root)
    assert pushed_again.exit_code == 0, pushed_again.stderr


def test_what_was_deleted_here_and_changed_on_the_hub_comes_back(home, pushed):
    root, _ = pushed
    (root / "LICENSE").unlink()
    edit_on_hub({"LICENSE": "MIT\n"})
    result = update_here(root)
    assert result.exit_code == 5
    assert (root / "LICENSE").read_text() == "MIT\n"


def test_a_release_of_somebody_else_is_what_versions_count_from(home, pushed, tmp_path):
    root, _ = pushed
    theirs = tmp_path / "theirs"
    assert run_cli("pull", "local/adding", "--to", theirs).exit_code == 0
    replace_in(theirs / "env" / "words.py", "How much", "How many")
    assert run_cli("bump", "code", "minor", "-m", "Words", cwd=theirs).exit_code == 0
    assert run_cli("push", "local/adding", theirs).exit_code == 0
    replace_in(root / "reward" / "reward.py", "-1.0, {", "-0.5, {")
    assert run_cli("bump", "reward", "major", "-m", "Milder", cwd=root).exit_code == 0
    assert run_cli("push", "local/adding", root).exit_code == 5
    result = update_here(root)
    assert result.exit_code == 0, result.stdout
    assert result.json["release"] == "1.1.0"
    assert state_of(root)["pulled"]  # somebody else's code asks for trust
    assert 'version: "1.1.0"' in card_of(root)
    done = run_cli("push", "local/adding", root, "--format", "json")
    assert (done.exit_code, done.json["release"]) == (0, "2.0.0"), done.stderr
    assert done.json["versions"] == {"code": "1.1.0", "tasks": "1.0.0", "reward": "2.0.0"}


def test_an_ignored_file_a_link_and_a_folder_in_the_way_are_never_overwritten(home, pushed, tmp_path):
    root, _ = pushed
    (root / ".gitignore").write_text("notes/\nout\n")
    (root / "notes").mkdir()
    (root / "notes" / "a.txt").write_text("private\n")
    edit_on_hub({"notes/a.txt": "hub\n", "reward/.env": "TOKEN=1\n"})
    result = update_here(root)
    assert [each["path"] for each in result.json["conflicts"]] == ["notes/a.txt"]
    assert (root / "notes" / "a.txt").read_text() == "private\n"
    assert not (root / "reward" / ".env").exists()
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    before = files_of(root)
    edit_on_hub({"out/x.txt": "hub\n"})
    refused = update_here(root)
    assert refused.exit_code == 5
    assert not list((tmp_path / "outside").iterdir())
    assert files_of(root) == before


@pytest.mark.parametrize("moment", range(14))
def test_killed_at_any_rename_the_folder_is_old_or_new(home, pushed, monkeypatch, moment):
    root, _ = pushed
    (root / "LICENSE").write_text("BSD\n")
    edit_on_hub({"docs/a.md": "a\n", "LICENSE": "MIT\n", "audit/policies.py": None, "env/words.py": 'ASK = "x"\n'})
    twin = root.parent / "twin"
    shutil.copytree(root, twin)
    old = files_of(root)
    with connect("local") as hub:
        update(hub, twin)
        new = files_of(twin)
        count, original = [0], Path.replace

        class KilledError(BaseException):
            """Like SIGKILL: nothing that is caught anywhere."""

        def until(staged, target):
            count[0] += root in staged.parents
            if count[0] > moment:
                raise KilledError
            return original(staged, target)

        monkeypatch.setattr(Path, "replace", until)
        with contextlib.suppress(KilledError):
            update(hub, root)
        monkeypatch.setattr(Path, "replace", original)
        journal.finish(root)
        assert files_of(root) in (old, new)
        update(hub, root)
        assert files_of(root) == new
    assert not (root / ".hfenv" / "update").exists()


def test_status_finishes_what_a_killed_update_left(home, pushed, monkeypatch):
    root, _ = pushed
    edit_on_hub({"docs/a.md": "a\n", "docs/b.md": "b\n"})
    with connect("local") as hub:
        monkeypatch.setattr(journal, "_finish", lambda _: False)
        update(hub, root)
    monkeypatch.undo()
    assert not (root / "docs").exists()
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("written meanwhile\n")
    monkeypatch.setenv("HFENV_HOME", str(home))
    assert run_cli("status", root).exit_code == 0
    assert (root / "docs" / "a.md").read_text() == "written meanwhile\n"
    assert (root / "docs" / "a.md.remote").read_text() == "a\n"
    assert (root / "docs" / "b.md").read_text() == "b\n"


def test_offline_unknown_and_misused(home, adding, pushed, tmp_path):
    root, _ = pushed
    offline = run_cli("pull", "--update", root, "--offline")
    assert offline.exit_code == 6
    assert "offline" in offline.stderr
    shutil.copytree(root, tmp_path / "copy", ignore=shutil.ignore_patterns(".hfenv"))
    assert run_cli("pull", "--update", tmp_path / "copy").exit_code == 2
    assert run_cli("pull").exit_code == 2
    alone = run_cli("pull", "local/adding", "--dry-run")
    assert (alone.exit_code, "--dry-run belongs to --update" in alone.stderr) == (2, True)
    assert run_cli("pull", "--update", root, "--to", tmp_path / "x").exit_code == 2
    locked = run_cli("pull", "--update", root, "--lock", tmp_path / "hfenv.lock")
    assert (locked.exit_code, "--lock" in locked.stderr) == (2, True)


@pytest.mark.parametrize(
    ("here", "hub", "keys", "kept"),
    [
        ("license: mit", "license: apache-2.0", (), "license: mit"),
        (
            "license: mit",
            "license: bsd-3-clause",
            ("/license",),
            "<<<<<<< here\nlicense: mit\n=======\nlicense: bsd-3-",
        ),
        ("license: apache-2.0\nlanguage: en", "license: apache-2.0\nlicense_name: x", (), "license_name: x"),
    ],
)
def test_front_matter_by_key(here, hub, keys, kept):
    sides = [CARD.replace("license: apache-2.0", text).encode() for text in ("license: apache-2.0", here, hub)]
    merged = merge_cards(*sides)
    assert merged.keys == keys
    assert merged.merged.conflict == bool(keys)
    assert kept in merged.merged.content.decode()


def merged(here, hub, base=CARD):
    done = merge_cards(base.encode(), here.encode(), hub.encode())
    return done.merged.content.decode(), done.merged.conflict


def test_what_the_hub_wrote_besides_values_comes_along():
    here = CARD.replace("max_steps: 1", "max_steps: 2").replace("It is tiny.", "It is small.")
    hub = (
        CARD.replace("# what it is about", "# one line")
        .replace("license: apache-2.0\n", "# checked by a lawyer\nlicense: apache-2.0\nlanguage: en  # alone\n")
        .replace('spec: "1"', "spec: '1'")
    )
    wanted = hub.replace("max_steps: 1", "max_steps: 2").replace("It is tiny.", "It is small.")
    assert merged(here, hub) == (wanted, False)
    comment = "# what it is about"
    content, conflict = merged(here.replace(comment, "# mine"), CARD.replace(comment, "# theirs"))
    assert conflict
    assert "# mine" in content
    assert "# theirs" in content


def test_a_value_of_another_type_is_another_value():
    assert merged(CARD.replace("It is tiny.", "x"), CARD.replace("max_steps: 1", "max_steps: true")) == (
        CARD.replace("It is tiny.", "x").replace("max_steps: 1", "max_steps: true"),
        False,
    )


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("hub_end", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_mark_are_those_of_the_folder(end, hub_end, mark):
    here = mark + CARD.replace("It is tiny.", "It is small.").replace("\n", end)
    hub = CARD.replace("Sums, for tests.", "Sums.").replace("max_steps: 1", "max_steps: 3").replace("\n", hub_end)
    wanted = CARD.replace("It is tiny.", "It is small.").replace("Sums, for tests.", "Sums.")
    wanted = mark + wanted.replace("max_steps: 1", "max_steps: 3").replace("\n", end)
    assert merged(here, hub) == (wanted, False)
    conflict, _ = merged(here.replace("max_steps: 1", "max_steps: 2"), hub)
    assert conflict.count("\n") == conflict.count(end)


def test_two_updates_and_a_push_of_one_folder_take_turns(home, pushed, monkeypatch):
    root, _ = pushed
    many = {f"docs/{n}.md": f"{n}\n" for n in range(12)}
    edit_on_hub({**many, "LICENSE": "MIT\n"})
    (root / "NOTES.md").write_text("mine\n")
    write = journal.write_all

    def slowly(files):
        time.sleep(0.01)
        write(files)

    monkeypatch.setattr(journal, "write_all", slowly)

    def once(work):
        with connect("local") as hub:
            return work(hub)

    with ThreadPoolExecutor(3) as threads:
        updates = [threads.submit(once, lambda hub: update(hub, root)) for _ in range(2)]
        assert sorted(done.result().moved for done in updates) == [False, True]
        pushes = [threads.submit(once, lambda hub: push(hub, root, "local/adding", PushOptions())) for _ in range(3)]
        assert sorted(done.result().created for done in pushes) == [False, False, True]
    assert (root / "LICENSE").read_text() == "MIT\n"
    assert {path: (root / path).read_text() for path in many} == many
    assert not (root / ".hfenv" / "update").exists()


def test_a_folder_that_another_process_holds_is_left_alone(home, pushed, monkeypatch):
    root, _ = pushed
    monkeypatch.setattr(holding, "WAIT_S", 0.05)
    with holding.held(root):
        for arguments in (["pull", "--update", root], ["push", "local/adding", root]):
            result = run_cli(*arguments)
            assert result.exit_code == 5
            assert "Another hfenv is pushing or updating" in result.stderr
        assert run_cli("push", "local/adding", root, "--dry-run").exit_code == 0
    assert run_cli("push", "local/adding", root).exit_code == 0


def test_a_folder_that_cannot_be_written_leaves_all_as_it_was(home, pushed, monkeypatch):
    root, _ = pushed
    edit_on_hub({"LICENSE": "MIT\n", "env/words.py": 'ASK = "What is "\n'})
    before = files_of(root)

    def refuse(folder):
        if folder.name == "env":
            raise StorageError(f"{folder} can't be written.", "Check its rights.")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "check_writable", refuse)
        result = update_here(root)
    assert result.exit_code == 2
    assert files_of(root) == before
    assert not (root / ".hfenv" / "update").exists()

    replace = Path.replace

    def elsewhere(self, target):
        if Path(target).parent.name == "env" and self.parent.name == "update":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", elsewhere)
    assert update_here(root).exit_code == 0
    assert (root / "env" / "words.py").read_text() == 'ASK = "What is "\n'
    assert (root / "LICENSE").read_text() == "MIT\n"
