"""Requests of people who mean harm, or whose program is broken: nothing leaks, and nothing ends in an error of ours."""

import base64
import hashlib
import json

import pytest
from huggingface_hub import CommitOperationAdd

API = "/api/datasets"
SECRET = b"hidden test data " * 1000
SIZE = len(SECRET)
OID = hashlib.sha256(SECRET).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(SECRET)}\n"


def commit_of(*operations):
    lines = [{"key": "header", "value": {"summary": "change"}}, *operations]
    return "\n".join(json.dumps(line) for line in lines).encode()


def file(path, content):
    value = {"path": path, "content": base64.b64encode(content).decode(), "encoding": "base64"}
    return {"key": "file", "value": value}


def batch(http, repo, token, oid=OID, size=SIZE):
    body = {"operation": "upload", "objects": [{"oid": oid, "size": size}]}
    return http("POST", f"/datasets/{repo}.git/info/lfs/objects/batch", token=token, json=body)


@pytest.fixture
def thief(client, repo):
    """A user who knows the digest of a file in alice's private repository, and the user's own repository."""
    client.api.update_repo_settings(repo, repo_type="dataset", private=True)
    files = [CommitOperationAdd("secret.bin", SECRET)]
    client.api.create_commit(repo, files, commit_message="secret", repo_type="dataset")
    token = client.new_user("mallory")
    own = f"mallory/{repo.split('/')[1]}"
    client.api_for(token).create_repo(own, repo_type="dataset")
    return token, own


def test_a_digest_alone_gives_nobody_a_large_file(http, thief):
    token, own = thief
    named = {"key": "lfsFile", "value": {"path": "x.bin", "algo": "sha256", "oid": OID, "size": len(SECRET)}}
    answer = http("POST", f"{API}/{own}/commit/main", token=token, content=commit_of(named))
    assert (answer.status_code, "doesn't exist" in answer.json()["error"]) == (400, True)
    # A pointer can also be written by hand, as an ordinary file.
    pointer = commit_of(file("y.bin", POINTER.encode()))
    assert http("POST", f"{API}/{own}/commit/main", token=token, content=pointer).status_code == 200
    found = http("GET", f"/datasets/{own}/resolve/main/y.bin", token=token)
    assert (found.status_code, SECRET[:10] in found.content) == (404, False)


def test_who_has_the_bytes_uploads_them_again(client, http, thief):
    token, own = thief
    upload = batch(http, own, token).json()["objects"][0]["actions"]["upload"]["href"]
    assert http("PUT", upload[len(client.endpoint) :], token=None, content=SECRET).status_code == 200
    assert "actions" not in batch(http, own, token).json()["objects"][0]
    other = f"{own}-2"
    client.api_for(token).create_repo(other, repo_type="dataset")
    assert "actions" in batch(http, other, token).json()["objects"][0]


def test_an_upload_address_is_for_one_repository(client, http, repo, thief):
    token, own = thief
    upload = batch(http, own, token, "0" * 64, 3).json()["objects"][0]["actions"]["upload"]["href"]
    forged = upload[len(client.endpoint) :].replace(own.replace("/", "%2F"), repo.replace("/", "%2F"))
    assert forged != upload[len(client.endpoint) :]
    assert http("PUT", forged, token=None, content=b"abc").status_code == 403


def test_a_token_that_reads_opens_no_pull_request(client, http, repo):
    reader = client.new_user("mallory", "read")
    body = commit_of(file("x", b"x"))
    assert http("POST", f"{API}/{repo}/commit/main?create_pr=1", token=reader, content=body).status_code == 403
    assert batch(http, repo, reader).status_code == 403
    preupload = http("POST", f"{API}/{repo}/preupload/main?create_pr=1", token=reader, json={"files": []})
    assert preupload.status_code == 403
    assert http("GET", f"{API}/{repo}/refs?include_prs=1").json()["pullRequests"] == []


@pytest.mark.parametrize(
    "body",
    [b"[" * 200_000, b'{"a":' * 100_000, b'{"name": "\\ud800"}', b'{"name": ' + b"9" * 6000],
    ids=["deep list", "deep object", "half a pair", "long number"],
)
def test_bodies_that_are_no_sensible_json(http, repo, body):
    for path in ("/api/repos/create", f"{API}/{repo}/tag/main", f"{API}/{repo}/preupload/main", "/api/validate-yaml"):
        assert http("POST", path, content=body).status_code == 400
    assert http("POST", f"{API}/{repo}/commit/main", content=commit_of() + b"\n" + body).status_code == 400


def test_numbers_of_thousands_of_digits(client, http, repo):
    digits = "9" * 5000
    whole = http("GET", f"/datasets/{repo}/resolve/main/.gitattributes")
    for span in (f"{digits}-", f"-{digits}", f"0-{digits}"):
        answer = http("GET", f"/datasets/{repo}/resolve/main/.gitattributes", headers={"Range": f"bytes={span}"})
        assert (answer.status_code, answer.content) == (200, whole.content)
    assert http("GET", f"{API}?limit={digits}").status_code == 400
    assert http("GET", f"{API}/{repo}/commits/main?cursor={digits}").status_code == 200
    upload = batch(http, repo, client.token, "1" * 64, 3).json()["objects"][0]["actions"]["upload"]["href"]
    forged = upload[len(client.endpoint) :].replace("expires=", f"expires={digits}")
    assert http("PUT", forged, token=None, content=b"abc").status_code == 403


@pytest.mark.parametrize("name", ["a\0b", "t" * 300, "/".join(["d" * 100] * 60)], ids=["nul", "long", "deep"])
def test_references_that_no_disk_holds(client, http, repo, name):
    assert http("POST", f"{API}/{repo}/tag/main", json={"tag": name}).status_code == 400
    quoted = name.replace("\0", "%00").replace("/", "%2F")
    assert http("POST", f"{API}/{repo}/branch/{quoted}", json={}).status_code == 400
    assert http("GET", f"{API}/{repo}/tree/{quoted}").status_code == 404
    client.assert_sound(repo)


def test_messages_with_a_nul(client, http, repo):
    assert http("POST", f"{API}/{repo}/tag/main", json={"tag": "v1", "message": "a\0b"}).status_code == 200
    assert client.git(repo, "for-each-ref", "--format=%(contents)", "refs/tags/v1") == "ab"
    assert http("POST", f"{API}/{repo}/super-squash/main", json={"message": "c\0d"}).status_code == 200
    assert client.git(repo, "log", "-1", "--format=%s", "main") == "cd"


@pytest.mark.parametrize("path", [".gitattributes/x", "a/.GitModules/x", ".gitignore/.gitignore"])
def test_files_of_gits_own_are_no_folders(client, http, repo, path):
    body = commit_of(file(path, b"x"))
    assert http("POST", f"{API}/{repo}/commit/main", content=body).status_code == 400
    client.assert_sound(repo)
