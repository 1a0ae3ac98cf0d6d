"""Calls about discussions and pull requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from hfenv.localhub import community, pulls
from hfenv.localhub.accounts import User
from hfenv.localhub.community import Community, Discussion, Event, PullRequest, Status
from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gates import is_open_to
from hfenv.localhub.gitstore import BRANCH
from hfenv.localhub.names import whole_number
from hfenv.localhub.wire import Call, OpenRepo, answer

PAGE = 50
JsonObject = dict[str, Any]
_Change = Callable[[OpenRepo, Discussion, User], tuple[Discussion, JsonObject]]


def list_discussions(call: Call) -> Response:
    repo = call.open()
    kind, status, author = (call.value(key) for key in ("type", "status", "author"))
    if kind not in (None, "all", "discussion", "pull_request") or status not in (None, "all", "open", "closed"):
        raise bad_request('"type" is all, discussion or pull_request, and "status" all, open or closed.')
    found = [
        each
        for each in Community(call.hub.storage, repo.id).all()
        if author in (None, each.author)
        and (kind in (None, "all") or (kind == "pull_request") == (each.pull is not None))
        and (status in (None, "all") or (status == "open") == each.status.is_open)
    ]
    start = (whole_number(call.value("p") or "0") or 0) * PAGE
    items = [_item(repo, each) for each in found[start : start + PAGE]]
    return answer({"discussions": items, "count": len(found), "start": start, "numClosedDiscussions": _closed(found)})


def _closed(found: list[Discussion]) -> int:
    return sum(not each.status.is_open for each in found)


def _item(repo: OpenRepo, found: Discussion) -> JsonObject:
    return {
        "num": found.num,
        "title": found.title,
        "status": found.status.value,
        "author": {"name": found.author, "type": "user"},
        "createdAt": found.created_at,
        "isPullRequest": found.pull is not None,
        "numComments": found.comments,
        "pinned": False,
        "repo": {"name": repo.id.full, "type": repo.id.type.value},
        "repoOwner": {"name": repo.id.namespace, "type": "user"},
    }


def _event_item(event: Event) -> JsonObject:
    author = {"name": event.author, "type": "user"}
    return {"id": event.id, "type": event.type, "author": author, "createdAt": event.created_at, "data": event.data}


def details(call: Call) -> Response:
    repo = call.open()
    found = Community(call.hub.storage, repo.id).get(_number(call))
    events, extra = list(found.events), {}
    if found.pull is not None:
        seen = pulls.changes(repo.git, found, with_diff=call.flag("diff") and is_open_to(call, repo))
        # The opening comment stays the first one: a commit's time has no fractions, so it may seem to be older.
        events[1:] = sorted([*events[1:], *seen.commits], key=lambda event: event.created_at)
        merged = {"mergeCommitId": found.pull.merge_commit} if found.pull.merge_commit else {}
        extra = {
            "changes": {"base": found.pull.target, **merged},
            "filesWithConflicts": list(seen.conflicts),
            "diff": seen.diff,
        }
    return answer({**_item(repo, found), "events": [_event_item(event) for event in events], **extra})


def _number(call: Call) -> int:
    if not (number := whole_number(call.param("num"))):
        raise HubError(404, "A discussion has a number.")
    return number


def create(call: Call) -> Response:
    repo = call.open()
    user = call.check_contribute()
    data = call.json()
    title, is_pull = community.checked_title(data.get("title")), bool(data.get("pullRequest"))
    with call.locked(repo) as repo:
        store = Community(call.hub.storage, repo.id)
        number, pull = store.next_number(repo.git), None
        if is_pull:
            target = BRANCH + "main"
            head = repo.commit(target)
            pull = PullRequest(target, head)
        # The record comes first: a reference without one would be a pull request that nobody can see.
        found = store.open(number, title, user.name, data.get("description"), pull, draft=is_pull)
        if pull is not None:
            repo.git.set_ref(found.ref, pull.base)
    url = f"{call.origin}/{repo.id.url_path}/discussions/{found.num}"
    return answer({"num": found.num, "url": url, "pullRequest": is_pull})


def add_comment(call: Call) -> Response:
    def change(repo: OpenRepo, found: Discussion, user: User) -> tuple[Discussion, JsonObject]:
        event = community.comment(user.name, call.json().get("comment"))
        return found.with_event(event), {"newMessage": _event_item(event)}

    return _changed(call, change, by_anybody=True)


def edit_comment(call: Call) -> Response:
    def change(repo: OpenRepo, found: Discussion, user: User) -> tuple[Discussion, JsonObject]:
        event = _comment(call, found)
        if event.author != user.name:
            raise HubError(403, "Only its author may edit a comment.")
        if event.data["hidden"]:
            raise bad_request("A hidden comment can't be edited.")
        new = community.edited(event, user.name, call.json().get("content"))
        return _with(found, new), {"updatedComment": _event_item(new)}

    return _changed(call, change, by_anybody=True)


def hide_comment(call: Call) -> Response:
    def change(repo: OpenRepo, found: Discussion, user: User) -> tuple[Discussion, JsonObject]:
        event = _comment(call, found)
        if event.author != user.name:
            call.check_write(repo.id)
        new = community.hidden(event, user.name)
        return _with(found, new), {"updatedComment": _event_item(new)}

    return _changed(call, change, by_anybody=True)


def change_status(call: Call) -> Response:
    def change(repo: OpenRepo, found: Discussion, user: User) -> tuple[Discussion, JsonObject]:
        data = call.json()
        if (wanted := data.get("status")) not in ("open", "closed"):
            raise bad_request('"status" must be open or closed')
        if found.status is Status.MERGED:
            raise bad_request(f"Pull request {found.num} is merged.")
        if found.status.value == wanted:
            raise bad_request(f"Discussion {found.num} is {wanted} already.")
        if data.get("comment"):
            found = found.with_event(community.comment(user.name, data["comment"]))
        event = Event.now("status-change", user.name, {"status": wanted})
        return replace(found.with_event(event), status=Status(wanted)), {"newStatus": _event_item(event)}

    return _changed(call, change)


def change_title(call: Call) -> Response:
    def change(repo: OpenRepo, found: Discussion, user: User) -> tuple[Discussion, JsonObject]:
        title = community.checked_title(call.json().get("title"))
        event = Event.now("title-change", user.name, {"from": found.title, "to": title})
        return replace(found.with_event(event), title=title), {"newTitle": _event_item(event)}

    return _changed(call, change)


def merge(call: Call) -> Response:
    repo = call.open(write=True)
    user = call.check_write(repo.id)
    text = call.json().get("comment")
    with call.locked(repo) as repo:
        found = Community(call.hub.storage, repo.id).get(_number(call))
        found = pulls.merge(call, repo, found, user.name, text)
    merged = found.pull.merge_commit if found.pull else None
    return answer({"success": True, "mergeCommitId": merged})


def _changed(call: Call, change: _Change, *, by_anybody: bool = False) -> Response:
    """Change a discussion under the repository's lock; unless `by_anybody`, its author and the owners may."""
    repo = call.open()
    user = call.check_contribute()
    with call.locked(repo) as repo:
        store = Community(call.hub.storage, repo.id)
        found = store.get(_number(call))
        if not by_anybody and found.author != user.name:
            call.check_write(repo.id)
        found, told = change(repo, found, user)
        store.save(found)
    return answer(told)


def _comment(call: Call, found: Discussion) -> Event:
    wanted = call.param("comment")
    for event in found.events:
        if event.id == wanted and event.type == "comment":
            return event
    raise HubError(404, "There is no such comment.")


def _with(found: Discussion, new: Event) -> Discussion:
    return replace(found, events=tuple(new if event.id == new.id else event for event in found.events))
