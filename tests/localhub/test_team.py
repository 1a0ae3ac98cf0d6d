"""Organisations, kinds of tokens, gated repositories and quotas, through the real client and the command line."""

import json
import uuid
from datetime import timedelta

import pytest
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError
from typer.testing import CliRunner

from hfenv.errors import ConflictError, NotFoundError, UsageError
from hfenv.localhub.accounts import OrgRole, Role, Scope
from hfenv.localhub.organisations import Organisations
from hfenv.localhub.quotas import Quota, Quotas
from hfenv.localhub.users import TokenStore

ROLES = ("read", "contributor", "write", "admin")


def name(stem):
    return f"{stem}-{uuid.uuid4().hex[:8]}"


def upload(api, repo, path="a.txt", data=b"text", **options):
    operation = CommitOperationAdd(path, data)
    return api.create_commit(repo, [operation], commit_message="change", repo_type="dataset", **options)


def refused(call):
    with pytest.raises(HfHubHTTPError) as caught:
        call()
    return caught.value.response.status_code, str(caught.value)


@pytest.fixture
def team(client):
    """An organisation with a private repository, and a client for a member with each role."""
    org, store = name("team"), Organisations(client.root)
    apis = {role: client.api_for(client.new_user(name(role))) for role in ROLES}
    users = {role: apis[role].whoami()["name"] for role in ROLES}
    store.create(org, users["admin"], frozenset())
    for role in ROLES:
        store.set_role(org, users[role], OrgRole(role))
    apis["admin"].create_repo(f"{org}/box", repo_type="dataset", private=True)
    return org, apis, users


def test_roles_decide_who_reads_writes_and_creates(client, team):
    org, apis, users = team
    box = f"{org}/box"
    for role in ROLES:
        assert apis[role].repo_exists(box, repo_type="dataset"), role
        assert {"name": org, "roleInOrg": role}.items() <= apis[role].whoami()["orgs"][0].items()
    assert not client.api.repo_exists(box, repo_type="dataset")
    assert {role for role in ROLES if can(lambda api=apis[role]: upload(api, box))} == {"write", "admin"}
    assert {
        role for role in ROLES if can(lambda role=role: apis[role].create_repo(f"{org}/of-{role}", repo_type="dataset"))
    } == {"contributor", "write", "admin"}
    assert can(lambda: upload(apis["contributor"], f"{org}/of-contributor"))
    assert not can(lambda: upload(apis["contributor"], f"{org}/of-write"))
    assert not can(lambda: apis["read"].delete_repo(box, repo_type="dataset"))
    assert apis["read"].get_organization_overview(org).num_users == 4
    assert {user.username for user in apis["read"].list_organization_members(org)} == set(users.values())
    assert [each.name for each in apis["read"].get_user_overview(users["write"]).orgs] == [org]


def can(call):
    try:
        call()
    except HfHubHTTPError as error:
        if error.response.status_code == 403:
            return False
        raise
    return True


def test_who_leaves_an_organisation_loses_it_at_once(client, team):
    org, apis, users = team
    Organisations(client.root).remove(org, users["write"])
    assert not apis["write"].repo_exists(f"{org}/box", repo_type="dataset")
    with pytest.raises(ConflictError, match="no administrator"):
        Organisations(client.root).remove(org, users["admin"])
    with pytest.raises(ConflictError, match="no administrator"):
        Organisations(client.root).set_role(org, users["admin"], OrgRole.READ)


def test_names_of_users_and_organisations_dont_meet(client, team):
    org, _, users = team
    with pytest.raises(ConflictError):
        TokenStore(client.root).create(org.upper(), Role.WRITE)
    with pytest.raises(ConflictError):
        Organisations(client.root).create(users["read"], "alice", TokenStore(client.root).users())


