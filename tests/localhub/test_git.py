"""`git clone` and `git push` with the real git, and what a push may not bring."""

import base64
import gzip
import hashlib
import os
import shutil
import subprocess
import uuid

import pytest
from huggingface_hub import CommitOperationAdd

from hfenv.localhub.accounts import OrgRole
from hfenv.localhub.organisations import Organisations
from hfenv.localhub.quotas import Quota, Quotas
from tests.localhub.conftest import Client, pointed_at

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")


@pytest.fixture
def client(hfenv_hub):
    """git needs a socket: the served hub alone."""
    with pointed_at(hfenv_hub.endpoint, None):
        yield Client(hfenv_hub.endpoint, hfenv_hub.root, hfenv_hub.token("alice"), hfenv_hub)


class Work:
    """A working copy, and git run in it as somebody who has set nothing."""

    def __init__(self, folder, home):
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_TERMINAL_PROMPT": "0"}

    def git(self, *arguments, fails=False, cwd=None):
        who = ["-c", "user.name=alice", "-c", "user.email=alice@example.com", "-c", "init.defaultBranch=main"]
        done = subprocess.run(
            ["git", *who, *arguments],
            cwd=cwd or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout.strip()

    def commit(self, **files):
        for path, data in files.items():
            (self.folder / path).write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "by git")
        return self.git("rev-parse", "HEAD")


def url(client, repo, token):
    return f"{client.endpoint.replace('://', f'://user:{token}@')}/datasets/{repo}"


@pytest.fixture
def clone(client, tmp_path):
    def make(repo, token=None, *, protocol="2", options=()):
        work = Work(tmp_path / f"work-{uuid.uuid4().hex[:6]}", tmp_path)
        address = url(client, repo, token or client.token)
        work.git("-c", f"protocol.version={protocol}", "clone", "-q", *options, address, str(work.folder), cwd=tmp_path)
        return work

    return make


def upload(client, repo, path, data, **options):
    return client.api.create_commit(
        repo, [CommitOperationAdd(path, data)], commit_message="by API", repo_type="dataset", **options
    )


@pytest.mark.parametrize("protocol", ["0", "2"])
def test_a_clone_has_what_the_api_wrote_and_a_push_is_seen_by_it(client, repo, clone, protocol):
    upload(client, repo, "a.txt", b"one\n")
    work = clone(repo, protocol=protocol)
    assert (work.folder / "a.txt").read_bytes() == b"one\n"
    pushed = work.commit(**{"b.txt": b"two\n"})
    work.git("tag", "v1")
    work.git("push", "-q", "origin", "main", "v1", "HEAD:refs/heads/feat/x")
    assert client.api.dataset_info(repo).sha == pushed
    refs = client.api.list_repo_refs(repo, repo_type="dataset")
    assert {ref.name for ref in refs.branches} == {"main", "feat/x"}
    assert [tag.target_commit for tag in refs.tags] == [pushed]
    assert upload(client, repo, "c.txt", b"three\n", parent_commit=pushed).oid
    work.git("pull", "-q", "--ff-only")
    assert sorted(path.name for path in work.folder.iterdir()) == [".git", ".gitattributes", "a.txt", "b.txt", "c.txt"]
    client.assert_sound(repo)


def test_a_large_push_comes_in_pieces_and_unpacks_to_the_same_bytes(client, repo, clone):
    work, data = clone(repo), os.urandom(3_000_000)  # above http.postBuffer, so that git sends it chunked
    work.commit(**{"noise.txt": data, "text.txt": b"line\n" * 100_000})
    work.git("push", "-q", "origin", "main")
    assert (clone(repo, options=["--depth", "1"]).folder / "noise.txt").read_bytes() == data


