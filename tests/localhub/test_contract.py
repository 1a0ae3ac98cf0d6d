"""What the hub answers when something is wrong, and what it refuses: the client's exceptions hang on it."""

import base64
import hashlib
import json
import subprocess
import time

import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import GatedRepoError

from hfenv.localhub.lfs import Pointer
from hfenv.localhub.storage import Storage

API = "/api/datasets"


def lines(*operations, summary="change", **header):
    head = {"key": "header", "value": {"summary": summary, "description": "", **header}}
    return "\n".join(json.dumps(line) for line in (head, *operations)).encode()


def file(path, content=b"x"):
    value = {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}
    return {"key": "file", "value": value}


def large(path, oid, **more):
    return {"key": "lfsFile", "value": {"path": path, "algo": "sha256", "oid": oid, **more}}


@pytest.fixture
def post_commit(http, repo):
    def post(body, revision="main", **options):
        return http("POST", f"{API}/{repo}/commit/{revision}", content=body, **options)

    return post


@pytest.fixture
def stored(client, repo):
    """A file in git and one in LFS, and their bytes."""
    small, big = bytes(range(256)) * 4, bytes(range(256)) * 40
    files = [CommitOperationAdd("small.txt", small), CommitOperationAdd("big.bin", big)]
    client.api.create_commit(repo, files, commit_message="two files", repo_type="dataset")
    return {"small.txt": small, "big.bin": big}


def refused(response, status, code=None):
    assert (response.status_code, response.headers.get("X-Error-Code")) == (status, code)
    assert isinstance(response.json()["error"], str)
    assert response.headers["X-Error-Message"]
    return response


def test_a_missing_repository_looks_like_a_private_one(client, repo, http):
    client.api.update_repo_settings(repo, repo_type="dataset", private=True)
    stranger = client.new_user("carol")
    refused(http("GET", f"{API}/squad", token=None), 401, "RepoNotFound")
    for name in (repo, "alice/nothing", "alice/%2e%2e%2fx", "..%2fmodels/x"):
        for path in ("", "/refs", "/tree/main", "/commits/main", "/auth-check"):
            refused(http("GET", f"{API}/{name}{path}", token=None), 401, "RepoNotFound")
            refused(http("GET", f"{API}/{name}{path}", token=stranger), 404, "RepoNotFound")
        refused(http("GET", f"/datasets/{name}/resolve/main/x", token=None), 401, "RepoNotFound")


def test_missing_revisions_and_paths(http, repo):
    for path in ("revision/none", "tree/none", "commits/none", "tree/" + "1" * 40, "revision/refs%2Fpr%2F9"):
        refused(http("GET", f"{API}/{repo}/{path}"), 404, "RevisionNotFound")
    refused(http("GET", f"{API}/{repo}/tree/main/none"), 404, "EntryNotFound")
    head = http("HEAD", f"/datasets/{repo}/resolve/main/none")
    assert (head.status_code, head.headers["X-Error-Code"]) == (404, "EntryNotFound")
    assert head.headers["X-Repo-Commit"] == http("GET", f"{API}/{repo}").json()["sha"]


def test_a_bad_token_is_refused_everywhere(http, repo):
    for path in ("/api/whoami-v2", API, f"{API}/{repo}", f"/datasets/{repo}/resolve/main/.gitattributes"):
        answer = refused(http("GET", path, token="hf_wrong"), 401)
        assert answer.headers["X-Error-Message"] == "Invalid credentials in Authorization header"
    refused(http("GET", "/api/whoami-v2", token=None), 401)


def test_writing_needs_the_right(client, repo, http):
    sha = http("GET", f"{API}/{repo}").json()["sha"]
    stranger, reader, name = client.new_user("carol"), client.new_user("alice", "read"), repo.split("/")[1]
    for method, path, body in (
        ("POST", f"{API}/{repo}/commit/main", {"content": lines(file("x"))}),
        ("POST", f"{API}/{repo}/tag/main", {"json": {"tag": "t"}}),
        ("POST", f"{API}/{repo}/branch/b", {"json": {}}),
        ("POST", f"{API}/{repo}/super-squash/main", {"json": {}}),
        ("PUT", f"{API}/{repo}/settings", {"json": {"visibility": "private"}}),
        ("POST", "/api/repos/create", {"json": {"name": "x", "organization": "alice", "type": "dataset"}}),
        (
            "DELETE",
            "/api/repos/delete",
            {"json": {"name": name, "organization": "alice", "type": "dataset"}},
        ),
        ("POST", "/api/repos/move", {"json": {"fromRepo": repo, "toRepo": "alice/y", "type": "dataset"}}),
    ):
        for token, status in ((None, 401), (stranger, 403), (reader, 403)):
            refused(http(method, path, token=token, **body), status)
    assert http("GET", f"{API}/{repo}").json()["sha"] == sha


