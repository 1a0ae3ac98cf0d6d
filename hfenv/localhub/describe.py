"""What the hub tells about repositories, files and commits: the objects of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from hfenv.localhub import popularity
from hfenv.localhub.gitstore import CommitInfo, Entry, GitRepo
from hfenv.localhub.lfs import MAX_POINTER, Pointer
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.storage import RepoRecord, timestamp
from hfenv.localhub.summaries import head_of, summary_of
from hfenv.localhub.wire import OpenRepo

JsonObject = dict[str, Any]

# What a list gives of each repository unless `full` or `expand` ask for more or less.
HEAVY_KEYS = ("siblings", "usedStorage")


def pointer_of(git: GitRepo, entry: Entry) -> Pointer | None:
    """The large file that an entry points to, None for an ordinary file."""
    return None if entry.is_folder or entry.size > MAX_POINTER else Pointer.parse(git.read(entry.oid))


def tree_item(git: GitRepo, entry: Entry, last: CommitInfo | None = None) -> JsonObject:
    """A file or folder as `tree` and `paths-info` list it."""
    pointer = pointer_of(git, entry)
    item: JsonObject = {
        "type": "directory" if entry.is_folder else "file",
        "oid": entry.oid,
        "size": pointer.size if pointer else entry.size,
        "path": entry.path,
    }
    if pointer is not None:
        item["lfs"] = {"oid": pointer.oid, "size": pointer.size, "pointerSize": entry.size}
    if last is not None:
        item["lastCommit"] = {"id": last.id, "title": last.title, "date": timestamp(last.when)}
    return item


def tree_items(repo: OpenRepo, commit: str, entries: Sequence[Entry], *, expand: bool) -> list[JsonObject]:
    last = repo.git.last_commits(commit, [entry.path for entry in entries]) if expand else {}
    return [tree_item(repo.git, entry, last.get(entry.path)) for entry in entries]


def commit_item(commit: CommitInfo) -> JsonObject:
    """A commit as `commits` lists it."""
    title, _, message = commit.message.partition("\n")
    authors = [{"user": commit.author}]
    return {
        "id": commit.id,
        "title": title,
        "message": message.strip("\n"),
        "authors": authors,
        "date": timestamp(commit.when),
    }


def _siblings(git: GitRepo, commit: str, *, blobs: bool) -> list[JsonObject]:
    found = []
    for entry in git.entries(commit, recursive=True) or []:
        if entry.is_folder:
            continue
        sibling: JsonObject = {"rfilename": entry.path}
        if blobs:
            pointer = pointer_of(git, entry)
            sibling |= {"size": pointer.size if pointer else entry.size, "blobId": entry.oid}
            if pointer is not None:
                sibling["lfs"] = {"sha256": pointer.oid, "size": pointer.size, "pointerSize": entry.size}
        found.append(sibling)
    return found


def _used_storage(git: GitRepo, commit: str) -> int:
    files = (entry for entry in git.entries(commit, recursive=True) or [] if not entry.is_folder)
    pairs = ((entry, pointer_of(git, entry)) for entry in files)
    return sum(pointer.size if pointer else entry.size for entry, pointer in pairs)


def repo_info(
    repo: OpenRepo,
    commit: str | None = None,
    *,
    full: bool = True,
    blobs: bool = False,
    expand: Iterable[str] = (),
) -> JsonObject:
    """A repository as `info` and the lists give it; `expand` names the only keys that are wanted."""
    git, expand = repo.git, frozenset(expand)
    head = commit or head_of(git.path)
    info = basic_info(repo.id, repo.record, git.path, head)
    wanted = expand or (frozenset(HEAVY_KEYS) if full else frozenset())
    if "siblings" in wanted:
        info["siblings"] = _siblings(git, head, blobs=blobs) if head else []
    if "usedStorage" in wanted:
        info["usedStorage"] = _used_storage(git, head) if head else 0
    return limited(info, expand)


def limited(info: JsonObject, expand: frozenset[str]) -> JsonObject:
    """Only the keys that are wanted, where some are named."""
    return {key: value for key, value in info.items() if key in expand or key in ("_id", "id")} if expand else info


def basic_info(repo: RepoId, record: RepoRecord, path: Path, head: str | None) -> JsonObject:
    """What a list tells of a repository in a folder, of which `head` is the commit that counts."""
    known = summary_of(path, head) if head else None
    card = known.card if known else {}
    counts, likes = popularity.downloads(path), len(popularity.likers(path))
    info: JsonObject = {
        "_id": f"{repo.type.value}:{repo.full}",
        "id": repo.full,
        "author": repo.namespace,
        "sha": head,
        "private": record.private,
        "gated": record.gated or False,
        "disabled": False,
        "downloads": counts.recent,
        "downloadsAllTime": counts.ever,
        "likes": likes,
        "trendingScore": likes,
        "tags": known.tags if known else [],
        "cardData": card,
        "createdAt": record.created_at or None,
        "lastModified": timestamp(known.when) if known else record.created_at or None,
    }
    if repo.type is RepoType.MODEL:
        info["modelId"] = repo.full
    return info | _type_keys(repo.type, record, card)


def _type_keys(kind: RepoType, record: RepoRecord, card: JsonObject) -> JsonObject:
    match kind:
        case RepoType.MODEL:
            return {
                "library_name": card.get("library_name"),
                "pipeline_tag": card.get("pipeline_tag"),
            }
        case RepoType.SPACE:
            return {"sdk": record.sdk or card.get("sdk"), "runtime": {"stage": "NO_APP_FILE", "hardware": {}}}
        case RepoType.DATASET:
            return {"description": card.get("description") if isinstance(card.get("description"), str) else None}
