"""The commit call: reading its lines, checking them, and moving the branch under the repository's lock."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.responses import Response

from hfenv.localhub import cards
from hfenv.localhub.community import MAX_COMMENT, Community, PullRequest, cut_title
from hfenv.localhub.errors import Conflict, HubError, bad_request, entry_not_found, revision_not_found
from hfenv.localhub.gitstore import BRANCH, PULL, Edit, GitRepo, MissingPath
from hfenv.localhub.lfs import MAX_REGULAR, Pointer
from hfenv.localhub.names import check_path, is_sha256
from hfenv.localhub.pulls import check_commit_right
from hfenv.localhub.wire import Call, OpenRepo, answer, parse_json

# A regular file in base64, and room for its path.
_MAX_LINE = MAX_REGULAR * 4 // 3 + 64 * 1024
_MIN_PARENT = 5
_NO_DESCRIPTION = "This pull request came with a commit and without a description."
_SizeOf = Callable[[str], int | None]  # bytes of a large file that the repository has


@dataclass(frozen=True, slots=True)
class Header:
    """What the commit is about; `parent` (at least five digits of a hash) is where the client thinks the branch is."""

    message: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A commit whose blobs are written already."""

    header: Header
    edits: tuple[Edit, ...]
    large: tuple[str, ...]  # sha256 of its large files


@dataclass(frozen=True, slots=True)
class _NewPull:
    """The number of a pull request to be opened, and the commit it starts from."""

    num: int
    base: str | None


def check_commit(call: Call) -> None:
    """Refuse, before the body is read, who may not commit."""
    check_commit_right(call, call.open())


