"""The steps that the Hub client and `datasets` take in everyday use, unmodified, against the embedded hub."""

import json
import os
from pathlib import Path

import pytest
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationCopy,
    CommitOperationDelete,
    DatasetCard,
    HfFileSystem,
    constants,
)
from huggingface_hub.errors import (
    BadRequestError,
    EntryNotFoundError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

CARD = "---\nlicense: mit\ntags:\n- rl-environment\n- hfenv\n---\n# A card\n"
BIG = os.urandom(1024) * (12 * 1024)


def add(path, content):
    return CommitOperationAdd(path, content if isinstance(content, bytes) else content.encode())


def commit(client, repo, *operations, **options):
    options = {"commit_message": "change", "repo_type": "dataset"} | options
    return client.api.create_commit(repo, list(operations), **options).oid


def paths(client, repo, revision=None):
    return sorted(client.api.list_repo_files(repo, repo_type="dataset", revision=revision))


@pytest.fixture
def folder(tmp_path):
    """A folder with a card, a large file and a file further down."""
    path = tmp_path / "folder"
    (path / "sub" / "deep").mkdir(parents=True)
    (path / "README.md").write_text(CARD, encoding="utf-8")
    (path / "big.txt").write_bytes(BIG)
    (path / "sub" / "deep" / "x.txt").write_text("x", encoding="utf-8")
    return path


@pytest.fixture
def filled(client, repo, folder):
    """The repository with the folder in it, and the commit."""
    return repo, client.api.upload_folder(repo_id=repo, folder_path=folder, repo_type="dataset").oid


def test_whoami(client):
    me = client.api.whoami()
    assert (me["name"], me["type"], me["auth"]["accessToken"]["role"]) == ("alice", "user", "write")


def test_create_twice(client):
    name = "alice/created-twice"
    client.api.delete_repo(name, repo_type="dataset", missing_ok=True)
    url = client.api.create_repo(name, repo_type="dataset")
    assert (url.repo_id, url.repo_type, str(url)) == (name, "dataset", f"{client.endpoint}/datasets/{name}")
    with pytest.raises(HfHubHTTPError) as refused:
        client.api.create_repo(name, repo_type="dataset")
    assert refused.value.response.status_code == 409
    assert client.api.create_repo(name, repo_type="dataset", exist_ok=True).repo_id == name
    with pytest.raises(HfHubHTTPError) as refused:
        client.api.create_repo("alice/Created-Twice", repo_type="dataset")
    assert refused.value.response.status_code == 409


def test_exists(client, repo):
    assert client.api.repo_exists(repo, repo_type="dataset")
    assert not client.api.repo_exists(repo, repo_type="model")
    assert client.api.file_exists(repo, ".gitattributes", repo_type="dataset")
    assert not client.api.file_exists(repo, "nothing", repo_type="dataset")
    assert client.api.revision_exists(repo, "main", repo_type="dataset")
    assert not client.api.revision_exists(repo, "nothing", repo_type="dataset")


def test_upload_folder_with_a_large_file(client, filled):
    repo, _ = filled
    assert paths(client, repo) == [".gitattributes", "README.md", "big.txt", "sub/deep/x.txt"]
    pointer = client.git(repo, "show", "main:big.txt")
    assert pointer.startswith("version https://git-lfs.github.com/spec/v1\noid sha256:")
    assert pointer.endswith(f"size {len(BIG)}")
    client.assert_sound(repo)


def test_upload_again_makes_no_commit(client, filled, folder):
    repo, first = filled
    assert client.api.upload_folder(repo_id=repo, folder_path=folder, repo_type="dataset").oid == first
    assert len(client.api.list_repo_commits(repo, repo_type="dataset")) == 2


def test_commit_adds_deletes_and_copies(client, filled):
    repo, first = filled
    second = commit(
        client,
        repo,
        add("new.txt", "new"),
        CommitOperationDelete("sub/deep/x.txt"),
        CommitOperationCopy("big.txt", "copies/big.txt"),
        CommitOperationCopy("README.md", "copies/README.md"),
        parent_commit=first,
    )
    assert paths(client, repo) == [
        ".gitattributes", "README.md", "big.txt", "copies/README.md", "copies/big.txt", "new.txt",
    ]  # fmt: skip
    assert client.git(repo, "rev-parse", "main", "main^") == f"{second}\n{first}"
    assert client.git(repo, "rev-parse", "main:big.txt") == client.git(repo, "rev-parse", "main:copies/big.txt")


def test_parent_commit_moved(client, filled):
    repo, first = filled
    second = commit(client, repo, add("a", "1"), parent_commit=first)
    with pytest.raises(HfHubHTTPError) as refused:
        commit(client, repo, add("a", "2"), parent_commit=first)
    assert refused.value.response.status_code == 412
    assert client.git(repo, "rev-parse", "main") == second
    assert client.git(repo, "show", "main:a") == "1"


def test_delete_a_missing_file(client, repo):
    with pytest.raises(EntryNotFoundError, match="A file with this name doesn't exist"):
        client.api.delete_file("nothing.txt", repo, repo_type="dataset")


def test_delete_a_folder(client, filled):
    repo, _ = filled
    client.api.delete_folder("sub", repo, repo_type="dataset")
    assert paths(client, repo) == [".gitattributes", "README.md", "big.txt"]
    with pytest.raises(EntryNotFoundError):
        client.api.delete_folder("sub", repo, repo_type="dataset")


def test_tags(client, filled):
    repo, first = filled
    client.api.create_tag(repo, tag="v1.0.0", repo_type="dataset")
    client.api.create_tag(repo, tag="code-v1.0.0", tag_message="first code", revision=first, repo_type="dataset")
    commit(client, repo, add("later", "x"))
    with pytest.raises(HfHubHTTPError) as refused:
        client.api.create_tag(repo, tag="v1.0.0", repo_type="dataset")
    assert refused.value.response.status_code == 409
    client.api.create_tag(repo, tag="v1.0.0", repo_type="dataset", exist_ok=True)
    found = client.api.list_repo_refs(repo, repo_type="dataset").tags
    assert {tag.name: tag.target_commit for tag in found} == {"v1.0.0": first, "code-v1.0.0": first}
    with pytest.raises(RevisionNotFoundError):
        client.api.create_tag(repo, tag="v2", revision="nothing", repo_type="dataset")
    client.api.delete_tag(repo, tag="v1.0.0", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        client.api.delete_tag(repo, tag="v1.0.0", repo_type="dataset")
    client.assert_sound(repo)


def test_branch_with_a_slash(client, filled):
    repo, first = filled
    client.api.create_branch(repo, branch="feat/x", repo_type="dataset")
    with pytest.raises(HfHubHTTPError) as refused:
        client.api.create_branch(repo, branch="feat/x", repo_type="dataset")
    assert refused.value.response.status_code == 409
    second = commit(client, repo, add("on-branch", "x"), revision="feat/x")
    assert client.api.dataset_info(repo, revision="feat/x").sha == second
    assert client.api.dataset_info(repo).sha == first
    assert "on-branch" in paths(client, repo, "feat/x")
    assert "on-branch" not in paths(client, repo)
    with pytest.raises(BadRequestError):
        client.api.create_branch(repo, branch="feat", repo_type="dataset")
    client.api.delete_branch(repo, branch="feat/x", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        client.api.dataset_info(repo, revision="feat/x")
    with pytest.raises(BadRequestError):
        client.api.delete_branch(repo, branch="main", repo_type="dataset")


def test_refs(client, filled):
    repo, first = filled
    client.api.create_branch(repo, branch="other", repo_type="dataset")
    found = client.api.list_repo_refs(repo, repo_type="dataset")
    assert [(ref.name, ref.ref, ref.target_commit) for ref in found.branches] == [
        ("main", "refs/heads/main", first),
        ("other", "refs/heads/other", first),
    ]
    assert (found.tags, found.converts, found.pull_requests) == ([], [], None)


def test_commits(client, repo):
    for number in range(52):
        commit(client, repo, add("counter", str(number)), commit_message=f"count {number}", commit_description="why")
    found = client.api.list_repo_commits(repo, repo_type="dataset", formatted=True)
    assert [each.title for each in found] == [*(f"count {n}" for n in reversed(range(52))), "initial commit"]
    assert (found[0].message, found[0].authors) == ("why", ["alice"])


def test_tree_with_the_last_commit_of_each_path(client, filled):
    repo, first = filled
    second = commit(client, repo, add("sub/y.txt", "y"))
    found = client.api.list_repo_tree(repo, repo_type="dataset", recursive=True, expand=True)
    last = {entry.path: entry.last_commit.oid for entry in found}
    assert (last["sub"], last["sub/y.txt"]) == (second, second)
    assert (last["sub/deep"], last["big.txt"]) == (first, first)
    below = client.api.list_repo_tree(repo, "sub", repo_type="dataset")
    assert sorted(entry.path for entry in below) == ["sub/deep", "sub/y.txt"]
    with pytest.raises(EntryNotFoundError):
        list(client.api.list_repo_tree(repo, "nothing", repo_type="dataset"))


def test_paths_info(client, filled):
    repo, _ = filled
    found = client.api.get_paths_info(repo, ["big.txt", "sub", "nothing"], repo_type="dataset", expand=True)
    assert [entry.path for entry in found] == ["big.txt", "sub"]
    assert (found[0].size, found[0].lfs.size) == (len(BIG), len(BIG))


def test_info_with_files(client, filled):
    repo, first = filled
    info = client.api.dataset_info(repo, files_metadata=True)
    assert (info.id, info.author, info.sha, info.private, info.gated) == (repo, "alice", first, False, False)
    assert {"rl-environment", "hfenv", "license:mit"} <= set(info.tags)
    sizes = {each.rfilename: each.size for each in info.siblings}
    assert (sizes["big.txt"], sizes["README.md"]) == (len(BIG), len(CARD))
    assert client.api.dataset_info(repo, expand=["sha"]).siblings is None


def test_download_by_tag(client, filled, tmp_path):
    repo, _ = filled
    client.api.create_tag(repo, tag="v1", repo_type="dataset")
    commit(client, repo, add("sub/deep/x.txt", "changed"))
    path = client.api.hf_hub_download(repo, "sub/deep/x.txt", revision="v1", repo_type="dataset", cache_dir=tmp_path)
    assert Path(path).read_text(encoding="utf-8") == "x"


def test_missing_file_and_missing_revision(client, repo, tmp_path):
    with pytest.raises(EntryNotFoundError):
        client.api.hf_hub_download(repo, "nothing", repo_type="dataset", cache_dir=tmp_path)
    with pytest.raises(RevisionNotFoundError):
        client.api.hf_hub_download(repo, "README.md", revision="none", repo_type="dataset", cache_dir=tmp_path)
    with pytest.raises(RevisionNotFoundError):
        client.api.dataset_info(repo, revision="0" * 40)
    with pytest.raises(RepositoryNotFoundError):
        client.api.hf_hub_download("alice/nothing", "README.md", repo_type="dataset", cache_dir=tmp_path)


def test_snapshot_by_hash(client, filled, tmp_path):
    repo, first = filled
    commit(client, repo, add("later", "x"))
    path = Path(client.api.snapshot_download(repo, revision=first, repo_type="dataset", cache_dir=tmp_path))
    assert path.name == first
    assert sorted(each.name for each in path.iterdir()) == [".gitattributes", "README.md", "big.txt", "sub"]
    assert (path / "big.txt").read_bytes() == BIG


def test_dry_run_local_dir_and_offline(client, filled, tmp_path, monkeypatch):
    repo, first = filled
    where = {"repo_type": "dataset", "cache_dir": tmp_path / "cache"}
    planned = client.api.snapshot_download(repo, dry_run=True, **where)
    assert {file.filename for file in planned if file.will_download} == set(paths(client, repo))
    local = client.api.snapshot_download(repo, local_dir=tmp_path / "local", repo_type="dataset")
    assert (tmp_path / "local" / "big.txt").read_bytes() == BIG
    assert local == str(tmp_path / "local")
    with monkeypatch.context() as offline:
        offline.setattr(constants, "HF_HUB_OFFLINE", True)
        with pytest.raises(LocalEntryNotFoundError):
            client.api.snapshot_download(repo, revision=first, **where)
    client.api.snapshot_download(repo, revision=first, **where)
    with monkeypatch.context() as offline:
        offline.setattr(constants, "HF_HUB_OFFLINE", True)
        assert client.api.snapshot_download(repo, revision=first, **where).endswith(first)


def test_checksum_verification(client, filled, tmp_path):
    repo, _ = filled
    client.api.snapshot_download(repo, local_dir=tmp_path / "local", repo_type="dataset")
    check = lambda: client.api.verify_repo_checksums(repo, repo_type="dataset", local_dir=tmp_path / "local")  # noqa: E731
    assert check().mismatches == []
    (tmp_path / "local" / "README.md").write_text("changed", encoding="utf-8")
    assert [each["path"] for each in check().mismatches] == ["README.md"]


def test_file_system(client, filled):
    repo, _ = filled
    files = HfFileSystem(endpoint=client.endpoint, token=client.token, skip_instance_cache=True)
    base = f"datasets/{repo}"
    assert f"{base}/big.txt" in files.ls(base, detail=False)
    assert files.glob(f"{base}/**/*.txt") == [f"{base}/big.txt", f"{base}/sub/deep/x.txt"]
    with files.open(f"{base}/big.txt", block_size=4096) as file:
        file.seek(1_000_000)
        assert file.read(5000) == BIG[1_000_000:1_005_000]
    with files.open(f"{base}/written.txt", "w") as file:
        file.write("by the file system")
    assert files.cat(f"{base}/written.txt") == b"by the file system"


def test_lists(client, repo):
    other = f"{repo}-other"
    client.api.create_repo(other, repo_type="dataset")
    mark = f"mark-{abs(hash(repo))}"
    card = f"---\ntags: [{mark}, one]\nlanguage: [no]\nsize_categories: [n<1K]\n---\n"
    commit(client, repo, add("README.md", card))
    commit(client, other, add("README.md", card.replace("one", "two")))
    ids = lambda **wanted: sorted(each.id for each in client.api.list_datasets(**wanted))  # noqa: E731
    assert ids(filter=mark) == sorted([repo, other])
    assert ids(filter=[mark, "two"]) == [other]
    assert ids(filter=mark, language="no", size_categories="n<1K") == sorted([repo, other])
    assert ids(filter=mark, search="OTHER") == [other]
    assert ids(filter=mark, author="bob") == []
    newest = client.api.list_datasets(filter=mark, sort="last_modified", limit=1, full=True)
    assert [(each.card_data["language"], len(each.siblings)) for each in newest] == [(["no"], 2)]


def test_lists_come_in_pages(client, http):
    token = client.new_user("lister")
    for number in range(5):
        client.api_for(token).create_repo(f"lister/r{number}", repo_type="dataset", exist_ok=True)
    seen, url = [], "/api/datasets?author=lister&limit=2"
    while url:
        page = http("GET", url)
        seen.append([each["id"] for each in page.json()])
        url = page.links.get("next", {}).get("url", "").removeprefix(client.endpoint)
    assert [len(page) for page in seen] == [2, 2, 1]
    assert sorted(each for page in seen for each in page) == [f"lister/r{number}" for number in range(5)]


def test_private_repositories(client, tmp_path):
    name = "alice/private"
    client.api.delete_repo(name, repo_type="dataset", missing_ok=True)
    client.api.create_repo(name, repo_type="dataset", private=True)
    commit(client, name, add("secret.txt", "s"))
    stranger, administrator, reader = (
        client.api_for(client.new_user(user, role))
        for user, role in (("bob", "write"), ("local", "write"), ("alice", "read"))
    )
    anonymous = client.api_for(False)
    for api in (stranger, anonymous):
        with pytest.raises(RepositoryNotFoundError):
            api.dataset_info(name)
        with pytest.raises(RepositoryNotFoundError):
            api.hf_hub_download(name, "secret.txt", repo_type="dataset", cache_dir=tmp_path)
        assert name not in [each.id for each in api.list_datasets(author="alice")]
    for api in (client.api, administrator, reader):
        assert api.dataset_info(name).private
        assert name in [each.id for each in api.list_datasets(author="alice")]
    with pytest.raises(HfHubHTTPError) as refused:
        reader.upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id=name, repo_type="dataset")
    assert refused.value.response.status_code == 403
    administrator.update_repo_settings(name, repo_type="dataset", private=False)
    assert not stranger.dataset_info(name).private
    with pytest.raises(HfHubHTTPError) as refused:
        stranger.upload_file(path_or_fileobj=b"x", path_in_repo="x", repo_id=name, repo_type="dataset")
    assert refused.value.response.status_code == 403


def test_pull_request_commit(client, filled):
    repo, first = filled
    made = client.api.create_commit(
        repo, [add("proposed", "x")], commit_message="propose", repo_type="dataset", create_pr=True
    )
    assert (made.pr_num, made.pr_revision) == (1, "refs/pr/1")
    assert client.api.dataset_info(repo).sha == first
    assert "proposed" in paths(client, repo, "refs/pr/1")
    more = commit(client, repo, add("more", "x"), revision="refs/pr/1")
    found = client.api.list_repo_refs(repo, repo_type="dataset", include_pull_requests=True).pull_requests
    assert [(ref.ref, ref.target_commit) for ref in found] == [("refs/pr/1", more)]
    client.assert_sound(repo)


def test_datasets_push_and_load(client, repo, tmp_path):
    import datasets

    rows = [{"id": f"t{number}", "question": "q" * number} for number in range(100)]
    datasets.Dataset.from_list(rows).push_to_hub(repo, token=client.token, split="train")
    loaded = datasets.load_dataset(repo, split="train", token=client.token, cache_dir=str(tmp_path))
    assert loaded.to_list() == rows
    stream = datasets.load_dataset(repo, split="train", token=client.token, streaming=True)
    assert list(stream) == rows


def test_card_push(client, repo):
    DatasetCard(CARD).push_to_hub(repo, token=client.token)
    assert client.git(repo, "show", "main:README.md") == CARD.strip()
    with pytest.raises(ValueError, match=r"tags.*must be a list of strings"):
        DatasetCard("---\ntags: 5\n---\n").validate()


def test_squash(client, filled):
    repo, first = filled
    client.api.create_tag(repo, tag="kept", repo_type="dataset")
    second = commit(client, repo, add("a", "1"))
    before = paths(client, repo)
    client.api.super_squash_history(repo, repo_type="dataset", commit_message="all in one")
    assert [each.title for each in client.api.list_repo_commits(repo, repo_type="dataset")] == ["all in one"]
    assert paths(client, repo) == before
    with pytest.raises(RevisionNotFoundError):
        client.api.dataset_info(repo, revision=second)
    assert client.api.dataset_info(repo, revision=first).sha == first
    client.assert_sound(repo)


def test_move_and_delete(client, filled):
    repo, first = filled
    target = f"{repo}-moved"
    client.api.move_repo(repo, target, repo_type="dataset")
    assert not client.api.repo_exists(repo, repo_type="dataset")
    assert client.api.dataset_info(target).sha == first
    client.api.delete_repo(target, repo_type="dataset")
    assert not client.api.repo_exists(target, repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        client.api.delete_repo(target, repo_type="dataset")


def test_model_round_trip(client, tmp_path):
    name = "alice/a-model"
    client.api.delete_repo(name, missing_ok=True)
    assert str(client.api.create_repo(name)) == f"{client.endpoint}/{name}"
    weights = os.urandom(2048)
    config = json.dumps({"layers": 2})
    card = "---\nlibrary_name: pytorch\npipeline_tag: reinforcement-learning\n---\n"
    client.api.create_commit(
        name,
        [add("model.safetensors", weights), add("config.json", config), add("README.md", card)],
        commit_message="weights",
    )
    path = Path(client.api.snapshot_download(name, cache_dir=tmp_path))
    assert (path / "model.safetensors").read_bytes() == weights
    info = client.api.model_info(name)
    assert (info.library_name, info.pipeline_tag) == ("pytorch", "reinforcement-learning")
    assert client.git(name, "show", "main:model.safetensors", kind="models").startswith("version https://git-lfs")
    found = client.api.list_models(author="alice", pipeline_tag="reinforcement-learning")
    assert [each.id for each in found] == [name]
