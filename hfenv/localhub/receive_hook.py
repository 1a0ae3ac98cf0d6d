"""What git runs before it takes a push in: the checks that the API's commits have, on every new commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from hfenv.localhub import cards
from hfenv.localhub.errors import HubError
from hfenv.localhub.gitpushed import Pushed, RefusedTree
from hfenv.localhub.gitstore import BRANCH
from hfenv.localhub.lfs import MAX_REGULAR
from hfenv.localhub.names import RepoId
from hfenv.localhub.quotas import Quotas
from hfenv.localhub.storage import Storage

MAX_COMMITS = 10_000
_NOTHING = "0" * 40


def main() -> int:
    """Read git's list of changes, say on standard error why a push is refused; 0 takes it in."""
    refused: dict[str, str] = json.loads(os.environ["HFENV_HUB_REFUSED"])
    lines = [line.split(maxsplit=2) for line in sys.stdin.read().splitlines()]
    reasons = [f"{ref}: {reason}" for _, _, ref in lines if (reason := refused.get(ref))]
    if not reasons:
        storage, repo = Storage(Path(os.environ["HFENV_HUB_ROOT"])), RepoId.parse(os.environ["HFENV_HUB_REPO"])
        for _, new, ref in lines:
            if new == _NOTHING:
                continue
            try:
                _check(storage, repo, new, ref)
            except RefusedTree as error:
                reasons.append(f"{ref}: {error}")
            except HubError as error:
                reasons.append(f"{ref}: {error.message}")
    for reason in reasons:
        sys.stderr.write(f"Refused: {reason if reason.isprintable() else ascii(reason)}\n")
    return 1 if reasons else 0


def _check(storage: Storage, repo: RepoId, new: str, ref: str) -> None:
    folder = storage.path(repo)
    pushed = Pushed(folder, os.environ.get("GIT_QUARANTINE_PATH"))
    tip = pushed.commit_of(new)
    command = ["git", "rev-list", f"--max-count={MAX_COMMITS + 1}", tip, "--not", "--all"]
    fresh = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    if len(fresh) > MAX_COMMITS:
        raise RefusedTree(f"more than {MAX_COMMITS} new commits in one push")
    for path, oid, size in pushed.new_files(fresh):
        if size > MAX_REGULAR:
            raise RefusedTree(f"'{path}' is larger than {MAX_REGULAR} bytes: track it with git-lfs")
        pointer = pushed.pointer(oid, size)
        if pointer is not None and storage.large_file(repo, pointer.oid) != pointer.size:
            raise RefusedTree(f"the content of the large file '{path}' isn't on the hub: push it with git-lfs")
    if ref.startswith(BRANCH) and fresh:
        card = pushed.read(tip, cards.CARD_PATH)
        if card is not None and (report := cards.check_card(card)).errors:
            raise RefusedTree(f"invalid metadata in README.md: {'; '.join(report.errors)}")
        Quotas(storage.root).check_files(repo, pushed.count(tip))


if __name__ == "__main__":
    sys.exit(main())