def test_a_fine_grained_token_opens_what_it_names(client, team):
    org, apis, users = team
    for repo in ("one", "two"):
        apis["admin"].create_repo(f"{org}/{repo}", repo_type="dataset", private=True)
    scopes = [Scope.parse(f"write:{org}/one"), Scope.parse(f"read:{org}/box")]
    text = TokenStore(client.root).create(users["admin"], Role.FINE_GRAINED, scopes)
    api = client.api_for(text)
    assert api.whoami()["auth"]["accessToken"]["role"] == "fineGrained"
    assert can(lambda: upload(api, f"{org}/one"))
    assert not can(lambda: upload(api, f"{org}/box"))
    assert not can(lambda: api.create_repo(f"{org}/three", repo_type="dataset"))
    with pytest.raises(RepositoryNotFoundError):
        api.dataset_info(f"{org}/two")
    assert {each.id for each in api.list_datasets(author=org)} == {f"{org}/one", f"{org}/box"}


@pytest.mark.parametrize("text", ["write", "admin:a", "read:", "read:a/b/c", "write:../x", "read:a/"])
def test_scopes_of_another_form_are_refused(text):
    with pytest.raises(UsageError, match="isn't a scope"):
        Scope.parse(text)


def test_an_expired_token_says_so(client, repo):
    text = TokenStore(client.root).create("alice", Role.WRITE, life=timedelta(seconds=-1))
    if client.endpoint.endswith("localhost"):
        return  # in-process the caller owns the storage anyway
    status, message = refused(lambda: client.api_for(text).dataset_info(repo))
    assert status == 401
    assert "expired" in message
    assert TokenStore(client.root).create("alice", Role.WRITE, life=timedelta(days=1))


# Gated repositories


@pytest.fixture
def gated(client, repo):
    upload(client.api, repo)
    client.api.update_repo_settings(repo, gated="manual", repo_type="dataset")
    return repo


def requests(api, repo, status):
    found = getattr(api, f"list_{status}_access_requests")(repo, repo_type="dataset")
    return [each.username for each in found]


def test_access_to_a_gated_repository_is_asked_for_and_answered(client, gated, http, tmp_path):
    user = name("guest")
    token = client.new_user(user)
    api, guest = client.api, client.api_for(token)

    def fetch():
        return guest.hf_hub_download(gated, "a.txt", repo_type="dataset", cache_dir=tmp_path / user)

    with pytest.raises(GatedRepoError, match="ask-access") as caught:
        fetch()
    assert caught.value.response.status_code == 403
    with pytest.raises(GatedRepoError) as caught:
        client.api_for(False).hf_hub_download(gated, "a.txt", repo_type="dataset", cache_dir=tmp_path / "nobody")
    assert caught.value.response.status_code == 401
    assert (
        http("POST", f"/datasets/{gated}/ask-access", token=token, json={"why": "work"}).json()["status"] == "pending"
    )
    with pytest.raises(GatedRepoError, match="waits"):
        guest.auth_check(gated, repo_type="dataset")
    assert requests(api, gated, "pending") == [user]
    assert refused(lambda: requests(guest, gated, "pending"))[0] == 403
    assert refused(lambda: guest.accept_access_request(gated, user, repo_type="dataset"))[0] == 403

    api.accept_access_request(gated, user, repo_type="dataset")
    guest.auth_check(gated, repo_type="dataset")
    assert fetch().endswith("a.txt")
    (found,) = api.list_accepted_access_requests(gated, repo_type="dataset")
    assert found.fields == {"why": "work"}
    api.reject_access_request(gated, user, rejection_reason="no", repo_type="dataset")
    with pytest.raises(GatedRepoError, match="rejected"):
        guest.auth_check(gated, repo_type="dataset")
    assert http("POST", f"/datasets/{gated}/ask-access", token=token).json()["status"] == "rejected"
    api.cancel_access_request(gated, user, repo_type="dataset")
    assert requests(api, gated, "pending") == [user]