def commit(call: Call, body: Path) -> Response:
    """Apply the lines in `body` as one commit, or none of them."""
    check_commit(call)
    repo = call.open()
    target = _branch_ref(repo.git, call.param("revision"))
    storage = call.hub.storage
    call.hub.quotas.check_bytes(storage, repo.id, body.stat().st_size * 3 // 4)  # base64
    prepared = _prepare(repo.git, lambda oid: storage.large_file(repo.id, oid), body)
    author = call.user.name if call.user else ""
    with call.locked(repo) as repo:
        check_commit(call)  # again: a pull request can be merged while the body is on its way
        if any(storage.large_file(repo.id, oid) is None for oid in prepared.large):
            # Uploaded so long before this commit that it was collected as garbage a moment ago.
            raise bad_request("A large file of this commit isn't on the hub any more: upload it again.")
        pull = _new_pull(call, repo, target, prepared.header) if call.flag("create_pr") else None
        ref = f"{PULL}{pull.num}" if pull else target
        base = pull.base if pull else _expected_head(repo.git, target, prepared.header.parent)
        check_files = partial(call.hub.quotas.check_files, repo.id)
        try:
            oid = repo.git.commit(ref, base, prepared.edits, prepared.header.message, author, check_files=check_files)
        except MissingPath as error:
            raise entry_not_found(f"A file with this name doesn't exist: {error}") from None
        except Conflict:
            raise _moved() from None
        if pull:
            title, _, text = prepared.header.message.partition("\n")
            text = text.strip()[:MAX_COMMENT] or _NO_DESCRIPTION
            about = PullRequest(target, pull.base or oid)
            Community(storage, repo.id).open(pull.num, cut_title(title), author, text, about)
    url = f"{call.origin}/{repo.id.url_path}"
    extra = {"pullRequestUrl": f"{url}/discussions/{pull.num}"} if pull else {}
    return answer({"success": True, "commitOid": oid, "commitUrl": f"{url}/commit/{oid}", **extra})


def _branch_ref(git: GitRepo, revision: str) -> str:
    """The reference a commit goes to: a branch or an open pull request, never a tag or a hash."""
    ref = revision if revision.startswith((BRANCH, PULL)) else BRANCH + revision
    if git.ref_target(ref) is not None or ref == BRANCH + "main":
        return ref
    if git.resolve(revision) is not None:
        raise bad_request(f"Commits go to a branch, and '{revision}' isn't one.")
    raise revision_not_found(revision)


def _expected_head(git: GitRepo, ref: str, parent: str | None) -> str | None:
    head = git.ref_target(ref)
    if parent is not None and not (head or "").startswith(parent):
        raise _moved()
    return head


def _moved() -> HubError:
    return HubError(412, "A commit has happened since. Please refresh and try again.")


def _new_pull(call: Call, repo: OpenRepo, target: str, header: Header) -> _NewPull:
    parent = header.parent
    base = repo.git.resolve(parent) if parent else repo.git.ref_target(target)
    if parent and base is None:
        raise revision_not_found(parent)
    if not target.startswith(BRANCH):
        raise bad_request("A pull request goes to a branch.")
    return _NewPull(Community(call.hub.storage, repo.id).next_number(repo.git), base)


def _prepare(git: GitRepo, size_of: _SizeOf, body: Path) -> Prepared:
    """Read the lines and write the blobs; unused blobs of a refused commit do no harm."""
    header: Header | None = None
    edits: list[Edit] = []
    large: list[str] = []
    for key, value in _lines(body):
        if key == "header":
            header = _header(value)
        else:
            edits.append(_edit(git, size_of, key, value))
            if key == "lfsFile":
                large.append(str(value["oid"]))
    if header is None:
        raise bad_request("The commit has no header.")
    _check_tree(edits)
    return Prepared(header, tuple(edits), tuple(large))


def _lines(body: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with body.open("rb") as file:
        while line := file.readline(_MAX_LINE + 1):
            if len(line) > _MAX_LINE:
                raise HubError(413, f"A regular file is larger than {MAX_REGULAR} bytes: upload it through LFS.")
            if not line.strip():
                continue
            try:
                data = parse_json(line)
                key, value = data["key"], data["value"]
            except (ValueError, KeyError, TypeError):
                raise bad_request("A line of the commit isn't a JSON object with key and value.") from None
            if not isinstance(key, str) or not isinstance(value, dict):
                raise bad_request("A line of the commit isn't a JSON object with key and value.")
            yield key, value


def _header(value: dict[str, Any]) -> Header:
    summary, description, parent = value.get("summary"), value.get("description") or "", value.get("parentCommit")
    if not isinstance(summary, str) or not summary.strip() or not isinstance(description, str):
        raise bad_request("The commit needs a summary.")
    if parent is not None and not _is_parent(parent):
        raise bad_request("parentCommit isn't a commit hash.")
    message = f"{summary.strip()}\n\n{description}".strip() if description.strip() else summary.strip()
    return Header(message, parent and parent.lower())


def _is_parent(value: Any) -> bool:
    return (
        isinstance(value, str) and _MIN_PARENT <= len(value) <= 40 and not set(value.lower()) - set("0123456789abcdef")
    )


def _edit(git: GitRepo, size_of: _SizeOf, key: str, value: dict[str, Any]) -> Edit:
    path = value.get("path")
    if key == "file":
        return _regular(git, check_path(path), value)
    if key == "lfsFile":
        return _large(git, size_of, check_path(path), value)
    if key == "deletedFile":
        return Edit(check_path(path), None)
    if key == "deletedFolder":
        return Edit(check_path(path.rstrip("/") if isinstance(path, str) else path), None, is_folder=True)
    raise bad_request(f"A commit has no operation '{key}'.")


def _regular(git: GitRepo, path: str, value: dict[str, Any]) -> Edit:
    content, encoding = value.get("content"), value.get("encoding", "utf-8")
    if not isinstance(content, str) or encoding not in ("base64", "utf-8"):
        raise bad_request(f"'{path}' has no content in base64 or utf-8.")
    try:
        data = base64.b64decode(content, validate=True) if encoding == "base64" else content.encode("utf-8")
    except ValueError:
        raise bad_request(f"The content of '{path}' isn't {encoding}.") from None
    if len(data) > MAX_REGULAR:
        raise bad_request(f"'{path}' is larger than {MAX_REGULAR} bytes: upload it through LFS.")
    if path == cards.CARD_PATH and (report := cards.check_card(data)).errors:
        raise bad_request(f"Invalid metadata in README.md: {'; '.join(report.errors)}")
    return Edit(path, git.write_blob(data))


def _large(git: GitRepo, size_of: _SizeOf, path: str, value: dict[str, Any]) -> Edit:
    oid, size = value.get("oid"), value.get("size")
    if value.get("algo", "sha256") != "sha256" or not isinstance(oid, str) or not is_sha256(oid):
        raise bad_request(f"The LFS object of '{path}' isn't named by a sha256.")
    stored = size_of(oid)
    if stored is None or size not in (None, stored):
        raise bad_request(f"The LFS pointer of '{path}' points to a file that doesn't exist: {oid}")
    return Edit(path, git.write_blob(Pointer(oid, stored).encode()))


def _check_tree(edits: list[Edit]) -> None:
    """Refuse two files of which one would have to be the other's folder."""
    files = {edit.path for edit in edits if edit.oid is not None}
    for path in files:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            if (folder := "/".join(parts[:depth])) in files:
                raise bad_request(f"'{folder}' can't be both a file and a folder.")