def test_unknown_addresses_answer_an_object(http):
    for path in ("/api/agent-harnesses", "/api/kernels", "/api/nothing", "/nothing", "/api/datasets/", "/api"):
        refused(http("GET", path), 404)
    refused(http("POST", API), 405)


def test_xet_isnt_offered(http, repo, stored):
    assert http("GET", f"{API}/{repo}/xet-write-token/main").status_code == 404
    assert http("GET", f"{API}/{repo}/xet-read-token/main").status_code == 404
    assert "X-Xet-Hash" not in http("HEAD", f"/datasets/{repo}/resolve/main/big.bin").headers
    assert all("xetHash" not in each for each in http("GET", f"{API}/{repo}/tree/main").json())


def test_a_gated_repository_shows_itself_but_not_its_files(client, repo, http, stored, tmp_path):
    client.api.update_repo_settings(repo, repo_type="dataset", gated="auto")
    stranger = client.api_for(client.new_user("carol"))
    assert stranger.dataset_info(repo).gated == "auto"
    with pytest.raises(GatedRepoError):
        stranger.hf_hub_download(repo, "small.txt", repo_type="dataset", cache_dir=tmp_path)
    refused(http("GET", f"/datasets/{repo}/resolve/main/small.txt", token=None), 401, "GatedRepo")
    assert client.api.hf_hub_download(repo, "small.txt", repo_type="dataset", cache_dir=tmp_path)


@pytest.mark.parametrize("name", ["a--b", "a..b", "x.git", "-a", "a.", "a b", "é", "x" * 97, "", ".", "a/b"])
def test_bad_repository_names(http, name):
    refused(http("POST", "/api/repos/create", json={"name": name, "type": "dataset"}), 400)


@pytest.mark.parametrize("namespace", ["api", "datasets", "models"])
def test_reserved_namespaces(client, http, namespace):
    administrator = client.new_user("local")
    body = {"name": "x", "organization": namespace, "type": "dataset"}
    refused(http("POST", "/api/repos/create", token=administrator, json=body), 400)


@pytest.mark.parametrize(
    "path",
    [
        "../x", "a/../../x", "/etc/passwd", "a//b", "./a", "a/.", ".", "..", "", ".git/config", "a/.GIT/x", "sub/.git",
        ".git ", ".git.", "git~1/x", ".git::$INDEX_ALLOCATION/x", ".g\u200cit/x", "a\\b", "..\\x", "a\x00b", "a\nb",
        "\ud800", "x" * 256, "/".join(["d" * 200] * 30),
    ],
)  # fmt: skip
def test_hostile_paths(client, repo, post_commit, path):
    before = client.git(repo, "rev-parse", "main")
    refused(post_commit(lines(file("fine.txt"), file(path))), 400)
    refused(post_commit(lines(large(path, "0" * 64))), 400)
    assert client.git(repo, "rev-parse", "main") == before


