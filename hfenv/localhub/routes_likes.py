"""Calls about who likes what."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from hfenv.localhub import popularity
from hfenv.localhub.errors import HubError
from hfenv.localhub.names import RepoId, RepoType, is_name
from hfenv.localhub.storage import timestamp
from hfenv.localhub.wire import Call, answer

PAGE = 500


def like(call: Call) -> Response:
    repo = call.open()
    user = call.check_contribute()
    with call.locked(repo) as repo:
        popularity.like(repo.git.path, user.name)
    return answer({})


def unlike(call: Call) -> Response:
    repo = call.open()
    user = call.check_contribute()
    popularity.unlike(repo.git.path, user.name)
    return answer({})


def likers(call: Call) -> Response:
    repo = call.open()
    page, headers = call.page(popularity.likers(repo.git.path), PAGE)
    return answer([{"user": name, "fullname": name, "avatarUrl": "", "type": "user"} for name in page], headers=headers)


def user_likes(call: Call) -> Response:
    """What a user likes, newest first, as far as the caller may see it."""
    user = call.param("user")
    if not is_name(user):
        raise HubError(404, "This user doesn't exist")
    storage, found = call.hub.storage, list[tuple[float, RepoId]]()
    for kind in RepoType:
        for repo in storage.list(kind):
            at = popularity.liked_at(storage.path(repo), user)
            if at is not None and call.may_read(repo, storage.record(repo)):
                found.append((at, repo))
    found.sort(key=lambda pair: (-pair[0], pair[1].key))
    page, headers = call.page(found, PAGE)
    return answer([_item(repo, at) for at, repo in page], headers=headers)


def _item(repo: RepoId, at: float) -> dict[str, Any]:
    return {"createdAt": timestamp(at), "repo": {"name": repo.full, "type": repo.type.value}}
