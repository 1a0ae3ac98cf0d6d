"""Garbage collection: what goes, what stays, and that it never takes what is being uploaded or committed."""

import contextlib
import os
import threading
import time
from datetime import timedelta

import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import BadRequestError, HfHubHTTPError

from hfenv.localhub.collecting import collect
from hfenv.localhub.names import RepoId
from hfenv.localhub.storage import Storage

LARGE = os.urandom(2000)
WEEK = 7 * 24 * 3600


@pytest.fixture
def client(tmp_path):
    """A hub of its own: what other tests left in theirs would be collected too."""
    from hfenv.localhub.app import create_app
    from hfenv.localhub.pytest_plugin import ServedHub
    from hfenv.localhub.transport import ENDPOINT, InProcessTransport
    from tests.localhub.conftest import Client, pointed_at

    root = tmp_path / "hub"
    with InProcessTransport(create_app(root)) as transport, pointed_at(ENDPOINT, transport):
        served = ServedHub(ENDPOINT, root)
        yield Client(ENDPOINT, root, served.token("alice"), served)


@pytest.fixture
def storage(client):
    return Storage(client.root)


def commit(client, repo, path="big.bin", data=LARGE, **options):
    return client.api.create_commit(
        repo, [CommitOperationAdd(path, data)], commit_message="change", repo_type="dataset", **options
    )


def upload(client, repo, data=LARGE):
    """Upload a large file, and don't commit it yet."""
    operation = CommitOperationAdd("late.bin", data)
    client.api.preupload_lfs_files(repo, [operation], repo_type="dataset")
    return operation


def age(folder):
    then = time.time() - WEEK
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (then, then))


def kinds(found):
    return sorted(each.kind for each in found)


def lfs_files(client):
    return sorted(path.name for path in client.root.glob("lfs/*/*/*"))


def test_what_a_commit_names_stays_whatever_its_age(client, storage, repo):
    commit(client, repo)
    client.api.create_tag(repo, tag="v1", repo_type="dataset")
    commit(client, repo, data=LARGE + b"newer")
    client.api.delete_file("big.bin", repo, repo_type="dataset")
    age(client.root)
    assert collect(storage) == ()
    assert len(lfs_files(client)) == 2


def test_what_nothing_names_goes_once_it_is_old(client, storage, repo):
    commit(client, repo)
    upload(client, repo, b"never committed" * 100)
    assert collect(storage) == ()
    age(client.root)
    told = collect(storage, dry_run=True)
    assert kinds(told) == ["large file"]
    assert told[0].size == 1500
    assert len(lfs_files(client)) == 2
    assert collect(storage) == told
    assert len(lfs_files(client)) == 1
    assert collect(storage) == ()


def test_files_of_a_deleted_repository_go_unless_another_has_them(client, storage, repo):
    other = f"{repo}-other"
    client.api.create_repo(other, repo_type="dataset")
    commit(client, repo)
    commit(client, other)
    for gone, left in ((repo, 1), (other, 0)):
        client.api.delete_repo(gone, repo_type="dataset")
        age(client.root)
        collect(storage)
        assert len(lfs_files(client)) == left


def test_a_squashed_history_goes_with_its_large_files(client, storage, repo):
    commit(client, repo)
    client.api.delete_file("big.bin", repo, repo_type="dataset")
    client.api.super_squash_history(repo, repo_type="dataset")
    age(client.root)
    assert kinds(collect(storage)) == ["git objects", "large file"]
    assert lfs_files(client) == []
    client.assert_sound(repo)


def test_leftovers_of_killed_processes_go_and_those_of_living_ones_stay(client, storage):
    old, young = client.root / "tmp" / "lfs-old", client.root / "tmp" / "folder"
    old.write_bytes(b"x" * 10)
    young.mkdir()
    age(client.root / "tmp")
    (young / "body").write_bytes(b"still written")
    assert [(each.kind, each.path, each.size) for each in collect(storage)] == [("leftover", old, 10)]
    assert young.exists()


def test_an_upload_that_finds_its_content_there_makes_it_young_again(client, storage, repo):
    upload(client, repo)
    age(client.root)
    operation = upload(client, repo)  # nothing is sent: the hub has it
    assert collect(storage) == ()
    client.api.create_commit(repo, [operation], commit_message="late", repo_type="dataset")


def test_a_commit_whose_file_was_collected_is_refused(client, storage, repo):
    operation = upload(client, repo)
    age(client.root)
    assert kinds(collect(storage)) == ["large file"]
    with pytest.raises(BadRequestError, match="doesn't exist"):
        client.api.create_commit(repo, [operation], commit_message="too late", repo_type="dataset")


def test_two_hours_is_the_least_age(client, storage, repo):
    upload(client, repo)
    assert collect(storage, older_than=timedelta(0)) == ()


def test_uploads_and_commits_go_on_while_garbage_is_collected(client, storage, repo):
    """Everything is a week old at once, and what is committed must be whole at the end."""
    stop, failures = threading.Event(), []

    def sweep():
        while not stop.is_set():
            marks = storage.path(RepoId.parse(f"datasets/{repo}")).glob("hub-lfs/*")
            for path in [*client.root.glob("lfs/*/*/*"), *marks]:
                with contextlib.suppress(FileNotFoundError):
                    os.utime(path, (0, 0))
            collect(storage)
            stop.wait(0.02)

    def write(number):
        for turn in range(6):
            for _ in range(50):
                try:
                    commit(client, repo, f"{number}-{turn}.bin", LARGE + bytes([number, turn]))
                    break
                except (HfHubHTTPError, RuntimeError):
                    continue  # it was aged and collected between upload and commit: refused, and sent again
            else:
                failures.append("never committed")

    sweeper = threading.Thread(target=sweep)
    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in (sweeper, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    sweeper.join()
    assert failures == []
    files = [each for each in client.api.list_repo_tree(repo, repo_type="dataset") if each.path.endswith(".bin")]
    assert len(files) == 18
    assert all(storage.large_file(RepoId.parse(f"datasets/{repo}"), each.lfs.sha256) == each.size for each in files)
