"""A hub that other machines reach: proxies that are trusted, and what is refused to anybody else."""

import json

import httpx2
import pytest
from typer.testing import CliRunner

from hfenv.errors import UsageError
from hfenv.localhub.accounts import Role
from hfenv.localhub.proxies import networks
from hfenv.localhub.serve import BackgroundServer, serve
from hfenv.localhub.users import TokenStore

TOLD = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil, hub.example.com",
    "X-Forwarded-For": "1.1.1.1, 2.2.2.2",
}


def origin_told_by(root, proxies, headers):
    """The address that a hub gives of itself."""
    with BackgroundServer(root, proxies=proxies) as server, httpx2.Client(trust_env=False) as http:
        token = TokenStore(root).create("alice", Role.WRITE)
        headers = {"Authorization": f"Bearer {token}", **headers}
        answer = http.post(f"{server.url}/api/repos/create", json={"name": "x", "type": "dataset"}, headers=headers)
        return answer.json()["url"].removesuffix("/datasets/alice/x").replace(server.url, "itself")


@pytest.mark.parametrize(
    ("proxies", "headers", "origin"),
    [
        ((), TOLD, "itself"),
        (("10.0.0.0/8",), TOLD, "itself"),
        (("127.0.0.1",), TOLD, "https://hub.example.com"),
        (("10.0.0.0/8", "127.0.0.0/8"), {"X-Forwarded-Proto": "gopher", "X-Forwarded-Host": "a b/c"}, "itself"),
    ],
)
def test_forwarded_headers_are_believed_from_trusted_proxies_only(tmp_path, proxies, headers, origin):
    assert origin_told_by(tmp_path, proxies, headers) == origin


def test_a_proxys_address_is_checked():
    with pytest.raises(UsageError, match="isn't the address of a proxy"):
        networks(["hub.example.com"])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "hub.example.com"])  # noqa: S104 - that it is refused is the point
def test_other_machines_are_let_in_only_once_there_is_a_user(tmp_path, host):
    with pytest.raises(UsageError, match="needs a user"):
        serve(tmp_path, host=host, port=0, on_ready=lambda url: None)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/repos/create"),
        ("POST", "/api/datasets/{repo}/tag/main"),
        ("POST", "/api/datasets/{repo}/commit/main"),
        ("POST", "/api/datasets/{repo}/discussions"),
        ("POST", "/datasets/{repo}.git/info/lfs/objects/batch"),
        ("POST", "/datasets/{repo}/git-receive-pack"),
    ],
)
def test_an_anonymous_write_is_refused(http, repo, method, path):
    answer = http(method, path.replace("{repo}", repo), token=None, json={"operation": "upload"})
    assert answer.status_code == 401


def test_garbage_is_collected_by_command(tmp_path):
    from hfenv.cli.hub import app

    done = CliRunner().invoke(app, ["gc", "--dry-run", "--root", str(tmp_path), "--format", "json"])
    assert json.loads(done.stdout) == {
        "format": 1, "command": "hub gc", "garbage": [], "bytes": 0, "dry_run": True,
    }  # fmt: skip
    assert CliRunner().invoke(app, ["gc", "--older-than", "30d", "--root", str(tmp_path)]).exit_code == 0
    refused = CliRunner().invoke(app, ["gc", "--older-than", "soon", "--root", str(tmp_path)])
    assert "is no age" in str(refused.exception)
