"""What the hub tells about repositories, files and commits: the objects of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hfenv.localhub import cards, popularity
from hfenv.localhub.gitstore import BRANCH, CommitInfo, Entry, GitRepo
from hfenv.localhub.lfs import MAX_POINTER, Pointer
from hfenv.localhub.names import RepoType
from hfenv.localhub.storage import timestamp
from hfenv.localhub.wire import OpenRepo

JsonObject = dict[str, Any]

# What a list gives of each repository unless `full` or `expand` ask for more or less.
_HEAVY_KEYS = ("siblings", "usedStorage")


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


@lru_cache(maxsize=4096)
def _card(path: Path, commit: str) -> JsonObject:
    # A commit's content never changes, so neither does this. Callers don't change the answer either.
    git = GitRepo(path)
    entry = git.entry(commit, cards.CARD_PATH)
    return cards.card_data(git.read(entry.oid)) if entry and not entry.is_folder else {}


def repo_info(
    repo: OpenRepo,
    commit: str | None = None,
    *,
    full: bool = True,
    blobs: bool = False,
    expand: Iterable[str] = (),
) -> JsonObject:
    """A repository as `info` and the lists give it; `expand` names the only keys that are wanted."""
    git, record, expand = repo.git, repo.record, frozenset(expand)
    head = commit or git.ref_target(BRANCH + "main")
    card = _card(git.path, head) if head else {}
    counts, likes = popularity.downloads(git.path), len(popularity.likers(git.path))
    info: JsonObject = {
        "_id": f"{repo.id.type.value}:{repo.id.full}",
        "id": repo.id.full,
        "author": repo.id.namespace,
        "sha": head,
        "private": record.private,
        "gated": record.gated or False,
        "disabled": False,
        "downloads": counts.recent,
        "downloadsAllTime": counts.ever,
        "likes": likes,
        "trendingScore": likes,
        "tags": cards.tags(card),
        "cardData": card,
        "createdAt": record.created_at or None,
        "lastModified": timestamp(git.commit_info(head).when) if head else record.created_at or None,
    }
    info |= _type_keys(repo, card)
    wanted = expand or (frozenset(_HEAVY_KEYS) if full else frozenset())
    if "siblings" in wanted:
        info["siblings"] = _siblings(git, head, blobs=blobs) if head else []
    if "usedStorage" in wanted:
        info["usedStorage"] = _used_storage(git, head) if head else 0
    return {key: value for key, value in info.items() if key in expand or key in ("_id", "id")} if expand else info


def _type_keys(repo: OpenRepo, card: JsonObject) -> JsonObject:
    match repo.id.type:
        case RepoType.MODEL:
            return {
                "modelId": repo.id.full,
                "library_name": card.get("library_name"),
                "pipeline_tag": card.get("pipeline_tag"),
            }
        case RepoType.SPACE:
            return {"sdk": repo.record.sdk or card.get("sdk"), "runtime": {"stage": "NO_APP_FILE", "hardware": {}}}
        case RepoType.DATASET:
            return {"description": card.get("description") if isinstance(card.get("description"), str) else None}
