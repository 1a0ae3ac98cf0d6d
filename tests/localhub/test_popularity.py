"""Likes and downloads: counted, listed and sorted by, through the real client."""

import json
import uuid

import pytest

from hfenv.localhub import popularity


@pytest.fixture
def api(client):
    return client.api


def like(http, repo, token):
    assert http("POST", f"/api/datasets/{repo}/like", token=token).status_code == 200


def likes(api, repo):
    return api.dataset_info(repo).likes


def test_likes_are_counted_once_for_each_user(client, api, http, repo):
    bob = client.new_user("bob")
    for token in (client.token, bob, bob):
        like(http, repo, token)
    assert likes(api, repo) == 2
    assert [user.username for user in api.list_repo_likers(repo, repo_type="dataset")] == ["alice", "bob"]
    assert repo in api.list_liked_repos("bob").datasets
    client.api_for(bob).unlike(repo, repo_type="dataset")
    assert likes(api, repo) == 1
    assert repo not in api.list_liked_repos("bob").datasets
    assert repo in client.api.list_liked_repos().datasets


def test_a_like_needs_a_token_and_what_is_private_stays_so(client, api, http, repo):
    assert http("POST", f"/api/datasets/{repo}/like", token=None).status_code == 401
    like(http, repo, client.token)
    api.update_repo_settings(repo, private=True, repo_type="dataset")
    assert repo not in client.api_for(False).list_liked_repos("alice").datasets
    assert repo in api.list_liked_repos("alice").datasets


def test_lists_are_sorted_by_likes_and_downloads(client, api, http):
    author = f"sorted-{uuid.uuid4().hex[:8]}"
    own = client.api_for(client.new_user(author))
    for name in ("a", "b", "c"):
        own.create_repo(f"{author}/{name}", repo_type="dataset")
    like(http, f"{author}/b", client.token)
    for token in (client.token, client.new_user("bob")):
        like(http, f"{author}/c", token)
    http("GET", f"/datasets/{author}/a/resolve/main/.gitattributes")

    def names(sort):
        return [each.id.split("/")[1] for each in api.list_datasets(author=author, sort=sort)]

    assert names("likes") == ["c", "b", "a"]
    assert names("downloads")[0] == "a"


def test_one_client_that_fetches_many_files_makes_one_download(client, api, http, repo):
    folder = client.git_folder(repo)
    resolve = f"/datasets/{repo}/resolve/main/.gitattributes"
    for _ in range(3):
        http("GET", resolve)
    http("HEAD", resolve, token=client.new_user("bob"))
    http("GET", resolve, token=client.new_user("carl"), headers={"Range": "bytes=10-20"})
    assert not (folder / "hub-downloads.json").exists()  # nothing is written while a client waits
    http("GET", "/api/datasets?limit=1")
    assert popularity.downloads(folder).recent == 1
    http("GET", resolve, token=client.new_user("dora"))
    http("GET", "/api/datasets?limit=1")
    assert api.dataset_info(repo).downloads == 2


def test_old_days_count_for_ever_only(client, api, http, repo):
    file = client.git_folder(repo) / "hub-downloads.json"
    file.write_text(json.dumps({"before": 5, "2020-02-02": 7}))
    http("GET", f"/datasets/{repo}/resolve/main/.gitattributes")
    http("GET", "/api/datasets?limit=1")
    found = api.dataset_info(repo, expand=["downloads", "downloadsAllTime"])
    assert (found.downloads, found.downloads_all_time) == (1, 13)
    assert set(json.loads(file.read_text())) - {"before"} != {"2020-02-02"}
    assert json.loads(file.read_text())["before"] == 12


def test_damaged_counts_keep_nothing_from_being_read(client, api, repo):
    (client.git_folder(repo) / "hub-downloads.json").write_text("[oops")
    assert api.dataset_info(repo).downloads == 0