def test_who_may_not_write_is_refused(client, repo, clone):
    client.api.update_repo_settings(repo, private=True, repo_type="dataset")
    bob = client.new_user("bob")
    work = Work(client.root, client.root.parent)
    assert "not found" in work.git("ls-remote", url(client, repo, bob), fails=True)
    nobody = f"{client.endpoint}/datasets/{repo}"
    assert "could not read Username" in work.git("ls-remote", nobody, fails=True)
    mine = clone(repo)
    client.api.update_repo_settings(repo, private=False, repo_type="dataset")
    mine.commit(**{"a.txt": b"x"})
    error = mine.git("push", url(client, repo, bob), "main", fails=True)
    assert "rights to write to the namespace 'alice'" in error
    assert "403" in mine.git("push", url(client, repo, client.new_user("eve", "read")), "main", fails=True)


def test_a_reader_of_an_organisation_clones_and_does_not_push(client, clone):
    org, user = f"team-{uuid.uuid4().hex[:6]}", f"reader-{uuid.uuid4().hex[:6]}"
    Organisations(client.root).create(org, "alice", frozenset())
    Organisations(client.root).set_role(org, user, OrgRole.READ)
    client.api.create_repo(f"{org}/box", repo_type="dataset", private=True)
    work = clone(f"{org}/box", client.new_user(user))
    work.commit(**{"a.txt": b"x"})
    assert "don't have the rights" in work.git("push", "origin", "main", fails=True)


def _link(work):
    (work.folder / "link").symlink_to("/etc/passwd")
    work.commit()


def _by_tree(entry):
    """A commit whose tree has an entry that git's own commands wouldn't add."""

    def make(work):
        blob = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"],
            cwd=work.folder,
            input="x",
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        mode, kind, name = entry
        blob = "1" * 40 if kind == "commit" else blob
        done = subprocess.run(
            ["git", "mktree", "--missing", "-z"],
            cwd=work.folder,
            input=f"{mode} {kind} {blob}\t{name}\0".encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=True,
        )
        commit = work.git("commit-tree", done.stdout.decode().strip(), "-p", "HEAD", "-m", "hostile")
        work.git("reset", "-q", "--soft", commit)

    return make


HOSTILE = {
    "link": (_link, "is a link or a submodule"),
    "submodule": (_by_tree(("160000", "commit", "sub")), "is a link or a submodule"),
    "dot-git": (_by_tree(("100644", "blob", ".git")), "Refused|fsck|hasDotgit"),
    "dot-dot": (_by_tree(("100644", "blob", "..")), "Refused|fsck|hasDotdot"),
    "short name": (_by_tree(("100644", "blob", "GIT~1")), "Refused|fsck|hasDotgit"),
    "backslash": (_by_tree(("100644", "blob", "a\\b")), "backslashes"),
    "control": (_by_tree(("100644", "blob", "a\x1b[2J")), "control characters"),
    "not unicode": (_by_tree(("100644", "blob", "a\udcff")), "isn't a name in UTF-8"),
    "too large": (lambda work: work.commit(**{"big.txt": bytes(10 * 1024 * 1024 + 1)}), "track it with git-lfs"),
    "card": (lambda work: work.commit(**{"README.md": b"---\nlicense: [\n---\n"}), "invalid metadata"),
    "pointer": (
        lambda work: work.commit(
            **{"x.bin": b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 5\n" % (b"a" * 64)}
        ),
        "isn't on the hub",
    ),
}


_QUICK = ("link", "control", "pointer")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in _QUICK else pytest.mark.slow) for name in HOSTILE]
)
def test_hostile_trees_are_refused_also_in_the_middle_of_a_push(client, repo, clone, name):
    make, message = HOSTILE[name]
    before, work = client.api.dataset_info(repo).sha, clone(repo)
    (work.folder / ".gitattributes").write_text("")  # no filter on the way
    work.commit()
    make(work)
    if name not in ("card",):  # a card counts where the branch ends
        work.git("rm", "-r", "-q", "--cached", "--ignore-unmatch", ".")
        work.git("commit", "-q", "--allow-empty", "-m", "as if nothing was")
    error = work.git("push", "origin", "main", fails=True)
    assert any(part in error for part in message.split("|")), error
    assert "\x1b" not in error
    assert client.api.dataset_info(repo).sha == before
    client.assert_sound(repo)


