"""git's own protocol over HTTP, spoken by the `git` program: what `git clone` and `git push` send."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from starlette.responses import Response, StreamingResponse

import hfenv
from hfenv.localhub.community import Community
from hfenv.localhub.errors import HubError, bad_request
from hfenv.localhub.gates import check_gate
from hfenv.localhub.gitnames import is_ref_name
from hfenv.localhub.gitstore import BRANCH, PULL, TAG
from hfenv.localhub.names import whole_number
from hfenv.localhub.wire import Call, OpenRepo

MAX_PUSH = 4 * 1024**3  # bytes of one push, unpacked
FETCH, PUSH = "git-upload-pack", "git-receive-pack"
NOTHING = "0" * 40

_BLOCK = 1024 * 1024
_MAX_COMMANDS = 1000
_PROTOCOL = re.compile(r"[a-z0-9=:.-]{1,100}")
# A repository's own settings don't decide who gets what, and nothing runs after a push.
_SETTINGS = {
    "safe.directory": "*",
    "receive.fsckObjects": "true",
    "receive.autogc": "false",
    "receive.denyCurrentBranch": "ignore",
    "receive.denyDeleteCurrent": "refuse",
    "receive.advertisePushOptions": "false",
    "receive.maxInputSize": str(MAX_PUSH),
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "false",
    "http.receivepack": "true",
}
_HOOK = '#!/bin/sh\nexec "$HFENV_HUB_PYTHON" -m hfenv.localhub.receive_hook\n'


def info_refs(call: Call) -> Response:
    """The references, as `git clone` and `git push` ask for them first."""
    service = call.value("service") or ""
    repo = _opened(call, service)
    protocol = _protocol(call)
    command = [*_git(call, service), "--stateless-rpc", "--advertise-refs", str(repo.git.path)]
    done = subprocess.run(command, env=_environment(protocol), capture_output=True, check=False)
    if done.returncode != 0:
        raise HubError(500, "git can't read this repository.")
    body = (
        done.stdout if "version=2" in protocol.split(":") else _packet(f"# service={service}\n") + b"0000" + done.stdout
    )
    return _answered(body, f"application/x-{service}-advertisement")


def check_fetch(call: Call) -> None:
    _opened(call, FETCH)


def check_push(call: Call) -> None:
    _opened(call, PUSH)


def upload_pack(call: Call, body: Path) -> Response:
    """What a clone or fetch asks for, streamed as git packs it."""
    repo = _opened(call, FETCH)
    command = [*_git(call, FETCH), "--stateless-rpc", str(repo.git.path)]
    with _unpacked(call, body).open("rb") as file:
        process = subprocess.Popen(
            command, env=_environment(_protocol(call)), stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    return StreamingResponse(_output(process), media_type=f"application/x-{FETCH}-result", headers=_NO_CACHE)


def _output(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    try:
        while block := process.stdout.read1(_BLOCK):  # type: ignore[attr-defined]
            yield block
    finally:
        process.stdout.close()
        process.kill()  # of no effect once it has ended; else nobody listens any more
        process.wait()


def receive_pack(call: Call, body: Path) -> Response:
    """Take a push in, under the repository's lock, after the same checks as the API's commits have."""
    repo = _opened(call, PUSH)
    body = _unpacked(call, body)
    hub = call.hub
    hub.quotas.check_bytes(hub.storage, repo.id, body.stat().st_size)
    refused = {}
    with call.locked(repo) as repo, body.open("rb") as file:
        for old, new, ref in _commands(body):
            if reason := _reason_against(call, repo, ref, is_new=old == NOTHING, is_gone=new == NOTHING):
                refused[ref] = reason
        told = {"HFENV_HUB_REPO": repo.id.key, "HFENV_HUB_REFUSED": json.dumps(refused)}
        environment = _environment(_protocol(call)) | _hook_environment(hub.storage.root) | told
        command = [*_git(call, PUSH), "--stateless-rpc", str(repo.git.path)]
        done = subprocess.run(
            command, env=environment, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False
        )
    return _answered(done.stdout, f"application/x-{PUSH}-result")


_NO_CACHE = {"Cache-Control": "no-cache, max-age=0, must-revalidate"}


def _answered(body: bytes, media_type: str) -> Response:
    return Response(body, media_type=media_type, headers=_NO_CACHE)


def _packet(text: str) -> bytes:
    data = text.encode()
    return b"%04x" % (len(data) + 4) + data


def _opened(call: Call, service: str) -> OpenRepo:
    """The repository, if the caller may use this service on it.

    Raises:
        HubError: as `Call.open` does; 401 asks git to ask its user for a token, 501 where there is no git.
    """
    if service not in (FETCH, PUSH):
        raise HubError(403, "This hub speaks git's smart protocol only: use a newer git.")
    wanted = call.repo_id
    try:
        repo = call.open(replace(wanted, name=wanted.name.removesuffix(".git")))
        if service == FETCH:
            check_gate(call, repo)
        elif call.user is None or not call.user.may_contribute(repo.id):
            call.check_write(repo.id)
    except HubError as error:
        if error.status == 401:
            error.extra["WWW-Authenticate"] = 'Basic realm="A token of this hub as the password", charset="UTF-8"'
        raise
    return repo


def _git(call: Call, service: str) -> list[str]:
    program = shutil.which("git")
    if program is None:
        raise HubError(501, "git isn't installed where this hub runs: use the Hub client, or install git there.")
    hooks = _hooks(call.hub.storage.root)
    settings = {**_SETTINGS, "core.hooksPath": str(hooks)}
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    return [program, *options, service.removeprefix("git-")]


def _hooks(root: Path) -> Path:
    """The folder with the check that git runs before it takes a push in."""
    folder = root / "hooks"
    hook = folder / "pre-receive"
    if not hook.exists() or hook.read_text(encoding="utf-8") != _HOOK:
        folder.mkdir(exist_ok=True)
        fresh = folder / f"pre-receive.{os.getpid()}"
        fresh.write_text(_HOOK, encoding="utf-8", newline="\n")
        fresh.chmod(0o755)
        fresh.replace(hook)
    if not os.access(hook, os.X_OK):
        # git would leave the check out without a word.
        raise HubError(501, "The hub's storage folder may not hold programs, so pushes by git can't be checked.")
    return folder


def _environment(protocol: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    return kept | quiet | ({"GIT_PROTOCOL": protocol} if protocol else {})


def _hook_environment(root: Path) -> dict[str, str]:
    package = Path(hfenv.__file__).parent.parent
    return {"HFENV_HUB_PYTHON": sys.executable, "HFENV_HUB_ROOT": str(root), "PYTHONPATH": str(package)}


def _protocol(call: Call) -> str:
    text = call.request.headers.get("git-protocol", "")
    return text if _PROTOCOL.fullmatch(text) else ""


def _unpacked(call: Call, body: Path) -> Path:
    """The body without its compression."""
    encoding = call.request.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise HubError(415, "The body's encoding isn't known here.")
    target, size = body.with_name("unpacked"), 0
    unpacker = zlib.decompressobj(wbits=31)
    try:
        with body.open("rb") as source, target.open("wb") as file:
            while block := unpacker.unconsumed_tail or source.read(_BLOCK):
                data = unpacker.decompress(block, _BLOCK)
                size += len(data)
                if size > MAX_PUSH:
                    raise HubError(413, "The request's body is too large.")
                file.write(data)
    except zlib.error:
        raise bad_request("The body isn't what its encoding says.") from None
    return target


def _commands(body: Path) -> Iterator[tuple[str, str, str]]:
    """What a push wants: old commit, new commit and reference of each change."""
    with body.open("rb") as file:
        for _ in range(_MAX_COMMANDS + 1):
            try:
                size = int(file.read(4), 16)
            except ValueError:
                raise bad_request("This isn't a push.") from None
            if size == 0:
                return
            line = file.read(size - 4).split(b"\0", 1)[0].decode("utf-8", "surrogateescape").rstrip("\n")
            old, _, rest = line.partition(" ")
            new, _, ref = rest.partition(" ")
            if not ref:
                raise bad_request(
                    "This push has a part that isn't understood here, such as a shallow base or a signature."
                )
            yield old, new, ref
    raise bad_request(f"At most {_MAX_COMMANDS} references in a push.")


def _reason_against(call: Call, repo: OpenRepo, ref: str, *, is_new: bool, is_gone: bool) -> str | None:
    """Why the caller may not change a reference so, None if they may: the rules of the API's routes."""
    if ref.startswith(PULL):
        return _reason_against_pull(call, repo, ref, is_gone=is_gone)
    prefix = next((prefix for prefix in (BRANCH, TAG) if ref.startswith(prefix)), None)
    if prefix is None or not is_ref_name(prefix, ref.removeprefix(prefix)):
        return "only branches, tags and pull requests can be pushed, by names that the hub takes"
    try:
        call.check_write(repo.id)
    except HubError as error:
        return error.message
    if ref == f"{BRANCH}main" and is_gone:
        return "the branch 'main' can't be deleted"
    if prefix == TAG and not is_new and not is_gone:
        return "a tag is never moved: delete it first"
    return None


def _reason_against_pull(call: Call, repo: OpenRepo, ref: str, *, is_gone: bool) -> str | None:
    number = whole_number(ref.removeprefix(PULL))
    found = Community(call.hub.storage, repo.id).find(number) if number else None
    if found is None or found.pull is None or is_gone:
        return "pull requests are opened and closed by the Hub client, then pushed to"
    if not found.status.is_open:
        return f"pull request {found.num} is {found.status.value}"
    if call.user is None or found.author != call.user.name:
        try:
            call.check_write(repo.id)
        except HubError as error:
            return error.message
    return None
