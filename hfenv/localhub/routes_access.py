"""Calls about users and organisations, and about access to gated repositories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from hfenv.localhub.accounts import OrgRole, Role, Scope
from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gates import AccessRequest, Answer, Gate
from hfenv.localhub.names import RepoType
from hfenv.localhub.wire import Call, answer

PAGE = 500
_MAX_FIELDS = 16 * 1024  # characters of a request's form
JsonObject = dict[str, Any]


def whoami(call: Call) -> Response:
    user = call.user
    if user is None:
        raise HubError(401, "Invalid username or password.")
    token: JsonObject = {"displayName": user.name, "role": user.role.value, "createdAt": None}
    if user.role is Role.FINE_GRAINED:
        token["fineGrained"] = {"canReadGatedRepos": False, "global": [], "scoped": [_scope(s) for s in user.scopes]}
    return answer(
        {
            "type": "user",
            "id": user.name,
            "name": user.name,
            "fullname": user.name,
            "orgs": [_own_org(org, role) for org, role in sorted(user.organisations.items())],
            "isPro": False,
            "auth": {"type": "access_token", "accessToken": token, "expiresAt": user.expires},
        }
    )


def _scope(scope: Scope) -> JsonObject:
    kind = "repo" if "/" in scope.entity else "namespace"
    rights = ["repo.content.read", *(["repo.write", "discussion.write"] if scope.writes else [])]
    return {"entity": {"_id": scope.entity, "type": kind, "name": scope.entity}, "permissions": rights}


def _own_org(name: str, role: OrgRole) -> JsonObject:
    return {"type": "org", "id": name, "name": name, "fullname": name, "roleInOrg": role.value}


def user_overview(call: Call) -> Response:
    name = call.param("user")
    if name not in call.hub.tokens.users():
        raise HubError(404, "This user doesn't exist")
    orgs = [{"name": org, "fullname": org} for org in sorted(call.hub.tokens.organisations.of(name))]
    return answer({**_user(name), "isPro": False, "orgs": orgs, **_counts(call, name)})


def _user(name: str) -> JsonObject:
    return {"user": name, "fullname": name, "avatarUrl": "", "type": "user"}


def _counts(call: Call, namespace: str) -> JsonObject:
    storage, found = call.hub.storage, {}
    for kind in RepoType:
        mine = (repo for repo in storage.list(kind) if repo.namespace == namespace)
        found[f"num{kind.plural.title()}"] = sum(call.may_read(repo, storage.record(repo)) for repo in mine)
    return found


def _members(call: Call) -> list[str]:
    found = call.hub.tokens.organisations.all().get(call.param("org"))
    if found is None:
        raise HubError(404, "This organization doesn't exist")
    return sorted(found)


def org_overview(call: Call) -> Response:
    name, members = call.param("org"), _members(call)
    about = {"name": name, "fullname": name, "avatarUrl": "", "numUsers": len(members), "type": "org"}
    return answer({**about, **_counts(call, name)})


def org_members(call: Call) -> Response:
    page, headers = call.page(_members(call), PAGE)
    return answer([_user(name) for name in page], headers=headers)


# Gated repositories


def ask_access(call: Call) -> Response:
    """Ask for access to a gated repository; `auto` grants it at once."""
    repo = call.open()
    if call.user is None:
        raise HubError(401, "Invalid username or password.")
    if not repo.record.gated:
        raise bad_request(f"{repo.id.full} isn't gated.")
    fields = _fields(call)
    with call.locked(repo) as repo:
        gate = Gate(call.hub.storage, repo.id)
        if (found := gate.requests().get(call.user.name)) is None:
            status = Answer.ACCEPTED if repo.record.gated == "auto" else Answer.PENDING
            found = AccessRequest.now(call.user.name, status, fields)
            gate.save(found)
    return answer({"status": found.status.value})


def _fields(call: Call) -> JsonObject:
    if "json" not in call.request.headers.get("content-type", ""):
        return {}
    if len(call.body) > _MAX_FIELDS:
        raise HubError(413, "The form is too large.")
    return call.json()


def list_requests(call: Call) -> Response:
    repo = call.open(write=True)
    try:
        status = Answer(call.param("status"))
    except ValueError:
        raise HubError(404, "Requests are pending, accepted or rejected.") from None
    found = [each for each in Gate(call.hub.storage, repo.id).requests().values() if each.status is status]
    page, headers = call.page(found, PAGE)
    return answer([_request(each) for each in page], headers=headers)


def _request(found: AccessRequest) -> JsonObject:
    return {
        "user": _user(found.user),
        "requestId": found.id,
        "status": found.status.value,
        "timestamp": found.when,
        "fields": found.fields,
    }


def handle_request(call: Call) -> Response:
    """Accept, reject or put back a request."""
    data = call.json()
    try:
        status = Answer(data.get("status"))
    except ValueError:
        raise bad_request('"status" must be pending, accepted or rejected') from None

    def change(found: dict[str, AccessRequest]) -> AccessRequest:
        wanted = data.get("user"), data.get("requestId")
        request = next((each for each in found.values() if each.user == wanted[0] or each.id == wanted[1]), None)
        if request is None:
            raise HubError(404, "There is no such access request.")
        if request.status is status:
            raise HubError(404, f"The request is {status.value} already.")
        reason = data.get("rejectionReason")
        return replace(request, status=status, reason=reason if isinstance(reason, str) else None)

    return _answer_request(call, change)


def grant(call: Call) -> Response:
    """Give access to a user who hasn't asked."""
    name = call.json().get("user")

    def change(found: dict[str, AccessRequest]) -> AccessRequest:
        if not isinstance(name, str) or name not in call.hub.tokens.users():
            raise HubError(404, "This user doesn't exist")
        request = found.get(name)
        if request is not None and request.status is Answer.ACCEPTED:
            raise bad_request(f"{name} has access already.")
        return replace(request, status=Answer.ACCEPTED) if request else AccessRequest.now(name, Answer.ACCEPTED)

    return _answer_request(call, change)


def _answer_request(call: Call, change: Callable[[dict[str, AccessRequest]], AccessRequest]) -> Response:
    repo = call.open(write=True)
    if not repo.record.gated:
        raise bad_request(f"{repo.id.full} isn't gated.")
    with call.locked(repo) as repo:
        gate = Gate(call.hub.storage, repo.id)
        changed = change(gate.requests())
        gate.save(changed)
    return answer(_request(changed))
