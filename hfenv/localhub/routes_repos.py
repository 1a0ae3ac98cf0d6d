"""Calls about repositories as a whole: whoami, create, delete, move, settings, info and lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from hfenv.localhub import cards
from hfenv.localhub.describe import HEAVY_KEYS, JsonObject, basic_info, limited, repo_info
from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gates import check_gate
from hfenv.localhub.names import RepoId, RepoType, whole_number
from hfenv.localhub.storage import RepoRecord
from hfenv.localhub.summaries import head_of
from hfenv.localhub.uploads import INITIAL_ATTRIBUTES
from hfenv.localhub.wire import Call, OpenRepo, answer

LIST_PAGE = 1000
_SORT_KEYS = ("lastModified", "createdAt", "downloads", "likes", "trendingScore")


def create(call: Call) -> Response:
    data = call.json()
    namespace = data.get("organization") or call.logged_in().name
    repo = RepoId(_repo_type(data), str(namespace), str(data.get("name") or ""))
    user = call.check_create(repo)
    call.hub.quotas.check_bytes(call.hub.storage, repo, 0)
    sdk = data.get("sdk")
    if repo.type is RepoType.SPACE and sdk not in ("gradio", "docker", "static", "streamlit"):
        raise bad_request("A Space needs an sdk: gradio, docker, static or streamlit.")
    record = RepoRecord(
        private=_is_private(data) or False, sdk=sdk if repo.type is RepoType.SPACE else None, owner=user.name
    )
    url = f"{call.origin}/{repo.url_path}"
    try:
        call.hub.storage.create(repo, record, {".gitattributes": INITIAL_ATTRIBUTES}, user.name)
    except HubError as error:
        # The client reads the address from a conflict too.
        error.url = url if error.status == 409 else None
        raise
    return answer({"url": url, "name": repo.full, "id": repo.full})


def delete(call: Call) -> Response:
    repo = _named_repo(call, call.json())
    call.open(repo, write=True)
    call.hub.storage.delete(repo)
    return answer({})


def move(call: Call) -> Response:
    data = call.json()
    kind = _repo_type(data)
    source, target = _split(kind, data.get("fromRepo")), _split(kind, data.get("toRepo"))
    call.open(source, write=True)
    call.check_create(target)
    call.hub.storage.move(source, target)
    return answer({})


def settings(call: Call) -> Response:
    repo = call.open(write=True)
    data = call.json()
    private, gated = _is_private(data), data.get("gated", repo.record.gated)
    if gated not in ("auto", "manual", False, None):
        raise bad_request('"gated" must be "auto", "manual" or false')
    with call.locked(repo) as repo:
        private = repo.record.private if private is None else private
        call.hub.storage.update(repo.id, replace(repo.record, private=private, gated=gated or None))
    return answer({"private": private, "gated": gated or False})


def auth_check(call: Call) -> Response:
    check_gate(call, call.open())
    return answer({})


def info(call: Call) -> Response:
    repo = call.open()
    commit = repo.commit(call.param("revision") or "main")
    return answer(repo_info(repo, commit, blobs=call.flag("blobs"), expand=call.values("expand")))


def list_repos(call: Call) -> Response:
    """Repositories of a kind that the caller may read and that fit every filter, sorted, paged."""
    kind = RepoType(call.param("kind")[:-1])
    sort = call.value("sort") or "lastModified"
    if sort not in _SORT_KEYS:
        raise bad_request(f'"sort" must be one of {", ".join(_SORT_KEYS)}')
    call.hub.downloads.flush()
    # Nothing is opened here: of a thousand repositories, what is known of each head is enough.
    found = [(repo, record, summary) for repo, record, summary in _readable(call, kind) if _fits(call, summary)]
    found.sort(key=lambda each: _sort_key(each[2].get(sort)), reverse=True)
    page, headers = call.page(found, _limit(call))
    expand, full = frozenset(call.values("expand")), call.flag("full")
    if full or expand & frozenset(HEAVY_KEYS):
        opened = [OpenRepo(repo, record, call.hub.storage.open(repo)) for repo, record, _ in page]
        return answer([repo_info(repo, full=full, expand=expand) for repo in opened], headers=headers)
    if expand:
        return answer([limited(summary, expand) for _, _, summary in page], headers=headers)
    with_card = call.flag("cardData")
    return answer([s if with_card else {**s, "cardData": None} for _, _, s in page], headers=headers)


def _sort_key(value: object) -> tuple[int, str]:
    """Counts by size, dates (in ISO form) by text, and what isn't there last."""
    return (value, "") if isinstance(value, int) else (0, str(value or ""))


def _limit(call: Call) -> int:
    limit = whole_number(call.value("limit") or str(LIST_PAGE))
    if not limit:
        raise bad_request('"limit" must be a positive number')
    return min(limit, LIST_PAGE)


def _readable(call: Call, kind: RepoType) -> Iterator[tuple[RepoId, RepoRecord, JsonObject]]:
    """What the caller may read, each with its record and what lists tell of it."""
    storage = call.hub.storage
    author = call.value("author")
    for repo in storage.list(kind):
        if author is not None and repo.namespace.lower() != author.lower():
            continue
        record = storage.record(repo)
        if call.may_read(repo, record):
            path = storage.path(repo)
            yield repo, record, basic_info(repo, record, path, head_of(path))


def _fits(call: Call, summary: JsonObject) -> bool:
    tags = {tag.lower() for tag in summary["tags"]} | {f"author:{summary['author']}".lower()}
    # Some clients send one comma-separated filter, others repeat it; both mean AND.
    wanted = [part for value in call.values("filter") for part in value.split(",") if part]
    if call.value("pipeline_tag") not in (None, summary.get("pipeline_tag")):
        return False
    if call.value("gated") is not None and call.flag("gated") != bool(summary["gated"]):
        return False
    name = summary["id"].lower()
    return all(tag.lower() in tags for tag in wanted) and all(text.lower() in name for text in call.values("search"))


def validate_yaml(call: Call) -> Response:
    content = call.json().get("content")
    if not isinstance(content, str):
        raise bad_request('"content" must be a string')
    report = cards.check_card(content.encode("utf-8", "surrogatepass"))
    errors, warnings = [[{"message": text} for text in each] for each in (report.errors, report.warnings)]
    return answer({"errors": errors, "warnings": warnings}, 400 if errors else 200)


def _repo_type(data: dict[str, Any]) -> RepoType:
    try:
        return RepoType(data.get("type") or "model")
    except ValueError:
        raise bad_request('"type" must be model, dataset or space') from None


def _is_private(data: dict[str, Any]) -> bool | None:
    visibility, private = data.get("visibility"), data.get("private")
    if visibility is None:
        return private if isinstance(private, bool) else None
    if visibility not in ("public", "private"):
        raise bad_request('"visibility" must be public or private')
    return bool(visibility == "private")


def _named_repo(call: Call, data: dict[str, Any]) -> RepoId:
    namespace = data.get("organization") or (call.user.name if call.user else "")
    return RepoId(_repo_type(data), str(namespace), str(data.get("name") or ""))


def _split(kind: RepoType, full: object) -> RepoId:
    namespace, _, name = str(full or "").partition("/")
    return RepoId(kind, namespace, name)
