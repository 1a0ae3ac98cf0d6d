"""Large files: the pointers that git keeps, the folder that keeps the content, and signed upload addresses."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.names import is_sha256, whole_number

MAX_POINTER = 1024
# Above this many bytes a file is a large one whatever its name; below it, only where .gitattributes say so.
MAX_REGULAR = 10 * 1024 * 1024
SIGNATURE_LIFE_S = 3600

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n"
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A large file: its content's sha256 and size in bytes."""

    oid: str
    size: int

    @classmethod
    def parse(cls, data: bytes) -> Pointer | None:
        """The pointer that a blob holds, None where the blob is an ordinary file."""
        if len(data) > MAX_POINTER or (match := _POINTER.fullmatch(data)) is None:
            return None
        return cls(match[1].decode("ascii"), int(match[2]))

    def encode(self) -> bytes:
        text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.oid}\nsize {self.size}\n"
        return text.encode("ascii")


class LfsStore:
    """Large files by content, laid out as git-lfs does: `aa/bb/SHA256`. A file under its final name is complete."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root = root
        self._scratch = scratch

    def path(self, oid: str) -> Path:
        if not is_sha256(oid):
            raise bad_request("Invalid LFS object id: not a sha256 in lower-case hexadecimals.")
        return self._root / oid[:2] / oid[2:4] / oid

    def size(self, oid: str) -> int | None:
        """Bytes of the object, None if it isn't here."""
        try:
            return self.path(oid).stat().st_size
        except FileNotFoundError:
            return None

    def receive(self, pointer: Pointer) -> Incoming:
        return Incoming(pointer, self.path(pointer.oid), self._scratch)


class Incoming:
    """An upload under way: written beside the store, checked, then renamed into it. Use as a context manager."""

    def __init__(self, pointer: Pointer, target: Path, scratch: Path) -> None:
        self._pointer = pointer
        self._target = target
        self._digest = hashlib.sha256()
        self._size = 0
        handle, name = tempfile.mkstemp(prefix="lfs-", dir=scratch)
        self._path = Path(name)
        self._file: BinaryIO = os.fdopen(handle, "wb")

    def __enter__(self) -> Incoming:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._pointer.size:
            raise bad_request(f"The upload is larger than the {self._pointer.size} bytes that were announced.")
        self._digest.update(data)
        self._file.write(data)

    def check(self) -> None:
        """End the writing.

        Raises:
            HubError: 400 if size or sha256 aren't what was announced.
        """
        self._file.close()
        if self._size != self._pointer.size or self._digest.hexdigest() != self._pointer.oid:
            raise bad_request("The upload isn't complete: its size or sha256 isn't what was announced.")

    def finish(self) -> None:
        """Put the object under its final name, after `check`."""
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._path.replace(self._target)


class Signer:
    """Signs upload addresses, since clients send no token to them. Processes share the key through a file."""

    def __init__(self, key_file: Path) -> None:
        self._key = _load_key(key_file)

    def sign(self, pointer: Pointer, repo: str, expires: int | None = None) -> str:
        """The query string that lets its bearer upload exactly this object to this repository for an hour."""
        expires = int(time.time()) + SIGNATURE_LIFE_S if expires is None else expires
        signature = self._mac(pointer, repo, expires)
        return f"size={pointer.size}&repo={quote(repo, safe='')}&expires={expires}&signature={signature}"

    def check(self, oid: str, query: Mapping[str, str]) -> tuple[Pointer, str]:
        """The object and the repository that an address was signed for.

        Raises:
            HubError: 403 if it wasn't signed here, or expired.
        """
        size, expires = whole_number(query.get("size", "")), whole_number(query.get("expires", ""))
        repo, signature = query.get("repo", ""), query.get("signature", "")
        if size is not None and expires is not None and is_sha256(oid):
            pointer = Pointer(oid, size)
            expected = self._mac(pointer, repo, expires)
            if hmac.compare_digest(expected.encode(), signature.encode()) and expires >= time.time():
                return pointer, repo
        raise HubError(403, "This upload address isn't valid, or has expired: start the upload again.")

    def _mac(self, pointer: Pointer, repo: str, expires: int) -> str:
        text = f"{pointer.oid}:{pointer.size}:{expires}:{repo}"
        return hmac.new(self._key, text.encode("utf-8"), hashlib.sha256).hexdigest()


def _load_key(path: Path) -> bytes:
    if not path.exists():
        handle, name = tempfile.mkstemp(prefix="key-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(32))
        try:
            os.link(name, path)  # fails, where a rename would replace, if another process was faster
        except FileExistsError:
            pass
        finally:
            Path(name).unlink()
    return path.read_bytes()
