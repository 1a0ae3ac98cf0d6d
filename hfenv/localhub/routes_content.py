"""Calls about what is in a repository: refs, tags, branches, history, trees and files."""

from __future__ import annotations

from itertools import islice
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response

from hfenv.localhub.describe import commit_item, pointer_of, tree_items
from hfenv.localhub.errors import ErrorCode, HubError, bad_request, entry_not_found
from hfenv.localhub.gates import check_gate
from hfenv.localhub.gitnames import is_ref_name
from hfenv.localhub.gitstore import BRANCH, PULL, TAG, Ref
from hfenv.localhub.names import whole_number
from hfenv.localhub.rawfiles import BEGINNING, raw_headers
from hfenv.localhub.wire import Call, OpenRepo, answer

TREE_PAGE = 1000
TREE_PAGE_EXPANDED = 50
COMMITS_PAGE = 50
MAX_COMMITS = 10_000
_CONVERT = "refs/convert/"


def refs(call: Call) -> Response:
    git = call.open().git
    found = {"branches": git.refs(BRANCH), "tags": git.refs(TAG), "converts": git.refs(_CONVERT)}
    if call.flag("include_prs"):
        found["pullRequests"] = git.refs(PULL)
    return answer({key: [_ref_item(ref) for ref in each] for key, each in found.items()})


def _ref_item(ref: Ref) -> dict[str, str]:
    return {"name": ref.name, "ref": ref.ref, "targetCommit": ref.commit}


def create_tag(call: Call) -> Response:
    repo = call.open(write=True)
    data = call.json()
    name, message = data.get("tag"), data.get("message")
    if not isinstance(name, str) or not is_ref_name(TAG, name):
        raise bad_request(f"Invalid tag name: {name}")
    user = call.check_write(repo.id)
    with call.locked(repo) as repo:
        commit = repo.commit(call.param("revision"))
        if repo.git.ref_target(TAG + name) is not None:
            raise HubError(409, f"Tag reference exists already: {name}")
        _check_clash(repo, TAG, name)
        repo.git.create_tag(name, commit, message if isinstance(message, str) else None, user.name)
    return answer({})


def delete_tag(call: Call) -> Response:
    return _delete_ref(call, TAG, call.param("revision"))


def create_branch(call: Call) -> Response:
    repo = call.open(write=True)
    name = call.param("branch")
    if not is_ref_name(BRANCH, name):
        raise bad_request(f"Invalid branch name: {name}")
    with call.locked(repo) as repo:
        commit = repo.commit(str(call.json().get("startingPoint") or "main"))
        if repo.git.ref_target(BRANCH + name) is not None:
            raise HubError(409, f"Branch reference exists already: {name}")
        _check_clash(repo, BRANCH, name)
        repo.git.set_ref(BRANCH + name, commit)
    return answer({})


def _check_clash(repo: OpenRepo, prefix: str, name: str) -> None:
    # git keeps references as files, so that `a` and `a/b` can't both exist.
    for ref in repo.git.refs(prefix):
        if ref.name.startswith(f"{name}/") or name.startswith(f"{ref.name}/"):
            raise bad_request(f"'{ref.name}' is in the way of '{name}'.")


def delete_branch(call: Call) -> Response:
    name = call.param("branch")
    if name == "main":
        raise bad_request("The branch 'main' can't be deleted.")
    return _delete_ref(call, BRANCH, name)


def _delete_ref(call: Call, prefix: str, name: str) -> Response:
    repo = call.open(write=True)
    with call.locked(repo) as repo:
        if repo.git.ref_target(prefix + name) is None:
            raise HubError(404, f"Invalid rev id: {name}", ErrorCode.REVISION_NOT_FOUND)
        repo.git.delete_ref(prefix + name)
    return answer({})


def super_squash(call: Call) -> Response:
    repo = call.open(write=True)
    name = call.param("branch")
    user = call.check_write(repo.id)
    with call.locked(repo) as repo:
        head = repo.git.ref_target(BRANCH + name)
        if head is None:
            raise HubError(404, f"Invalid rev id: {name}", ErrorCode.REVISION_NOT_FOUND)
        message = str(call.json().get("message") or f"Super-squash branch '{name}' using huggingface_hub")
        commit = repo.git.squash(BRANCH + name, head, message, user.name)
    return answer({"commitOid": commit})