def test_hostile_paths_are_refused_before_the_upload(http, repo):
    body = {"files": [{"path": "a/../b", "size": 1, "sample": ""}]}
    refused(http("POST", f"{API}/{repo}/preupload/main", json=body), 400)
    encoded = http("GET", f"/datasets/{repo}/resolve/main/..%2f..%2f..%2ftokens.json")
    assert (encoded.status_code, encoded.headers["X-Error-Code"]) == (404, "EntryNotFound")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"not json\n", b"[]\n", b'{"key": "header"}\n', lines(file("x"), summary=""),
        lines(file("x"), summary="  "),
        json.dumps(file("x")).encode(), lines({"key": "symlink", "value": {"path": "x"}}),
        lines({"key": "file", "value": {"path": "x"}}), lines(file("a"), file("a/b")),
        lines({"key": "file", "value": {"path": "x", "content": "%%%", "encoding": "base64"}}),
        lines(large("x", "0" * 64)), lines(large("x", "abc")), lines(large("x", "../" * 30)),
        lines(file("x"), parentCommit="HEAD"), lines(file("README.md", b"---\na: [\n---\n")),
        lines(file("README.md", b"---\ntags: x\n---\n")),
    ],
)  # fmt: skip
def test_malformed_commits(client, repo, post_commit, body):
    before = client.git(repo, "rev-parse", "main")
    refused(post_commit(body), 400)
    assert client.git(repo, "rev-parse", "main") == before
    client.assert_sound(repo)


def test_commits_go_to_branches(client, repo, post_commit, http):
    client.api.create_tag(repo, tag="v1", repo_type="dataset")
    refused(http("POST", f"{API}/{repo}/tag/main", json={"tag": "v1/x"}), 400)
    head = client.git(repo, "rev-parse", "main")
    refused(post_commit(lines(file("x")), "v1"), 400)
    refused(post_commit(lines(file("x")), head), 400)
    refused(post_commit(lines(file("x")), "none"), 404, "RevisionNotFound")
    refused(post_commit(lines(file("x"), parentCommit="0" * 40)), 412)
    assert post_commit(lines(file("x"), parentCommit=head[:10])).status_code == 200


def test_every_file_is_an_ordinary_one(client, repo, post_commit):
    assert post_commit(lines(file("run.sh", b"#!/bin/sh\n"), file("link", b"/etc/passwd"))).status_code == 200
    modes = {line.split()[0] for line in client.git(repo, "ls-tree", "-r", "main").splitlines()}
    assert modes == {"100644"}


def test_a_regular_file_has_a_limit(repo, post_commit):
    assert post_commit(lines(file("fits", b"x" * (10 << 20)))).status_code == 200
    refused(post_commit(lines(file("too-large", b"x" * ((10 << 20) + 1)))), 400)


def test_a_file_may_become_a_folder(client, repo, post_commit):
    assert post_commit(lines(file("a"))).status_code == 200
    assert post_commit(lines(file("a/b"))).status_code == 200
    assert client.git(repo, "ls-tree", "-r", "--name-only", "main").splitlines() == [".gitattributes", "a/b"]


@pytest.mark.parametrize("name", ["a..b", "x.lock", "-x", "a b", "refs/heads/x", "HEAD", "0" * 40, "", "a\nb"])
def test_bad_tag_names(http, repo, name):
    refused(http("POST", f"{API}/{repo}/tag/main", json={"tag": name}), 400)


@pytest.mark.parametrize("name", ["refs%2Fheads%2Fx", "a..b", "x.lock", "1" * 40])
def test_bad_branch_names(http, repo, name):
    refused(http("POST", f"{API}/{repo}/branch/{name}", json={}), 400)