def test_references_that_the_api_protects_are_protected_from_pushes(client, repo, clone):
    work = clone(repo)
    work.git("tag", "v1")
    work.git("push", "-q", "origin", "v1")
    work.commit(**{"a.txt": b"x"})
    work.git("tag", "-f", "v1")
    assert "never moved" in work.git("push", "-f", "origin", "v1", fails=True)
    assert "can't be deleted" in work.git("push", "origin", ":main", fails=True)
    refs = [f"HEAD:{ref}" for ref in ("refs/notes/x", "refs/pr/7", "refs/heads/" + "a" * 40)]
    assert work.git("push", "origin", *refs, fails=True).count("Refused") == 3
    Quotas(client.root).set("alice", Quota(files=1))
    try:
        assert "may have 1 files" in work.git("push", "origin", "main", fails=True)
    finally:
        Quotas(client.root).set("alice", Quota())
    work.git("push", "-q", "origin", "main")


def test_the_author_of_a_pull_request_pushes_to_it(client, repo, clone):
    bob = client.new_user("bob")
    client.api_for(bob).create_pull_request(repo, "From a fork of mine", repo_type="dataset")
    work = clone(repo, bob)
    commit = work.commit(**{"a.txt": b"x\n"})
    work.git("push", "-q", "origin", "HEAD:refs/pr/1")
    found = client.api.get_discussion_details(repo, 1, repo_type="dataset")
    assert [event.oid for event in found.events if event.type == "commit"] == [commit]
    client.api.change_discussion_status(repo, 1, "open", repo_type="dataset")
    client.api.merge_pull_request(repo, 1, repo_type="dataset")
    work.commit(**{"b.txt": b"y\n"})
    assert "is merged" in work.git("push", "origin", "HEAD:refs/pr/1", fails=True)


def test_git_lfs_uploads_and_downloads_with_a_token_as_its_password(client, repo, http):
    data = b"large" * 1000
    pointer = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data)}
    basic = {"Authorization": "Basic " + base64.b64encode(f"x:{client.token}".encode()).decode()}

    def batch(operation, headers=basic):
        body = {"operation": operation, "transfers": ["basic"], "objects": [pointer]}
        path = f"/datasets/{repo}.git/info/lfs/objects/batch"
        return http("POST", path, token=None, json=body, headers=headers).json()["objects"][0]

    def path_of(action):
        return action["href"].removeprefix(client.endpoint)

    assert batch("download")["error"]["code"] == 404
    upload = path_of(batch("upload")["actions"]["upload"])
    assert http("GET", upload, token=None).status_code == 404  # the right to upload isn't one to read
    assert http("PUT", upload, token=None, content=data).status_code == 200
    assert http("GET", path_of(batch("download")["actions"]["download"]), token=None).content == data
    assert batch("download", headers={})["actions"]  # public


def test_bodies_that_are_no_push_are_refused(client, repo, http):
    path = f"/datasets/{repo}/git-receive-pack"
    for body in (b"", b"zzzz", b"0010" + b"x" * 12, b"00ff"):
        assert http("POST", path, content=body).status_code == 400, body
    packed = {"Content-Encoding": "gzip"}
    assert http("POST", path, content=gzip.compress(b"zzzz"), headers=packed).status_code == 400
    assert http("POST", path, content=b"no gzip", headers=packed).status_code == 400
    assert http("POST", path, content=b"", headers={"Content-Encoding": "br"}).status_code == 415
    assert http("GET", f"/datasets/{repo}/info/refs").status_code == 403


def test_a_hub_without_git_says_so(repo, http, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    answer = http("GET", f"/datasets/{repo}/info/refs?service=git-upload-pack")
    assert answer.status_code == 501
    assert "git isn't installed" in answer.json()["error"]