def commits(call: Call) -> Response:
    repo = call.open()
    history = list(islice(repo.git.history(repo.commit(call.param("revision"))), MAX_COMMITS))
    page, headers = call.page(history, COMMITS_PAGE)
    formatted = "formatted" in call.values("expand")
    items = [commit_item(each) for each in page]
    if formatted:
        items = [item | {"formatted": {"title": item["title"], "message": item["message"]}} for item in items]
    return answer(items, headers=headers | {"X-Total-Count": str(len(history))})


def tree(call: Call) -> Response:
    repo = call.open()
    commit = repo.commit(call.param("revision"))
    folder, expand = call.param("path").strip("/"), call.flag("expand")
    entries = repo.git.entries(commit, folder, recursive=call.flag("recursive"))
    if entries is None:
        raise entry_not_found(f'{folder} does not exist on "{call.param("revision")}"', commit)
    page, headers = call.page(entries, TREE_PAGE_EXPANDED if expand else TREE_PAGE)
    return answer(tree_items(repo, commit, page, expand=expand), headers=headers | {"X-Repo-Commit": commit})


def paths_info(call: Call) -> Response:
    repo = call.open()
    commit = repo.commit(call.param("revision"))
    if "json" in call.request.headers.get("content-type", ""):
        data = call.json()
        paths, expand = data.get("paths", []), bool(data.get("expand"))
        paths = [paths] if isinstance(paths, str) else paths
    else:
        form = parse_qs(call.body.decode("utf-8", "replace"), keep_blank_values=True)
        paths, expand = form.get("paths", []), form.get("expand", ["false"])[-1].lower() in ("1", "true")
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise bad_request('"paths" must be a list of strings')
    found = [repo.git.entry(commit, path.strip("/")) for path in paths if path.strip("/")]
    return answer(tree_items(repo, commit, [entry for entry in found if entry], expand=expand))


def resolve(call: Call) -> Response:
    """A file's content, as a whole or a range of it."""
    repo = call.open()
    check_gate(call, repo)
    commit = repo.commit(call.param("revision"))
    path = call.param("path")
    entry = repo.git.entry(commit, path) if path else None
    if entry is None or entry.is_folder:
        raise entry_not_found("Entry not found", commit)
    _count_download(call, repo)
    headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
    pointer = pointer_of(repo.git, entry)
    if pointer is None:
        data = repo.git.read(entry.oid)
        headers |= {"ETag": f'"{entry.oid}"', **raw_headers(path, data[:BEGINNING])}
        return _bytes(call.request.headers, data, headers)
    if call.hub.storage.large_file(repo.id, pointer.oid) != pointer.size:
        raise HubError(404, "The content of this LFS file isn't on the hub.", ErrorCode.ENTRY_NOT_FOUND, headers)
    stored = call.hub.storage.lfs.path(pointer.oid)
    with stored.open("rb") as file:
        headers |= raw_headers(path, file.read(BEGINNING))
    headers |= {
        "ETag": f'"{pointer.oid}"',
        "X-Linked-Etag": f'"{pointer.oid}"',
        "X-Linked-Size": str(pointer.size),
    }
    return FileResponse(stored, headers=headers)


def _count_download(call: Call, repo: OpenRepo) -> None:
    # A question about a file, or the rest of one that was cut off, isn't a download.
    if call.request.method == "GET" and call.request.headers.get("range", "bytes=0-").startswith("bytes=0-"):
        host = call.request.client.host if call.request.client else ""
        call.hub.downloads.count(call.user.name if call.user else host, repo.git.path)


def _bytes(request: Headers, data: bytes, headers: dict[str, str]) -> Response:
    wanted = _range(request, len(data), headers["ETag"])
    if wanted is None:
        return Response(data, headers=headers)
    start, end = wanted
    if start >= end:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return Response(data[start:end], 206, headers=headers)


def _range(request: Headers, size: int, etag: str) -> tuple[int, int] | None:
    """The one range that is asked for, half-open and empty where there is none; None: the whole file."""
    unit, _, span = request.get("range", "").partition("=")
    first, dash, last = span.strip().partition("-")
    begin, end = whole_number(first), whole_number(last)
    if unit.strip() != "bytes" or not dash or (begin is None and end is None):
        return None  # several ranges, or none that HTTP knows: the whole file is a right answer
    if (first and begin is None) or (last and end is None):
        return None
    if request.get("if-range", etag) != etag:
        return None
    if begin is None:
        return max(size - (end or 0), 0), size
    return begin, size if end is None else min(end + 1, size)