@pytest.mark.parametrize("name", ["small.txt", "big.bin"])
def test_ranges(http, repo, stored, name):
    path, content = f"/datasets/{repo}/resolve/main/{name}", stored[name]
    size = len(content)
    for span, first, last in (
        ("bytes=0-9", 0, 9), ("bytes=100-", 100, size - 1), ("bytes=-7", size - 7, size - 1),
        ("bytes=5-999999999", 5, size - 1),
    ):  # fmt: skip
        part = http("GET", path, headers={"Range": span})
        assert (part.status_code, part.content) == (206, content[first : last + 1])
        assert part.headers["Content-Range"] == f"bytes {first}-{last}/{size}"
    beyond = http("GET", path, headers={"Range": f"bytes={size}-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, f"bytes */{size}")
    head = http("HEAD", path)
    assert (head.headers["Content-Length"], head.headers["Accept-Ranges"], head.content) == (str(size), "bytes", b"")
    whole = http("GET", path, headers={"Range": "bytes=0-9", "If-Range": '"another"'})
    assert (whole.status_code, whole.content) == (200, content)


def test_headers_of_files(client, http, repo, stored):
    head = client.git(repo, "rev-parse", "main")
    small = http("HEAD", f"/datasets/{repo}/resolve/main/small.txt").headers
    assert (small["X-Repo-Commit"], small["ETag"]) == (head, f'"{client.git(repo, "rev-parse", "main:small.txt")}"')
    assert "X-Linked-Etag" not in small
    big = http("HEAD", f"/datasets/{repo}/resolve/{head}/big.bin").headers
    sha256 = client.git(repo, "show", "main:big.bin").splitlines()[1].removeprefix("oid sha256:")
    assert (big["X-Linked-Etag"], big["X-Linked-Size"]) == (f'"{sha256}"', str(len(stored["big.bin"])))


def test_preupload_answers_in_the_currency_of_the_mode(client, http, repo, stored):
    files = [("small.txt", 1), ("big.bin", 1), ("new.txt", 5 << 20), ("huge.txt", 11 << 20), ("empty.bin", 0)]
    body = {"files": [{"path": path, "size": size, "sample": ""} for path, size in files]}
    found = {each["path"]: each for each in http("POST", f"{API}/{repo}/preupload/main", json=body).json()["files"]}
    assert [found[path]["uploadMode"] for path, _ in files] == ["regular", "lfs", "regular", "lfs", "regular"]
    assert found["small.txt"]["oid"] == client.git(repo, "rev-parse", "main:small.txt")
    assert len(found["big.bin"]["oid"]) == 64
    assert [found[path]["oid"] for path in ("new.txt", "huge.txt", "empty.bin")] == [None] * 3
    assert not any(each["shouldIgnore"] for each in found.values())


def test_gitignore_is_obeyed(client, http, repo):
    paths = ["a.pyc", "build/x", "deep/build/y", "keep.pyc", "kept.txt"]
    files = [{"path": path, "size": 1, "sample": ""} for path in paths]
    rules = "*.pyc\n!keep.pyc\n/build/\n"

    def ignored(**extra):
        found = http("POST", f"{API}/{repo}/preupload/main", json={"files": files, **extra}).json()["files"]
        return [each["path"] for each in found if each["shouldIgnore"]]

    assert ignored() == []
    assert ignored(gitIgnore=rules) == ["a.pyc", "build/x"]
    client.api.upload_file(path_or_fileobj=rules.encode(), path_in_repo=".gitignore", repo_id=repo, repo_type="dataset")
    assert ignored() == ["a.pyc", "build/x"]
    assert ignored(gitIgnore="") == []


def batch(http, repo, oid, size, **more):
    body = {"operation": "upload", "transfers": ["basic"], "objects": [{"oid": oid, "size": size}], **more}
    return http("POST", f"/datasets/{repo}.git/info/lfs/objects/batch", json=body)


@pytest.fixture
def upload(client, http, repo):
    """Open an upload of new bytes; gives the bytes, their sha256 and the path of its signed address."""
    content = f"{client.endpoint} {time.time_ns()}".encode()
    oid = hashlib.sha256(content).hexdigest()
    actions = batch(http, repo, oid, len(content)).json()["objects"][0]["actions"]
    strip = len(client.endpoint)
    return content, oid, actions["upload"]["href"][strip:], actions["verify"]["href"][strip:]


def test_lfs_upload(client, http, repo, upload, post_commit):
    content, oid, href, verify = upload
    assert http("POST", verify, token=None, json={"oid": oid, "size": len(content)}).status_code == 404
    assert http("PUT", href, token=None, content=content).status_code == 200
    assert http("POST", verify, token=None, json={"oid": oid, "size": len(content)}).status_code == 200
    assert "actions" not in batch(http, repo, oid, len(content)).json()["objects"][0]
    refused(post_commit(lines(large("x", oid, size=len(content) + 1))), 400)
    assert post_commit(lines(large("x", oid, size=len(content)))).status_code == 200
    assert http("GET", f"/datasets/{repo}/resolve/main/x").content == content


def test_wrong_bytes_are_not_kept(client, http, upload):
    content, oid, href, _ = upload
    stored = client.root / "lfs" / oid[:2] / oid[2:4] / oid
    for wrong in (content[:-1], content + b"x", bytes(len(content)), b""):
        refused(http("PUT", href, token=None, content=wrong), 400)
        assert not stored.exists()
    assert http("PUT", href, token=None, content=content).status_code == 200
    assert stored.read_bytes() == content


def test_upload_addresses_are_signed(client, http, upload):
    content, oid, href, _ = upload
    other = ("0" if oid[0] != "0" else "1") + oid[1:]
    for forged in (
        href.split("?")[0], href[:-1] + ("0" if href[-1] != "0" else "1"), href.replace(oid, other),
        href.replace(f"size={len(content)}", "size=1"), href.replace("expires=", "expires=9"),
    ):  # fmt: skip
        refused(http("PUT", forged, token=None, content=content), 403)


def test_an_upload_address_expires(client, http, repo):
    past = Storage(client.root).signer.sign(Pointer("0" * 64, 3), f"datasets/{repo}", expires=int(time.time()) - 1)
    refused(http("PUT", f"/lfs/{'0' * 64}?{past}", token=None, content=b"abc"), 403)


def test_lfs_batch_refusals(http, repo):
    assert batch(http, repo, "abc", 1).json()["objects"][0]["error"]["code"] == 422
    assert batch(http, repo, "0" * 64, 1, operation="download").json()["objects"][0]["error"]["code"] == 404
    refused(batch(http, repo, "0" * 64, 1, operation="list"), 400)
    refused(batch(http, repo, "0" * 64, 1, transfers=["multipart"]), 400)
    body = {"operation": "upload", "objects": [{"oid": "0" * 64, "size": 1}]}
    refused(http("POST", f"/datasets/{repo}.git/info/lfs/objects/batch", token=None, json=body), 401)


def test_validate_yaml(http):
    def check(content):
        answer = http("POST", "/api/validate-yaml", json={"content": content, "repoType": "dataset"})
        body = answer.json()
        return answer.status_code, len(body["errors"]), len(body["warnings"])

    assert check("---\nlicense: mit\nenvironment: {spec: '1'}\n---\n# x") == (200, 0, 0)
    assert check("# no header") == (200, 0, 1)
    assert check("---\nlicense: mit\n") == (400, 1, 0)
    assert check("---\na: [\n---\n") == (400, 1, 0)
    assert check("---\n- a\n---\n") == (400, 1, 0)
    assert check("---\nlicense: 5\ntags: x\nconfigs: y\n---\n") == (400, 3, 0)
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
    )
    assert check(f"---\n{bomb}---\n") == (400, 1, 0)


def test_card_values_as_the_hub_reads_them(client, repo, post_commit):
    card = b"---\nlanguage: no\ndate: 2024-01-02\nyes: off\nenvironment: {version: '1.10', on: true}\n---\n"
    assert post_commit(lines(file("README.md", card))).status_code == 200
    found = client.api.dataset_info(repo)
    assert "language:no" in found.tags
    assert (found.card_data["date"], found.card_data["yes"]) == ("2024-01-02", "off")
    assert found.card_data["environment"] == {"version": "1.10", "on": True}


def test_large_trees_come_in_pages(client, repo, post_commit):
    names = [f"d{number // 100:02}/f{number:04}" for number in range(1100)]
    assert post_commit(lines(*(file(name, name.encode()) for name in names))).status_code == 200
    found = [entry.path for entry in client.api.list_repo_tree(repo, repo_type="dataset", recursive=True)]
    assert [path for path in found if "/" in path] == names
    assert len(found) == 1100 + 11 + 1
    client.assert_sound(repo)


def test_clone_with_plain_git(client, repo, post_commit, tmp_path):
    post_commit(lines(file("a/b.txt", b"hello\r\n")))
    subprocess.run(["git", "clone", "-q", str(client.git_folder(repo)), str(tmp_path / "copy")], check=True)
    assert (tmp_path / "copy" / "a" / "b.txt").read_bytes() == b"hello\r\n"
    assert client.git(repo, "symbolic-ref", "HEAD") == "refs/heads/main"
    (tmp_path / "copy" / "c.txt").write_text("from git", encoding="utf-8")
    for step in (
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "by git"],
        ["push", "-q"],
    ):
        subprocess.run(["git", "-C", str(tmp_path / "copy"), *step], check=True)
    assert client.api.file_exists(repo, "c.txt", repo_type="dataset")
