"""How files get in: regular or LFS, ignored or not, and the batch call that opens LFS uploads."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.responses import FileResponse, Response

from hfenv.localhub.describe import pointer_of
from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gates import check_gate
from hfenv.localhub.gitnames import ignored
from hfenv.localhub.lfs import MAX_REGULAR, Pointer
from hfenv.localhub.names import RepoId, check_path, is_sha256
from hfenv.localhub.pulls import check_commit_right
from hfenv.localhub.wire import Call, OpenRepo, answer

MAX_BATCH = 1000
MAX_LARGE = 50 * 10**9  # bytes of one file, as on the Hub

_LFS_PATTERNS = """
*.7z *.arrow *.avro *.bin *.bz2 *.ckpt *.ftz *.gz *.h5 *.joblib *.lz4 *.mds *.mlmodel *.model *.msgpack *.npy *.npz
*.onnx *.ot *.parquet *.pb *.pickle *.pkl *.pt *.pth *.rar *.safetensors saved_model/**/* *.tar.* *.tar *.tflite *.tgz
*.wasm *.xz *.zip *.zst *tfevents* *.pcm *.sam *.raw *.aac *.flac *.mp3 *.ogg *.wav *.bmp *.gif *.png *.tiff *.jpg
*.jpeg *.webp *.mp4 *.webm
"""

# What a new repository starts with, as on the Hub.
INITIAL_ATTRIBUTES = "".join(f"{each} filter=lfs diff=lfs merge=lfs -text\n" for each in _LFS_PATTERNS.split()).encode()


_Offer = Callable[[Call, OpenRepo, Pointer], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Announced:
    """A file that the client is about to upload."""

    path: str
    size: int
    sample: bytes


def preupload(call: Call) -> Response:
    """For each file: regular or LFS, whether .gitignore leaves it out, and what is there now."""
    repo = call.open()
    check_commit_right(call, repo)
    data = call.json()
    commit = repo.commit(call.param("revision"))
    files = [_announced(each) for each in _list(data, "files")]
    lfs = [
        file.size > 0 and (by_name or file.size > MAX_REGULAR)
        for file, by_name in zip(files, repo.git.are_lfs(commit, [file.path for file in files]), strict=True)
    ]
    skip = _ignored(call, repo, commit, data.get("gitIgnore"), [file.path for file in files])
    return answer(
        {
            "files": [
                {
                    "path": file.path,
                    "uploadMode": "lfs" if is_lfs else "regular",
                    "shouldIgnore": ignore,
                    "oid": _current(repo, commit, file.path, is_lfs),
                }
                for file, is_lfs, ignore in zip(files, lfs, skip, strict=True)
            ]
        }
    )


def _list(data: dict[str, Any], key: str) -> list[Any]:
    if not isinstance(data.get(key), list):
        raise bad_request(f'"{key}" must be a list')
    items: list[Any] = data[key]
    return items


def _announced(data: Any) -> _Announced:
    try:
        path, size, sample = check_path(data["path"]), data["size"], base64.b64decode(data.get("sample", ""))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise bad_request('A file needs "path", "size" and "sample".') from None
    if not isinstance(size, int) or size < 0:
        raise bad_request('"size" must be a number of bytes')
    return _Announced(path, size, sample)


def _current(repo: OpenRepo, commit: str, path: str, is_lfs: bool) -> str | None:
    # In the currency of the mode: the client compares it with the git hash or with the sha256 of what it has.
    entry = repo.git.entry(commit, path)
    if entry is None or entry.is_folder:
        return None
    pointer = pointer_of(repo.git, entry)
    if is_lfs:
        return pointer.oid if pointer else None
    return None if pointer else entry.oid


def _ignored(call: Call, repo: OpenRepo, commit: str, rules: Any, paths: list[str]) -> list[bool]:
    if not isinstance(rules, str):
        entry = repo.git.entry(commit, ".gitignore")
        if entry is None or entry.is_folder:
            return [False] * len(paths)
        rules = repo.git.read(entry.oid).decode("utf-8", "replace")
    with call.hub.storage.scratch_folder() as folder:
        return ignored(rules, paths, folder)


def lfs_batch(call: Call) -> Response:
    """Signed addresses for the objects that aren't here yet."""
    repo = call.open()
    data = call.json()
    operation = data.get("operation")
    if operation not in ("upload", "download"):
        raise bad_request('"operation" must be upload or download')
    if operation == "upload":
        call.check_contribute()
    else:
        check_gate(call, repo)
    if data.get("hash_algo", "sha256") != "sha256":
        raise bad_request("The hash algorithm must be sha256.")
    if "basic" not in (_list(data, "transfers") if "transfers" in data else ["basic"]):
        raise bad_request("Only the basic transfer is answered here.")
    objects = _list(data, "objects")
    if len(objects) > MAX_BATCH:
        raise bad_request(f"At most {MAX_BATCH} objects in a batch.")
    one = _upload_of if operation == "upload" else _download_of
    found = [_batch_object(call, repo, each, one) for each in objects]
    more = sum(each["size"] for each in found if "actions" in each)
    if more and operation == "upload":
        call.hub.quotas.check_bytes(call.hub.storage, repo.id, more)
    return answer({"transfer": "basic", "hash_algo": "sha256", "objects": found})


def _batch_object(call: Call, repo: OpenRepo, data: Any, one: _Offer) -> dict[str, Any]:
    oid, size = (data.get("oid"), data.get("size")) if isinstance(data, dict) else (None, None)
    if not isinstance(oid, str) or not is_sha256(oid) or not isinstance(size, int) or size < 0:
        error = {"code": 422, "message": "An object needs a sha256 and a size in bytes."}
        return {"oid": str(oid), "size": size if isinstance(size, int) else 0, "error": error}
    if size > MAX_LARGE:
        error = {"code": 413, "message": f"A file has at most {MAX_LARGE} bytes: split it."}
        return {"oid": oid, "size": size, "error": error}
    return {"oid": oid, "size": size, **one(call, repo, Pointer(oid, size))}


def _upload_of(call: Call, repo: OpenRepo, pointer: Pointer) -> dict[str, Any]:
    if call.hub.storage.renew_large_file(repo.id, pointer.oid) == pointer.size:
        return {}
    href, query = _signed(call, repo, pointer)
    actions = {"upload": {"href": f"{href}?{query}"}, "verify": {"href": f"{href}/verify?{query}"}}
    return {"authenticated": True, "actions": actions}


def _download_of(call: Call, repo: OpenRepo, pointer: Pointer) -> dict[str, Any]:
    if call.hub.storage.large_file(repo.id, pointer.oid) != pointer.size:
        return {"error": {"code": 404, "message": "The content of this LFS file isn't on the hub."}}
    href, query = _signed(call, repo, pointer)
    return {"authenticated": True, "actions": {"download": {"href": f"{href}?{query}"}}}


def _signed(call: Call, repo: OpenRepo, pointer: Pointer) -> tuple[str, str]:
    return f"{call.origin}/lfs/{pointer.oid}", call.hub.storage.signer.sign(pointer, repo.id.key)


def lfs_get(call: Call) -> Response:
    """The content of a large file, for git-lfs; who may only upload it hasn't uploaded it yet, and gets nothing."""
    storage = call.hub.storage
    pointer, key = storage.signer.check(call.param("oid"), call.request.query_params)
    repo = RepoId.parse(key)
    if not storage.exists(repo) or storage.large_file(repo, pointer.oid) != pointer.size:
        raise HubError(404, "The object isn't here.")
    return FileResponse(storage.lfs.path(pointer.oid), media_type="application/octet-stream")
