"""The page about differences and the client that is installed: each method is tested here, or listed there."""

import inspect
import json
import re
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, HfApi, hf_hub_url
from huggingface_hub.errors import HfHubHTTPError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hub-differences.md").read_text(encoding="utf-8")
LOCAL = {"run_as_future"}  # talks to nobody


def methods():
    return {name for name, _ in inspect.getmembers(HfApi, inspect.isfunction) if not name.startswith("_")}


def listed():
    section = PAGE.partition("## Methods of `HfApi`")[2]
    return set(re.findall(r"`([a-z_]+)`", section)) - {"create_commit"}


def called():
    """Methods that tests of the hub call, or hand on to be called."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("*hub/*.py")]
    words = {word for text in texts for word in re.findall(r"[a-z_]+", text)}
    # One test asks for its methods by parts of their names.
    return (words | {f"list_{each}_access_requests" for each in ("pending", "accepted", "rejected")}) & methods()


def test_every_method_of_the_client_is_tested_or_listed():
    assert methods() - called() - listed() - LOCAL == set()


def test_nothing_is_listed_that_is_called():
    assert listed() & called() == set()


@pytest.mark.parametrize(
    "path",
    [
        "/api/settings/webhooks",
        "/api/collections",
        "/api/jobs/alice",
        "/api/spaces/templates",
        "/api/datasets/alice/x/duplicate",
        "/api/datasets/alice/x/lfs-files",
        "/api/buckets/alice",
        "/api/settings/repositories",
        "/api/organizations/team/followers",
    ],
)
def test_what_is_listed_is_answered_as_unknown(client, http, path):
    answer = http("GET", path)
    assert answer.status_code in (404, 405)
    if answer.status_code == 404:
        assert answer.json()["error"]


def test_what_no_other_test_calls_works(client, repo):
    """Methods that other tests have no occasion for."""
    api = client.api
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    tensors = len(header).to_bytes(8, "little") + header + bytes(4)
    files = [CommitOperationAdd(name, b"text") for name in ("a.txt", "b.txt")]
    api.create_commit(
        repo, [*files, CommitOperationAdd("model.safetensors", tensors)], commit_message="x", repo_type="dataset"
    )
    head = api.dataset_info(repo).sha
    assert api.resolve_revision(repo, repo_type="dataset", revision="main").resolved == head
    address = hf_hub_url(repo, "a.txt", repo_type="dataset", endpoint=client.endpoint)
    assert api.get_hf_file_metadata(url=address, token=client.token).commit_hash == head
    found = api.parse_safetensors_file_metadata(repo, "model.safetensors", repo_type="dataset")
    assert found.parameter_count == {"F32": 1}
    assert api.get_safetensors_metadata(repo, repo_type="dataset").sharded is False
    api.delete_files(repo, ["*.txt"], repo_type="dataset")
    assert api.list_repo_files(repo, repo_type="dataset") == [".gitattributes", "model.safetensors"]
    assert api.get_full_repo_name("x") == "alice/x"
    space = f"{repo}-space"
    api.create_repo(space, repo_type="space", space_sdk="static")
    assert api.space_info(space).sdk == "static"
    assert space in {each.id for each in api.list_spaces(author="alice")}
    for status in (api.list_pending_access_requests, api.list_rejected_access_requests):
        assert list(status(repo, repo_type="dataset")) == []
    with pytest.raises(HfHubHTTPError):
        api.get_organization_overview("nobody")