def test_access_is_granted_to_whom_nobody_asked(client, gated):
    user = name("guest")
    guest = client.api_for(client.new_user(user))
    client.api.grant_access(gated, user, repo_type="dataset")
    guest.auth_check(gated, repo_type="dataset")
    assert refused(lambda: client.api.grant_access(gated, user, repo_type="dataset"))[0] == 400
    assert refused(lambda: client.api.grant_access(gated, "nobody-here", repo_type="dataset"))[0] == 404


def test_an_automatic_gate_opens_to_who_asks(client, gated, http):
    client.api.update_repo_settings(gated, gated="auto", repo_type="dataset")
    token = client.new_user(name("guest"))
    assert http("POST", f"/api/datasets/{gated}/ask-access", token=token).json()["status"] == "accepted"
    client.api_for(token).auth_check(gated, repo_type="dataset")


def test_a_pull_requests_diff_stays_behind_the_gate(client, gated):
    upload(client.api, gated, "secret.txt", b"the answer\n", create_pr=True)
    guest = client.api_for(client.new_user(name("guest")))
    assert guest.get_discussion_details(gated, 1, repo_type="dataset").diff is None
    assert "the answer" in client.api.get_discussion_details(gated, 1, repo_type="dataset").diff


# Quotas


@pytest.fixture
def small(client):
    """The client of a user with a repository and little room."""
    user = name("small")
    api = client.api_for(client.new_user(user))
    api.create_repo(f"{user}/box", repo_type="dataset")
    Quotas(client.root).set(user, Quota(bytes=300_000, files=4))
    return api, f"{user}/box"


def test_a_namespace_stores_no_more_bytes_than_its_quota(client, small):
    api, box = small
    upload(api, box, "a.bin", bytes(200_000))
    status, message = refused(lambda: upload(api, box, "b.bin", bytes(range(250)) * 1000))
    assert status == 403
    assert "300000 bytes" in message
    assert refused(lambda: upload(api, box, "b.txt", bytes(range(250)) * 1000))[0] == 403
    assert not api.file_exists(box, "b.bin", repo_type="dataset")
    Quotas(client.root).set(box.split("/")[0], Quota())
    upload(api, box, "b.bin", bytes(range(250)) * 1000)


def test_a_repository_has_no_more_files_than_its_quota(small):
    api, box = small
    for number in range(3):
        upload(api, box, f"{number}.txt")
    status, message = refused(lambda: upload(api, box, "3.txt"))
    assert status == 413
    assert "may have 4 files" in message
    upload(api, box, "2.txt", b"other")


# The command line


@pytest.fixture
def hub(tmp_path):
    from hfenv.cli.hub import app

    def run(*arguments):
        done = CliRunner().invoke(app, [*arguments, "--root", str(tmp_path), "--format", "json"])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return json.loads(done.stdout)

    return run


def test_organisations_tokens_and_quotas_by_command(hub):
    hub("org", "create", "team", "--admin", "ann")
    hub("org", "add", "team", "ben", "--role", "contributor")
    hub("org", "add", "team", "cem", "--role", "read")
    hub("org", "remove", "team", "cem")
    members = hub("org", "list", "team")["members"]
    assert [(each["user"], each["role"]) for each in members] == [("ann", "admin"), ("ben", "contributor")]
    with pytest.raises(UsageError, match="isn't a role"):
        hub("org", "add", "team", "dan", "--role", "boss")
    with pytest.raises(NotFoundError):
        hub("org", "remove", "team", "dan")

    hub("token", "create", "ben", "--scope", "read:team/box", "--days", "3")
    (token,) = hub("token", "list")["tokens"]
    assert (token["role"], token["scopes"]) == ("fineGrained", ["read:team/box"])
    assert token["expires"] > token["created"]

    hub("quota", "set", "team", "--bytes", "1.5GB", "--files", "10")
    assert hub("quota", "list")["quotas"] == [{"namespace": "team", "bytes": 1_500_000_000, "files": 10}]
    with pytest.raises(UsageError, match="isn't a size"):
        hub("quota", "set", "team", "--bytes", "much")
    hub("org", "delete", "team")
    assert hub("org", "list")["members"] == []
