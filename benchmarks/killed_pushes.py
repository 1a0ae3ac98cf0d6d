"""Pushes and pulls that are killed at a random moment and run again: nothing lost, nothing half done, no wrong tag.

Every process is a real one, ended by SIGKILL together with the embedded hub that runs inside it. After the kill the
repository must be one that readers can trust: each commit and each tag whole and as its record says. After the second
run there is one more commit, its tags stand at it, the folder remembers it, and the cache holds no damaged file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pygit2
from forking import finish, kill_after, start, warm

from hfenv.components.files import is_staged
from hfenv.hub.client import connect
from hfenv.hub.pull import pull
from hfenv.hub.push import PushOptions, push
from hfenv.hub.references import HubReference, parse_reference
from hfenv.hub.upkeep import verify_all
from hfenv.paths import cache_root
from tests.support import replace_in, write_environment

TRIALS = 1000
PER_REPOSITORY = 25
_AGED_S = 24 * 3600.0  # after this long nobody writes any more to what is staged
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"


class Broken(Exception):
    """What must never happen, in one sentence."""


@dataclass
class Author:
    """A folder that is released again and again, its repository, and what was pushed so far."""

    work: Path
    number: int
    rng: random.Random
    releases: list[str] = field(default_factory=list)  # the code's versions
    edits: int = 0

    @property
    def repo(self) -> str:
        return f"local/e{self.number}"

    @property
    def root(self) -> Path:
        return self.work / f"e{self.number}"

    @property
    def git(self) -> Path:
        return self.work / "home" / "hub" / "datasets" / f"{self.repo}.git"

    def edit(self) -> bool:
        """Change something; returns whether it is a release. The first edit makes the folder."""
        self.edits += 1
        if self.edits == 1:
            write_environment(self.root, files={f"env/data/{n}.txt": f"{n}\n" for n in range(20)})
        picture = self.root / "docs" / "picture.png"  # a large file, by its name
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(self.rng.randbytes(300_000))
        if self.edits > 1 and self.rng.random() < 0.4:
            return False
        if self.edits > 1:
            before, now = self.releases[-1], f"1.0.{len(self.releases)}"
            replace_in(self.root / "README.md", f'code: {{version: "{before}"', f'code: {{version: "{now}"')
            replace_in(self.root / "changelog/code.md", "# Changelog\n", f"# Changelog\n\n{_ENTRY.format(now)}")
            words = self.root / "env" / "words.py"
            words.write_text(f"{words.read_text(encoding='utf-8')}# {now}\n", encoding="utf-8")
        self.releases.append(f"1.0.{len(self.releases)}")
        return True

    def push(self) -> None:
        with connect("local") as hub:
            push(hub, self.root, self.repo, PushOptions())

    def pull(self, target: Path) -> None:
        reference = parse_reference(f"{self.repo}@main")
        assert isinstance(reference, HubReference)
        with connect("local") as hub:
            pull(hub, reference, target)


_ENTRY = "## [{}] - 2026-01-01\n\n### Fixed\n\n- A word.\n"


def files_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each file that is published."""
    paths = (p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).parts[0] != ".hfenv")
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def files_at(git: pygit2.Repository, commit: pygit2.Commit, lfs: Path) -> dict[str, str]:
    """The same of a commit, with large files from the store; raises Broken where one isn't there whole."""
    found = {}
    pending = [("", commit.tree)]
    while pending:
        prefix, tree = pending.pop()
        for entry in tree:
            if isinstance(entry, pygit2.Tree):
                pending.append((f"{prefix}{entry.name}/", entry))
                continue
            data = git[entry.id].data
            if data.startswith(_POINTER):
                oid = data.split(b"sha256:")[1][:64].decode()
                stored = lfs / oid[:2] / oid[2:4] / oid
                if not stored.is_file() or hashlib.sha256(stored.read_bytes()).hexdigest() != oid:
                    raise Broken(f"{prefix}{entry.name} of {commit.id} points to nothing")
                found[prefix + entry.name] = oid
            else:
                found[prefix + entry.name] = hashlib.sha256(data).hexdigest()
    return found


def check_sound(author: Author) -> int:
    """Whether readers can trust the repository at this moment; returns its number of commits."""
    if not author.git.is_dir():
        return 0
    git = pygit2.Repository(str(author.git))
    lfs = author.work / "home" / "hub" / "lfs"
    head = git.references["refs/heads/main"].peel(pygit2.Commit)
    commits = list(git.walk(head.id))
    check_release(git, head, lfs)
    for name in git.references:
        if name.startswith("refs/tags/"):
            commit = git.references[name].peel(pygit2.Commit)
            record = check_release(git, commit, lfs)
            what, _, version = name.removeprefix("refs/tags/").rpartition("v")
            found = record and (record["components"][what[:-1]]["version"] if what else record["release"])
            if found != version:
                raise Broken(f"{name} stands at {commit.id}, which is {found}")
            if any(carries(git, parent, what[:-1], version) for parent in commit.parents):
                raise Broken(f"{name} doesn't stand at the first commit of its version")
    return len(commits)


def check_release(git: pygit2.Repository, commit: pygit2.Commit, lfs: Path) -> dict | None:
    """A commit's record, held against its files; None for the commit that the hub itself began with."""
    record = record_of(git, commit)
    files = files_at(git, commit, lfs)
    if record is None and set(files) != {".gitattributes"}:
        raise Broken(f"{commit.id} has files and no record")
    for component in (record or {"components": {}})["components"].values():
        for file in component["files"]:
            if files.get(file["path"]) != file["sha256"]:
                raise Broken(f"{file['path']} of {commit.id} isn't what its record says")
    return record


def record_of(git: pygit2.Repository, commit: pygit2.Commit) -> dict | None:
    return json.loads(git[commit.tree["release.json"].id].data) if "release.json" in commit.tree else None


def carries(git: pygit2.Repository, commit: pygit2.Commit, component: str, version: str) -> bool:
    record = record_of(git, commit)
    return bool(record) and version == (record["components"][component]["version"] if component else record["release"])


def check_pushed(author: Author, commits: int, released: bool) -> None:
    """Whether a push that was run again did all there is to do, once."""
    now = check_sound(author)
    if now != (commits or 1) + 1:
        raise Broken(f"{commits} commits became {now}")
    git = pygit2.Repository(str(author.git))
    head = git.references["refs/heads/main"].peel(pygit2.Commit)
    there, here = files_at(git, head, author.work / "home" / "hub" / "lfs"), files_of(author.root)
    there.pop(".gitattributes")
    if there != here:
        raise Broken(f"{sorted(set(there.items()) ^ set(here.items()))} differ between the folder and the hub")
    tags = {name for name in git.references if name.startswith("refs/tags/")}
    wanted = {f"refs/tags/{kind}v{version}" for kind in ("", "code-") for version in author.releases}
    if tags != wanted | {"refs/tags/tasks-v1.0.0", "refs/tags/reward-v1.0.0"}:
        raise Broken(f"the tags are {sorted(tags)}")
    newest = git.references[f"refs/tags/v{author.releases[-1]}"].peel(pygit2.Commit)
    if released and newest.id != head.id:
        raise Broken("the newest release isn't the head")
    state = json.loads((author.root / ".hfenv" / "state.json").read_bytes())
    if state["base"] != str(head.id):
        raise Broken("the folder doesn't remember what it pushed")


def check_clean(work: Path) -> None:
    """Whether the cache is whole, and what killed processes left goes away by itself."""
    checked, damaged = verify_all(repair=False)
    if damaged:
        raise Broken(f"{damaged[0]} of {checked} cached files is damaged")
    hours_ago = time.time() - 2 * _AGED_S
    for path in [p for p in work.rglob("*") if is_staged(p.name) or p.parent == work / "home" / "hub" / "tmp"]:
        os.utime(path, (hours_ago, hours_ago), follow_symlinks=False)


def leftovers(work: Path) -> list[Path]:
    """What is older than a day and still there, in the cache and in the hub's scratch folder."""
    aged = time.time() - _AGED_S
    scratch = [*(work / "home" / "hub" / "tmp").iterdir(), *(p for p in cache_root().rglob("*") if is_staged(p.name))]
    return [path for path in scratch if path.lstat().st_mtime < aged]


class Bench:
    """The trials, with how long each kind of them takes when nobody kills it."""

    def __init__(self, work: Path, seed: int) -> None:
        self.work, self.rng = work, random.Random(seed)  # noqa: S311 - trials that can be repeated
        self.taken = {"first": 0.0, "push": 0.0, "pull": 0.0}
        self.counts: Counter[str] = Counter()
        self.said = work / "said.txt"

    def measure(self, times: int) -> None:
        """Once each without a kill; the last time counts, since the first one warms the disk."""
        for number in range(100_000, 100_000 + times):
            author = Author(self.work, number, self.rng)
            author.edit()
            self._timed("first", author.push)
            author.edit()
            self._timed("push", author.push)
            self._timed("pull", lambda author=author: author.pull(self.work / f"t{author.number}"))

    def _timed(self, kind: str, work) -> None:
        before = time.monotonic()
        self._complete(work)
        self.taken[kind] = time.monotonic() - before

    def _complete(self, work) -> None:
        code = finish(start(work, self.said))
        if code:
            raise Broken(f"the second run ended with {code}: {self.said.read_text(encoding='utf-8')[-2000:]}")

    def _killed(self, kind: str, work) -> None:
        before = time.monotonic()
        code = kill_after(start(work, self.said), self.rng.uniform(0, 1.05 * self.taken[kind]))
        if code > 0:
            raise Broken(f"before the kill it ended with {code}: {self.said.read_text(encoding='utf-8')[-2000:]}")
        if code:
            self.taken[kind] *= 1.02  # the machine may have more to do than when it was measured, or less:
        else:
            self.taken[kind] = (self.taken[kind] + time.monotonic() - before) / 2
        self.counts["killed" if code else "done before"] += 1

    def push(self, author: Author) -> None:
        commits = check_sound(author)
        released = author.edit()
        self._killed("push" if author.edits > 1 else "first", author.push)
        now = check_sound(author)
        if now > (commits or 1) + 1:
            raise Broken(f"a killed push made {now - commits} commits")
        self._complete(author.push)
        check_pushed(author, commits, released)

    def pull(self, author: Author) -> None:
        target = self.work / f"pulled{author.number}"
        self._killed("pull", lambda: author.pull(target))
        if not target.exists():
            self._complete(lambda: author.pull(target))
        there = files_of(target)
        there.pop(".gitattributes")
        if there != files_of(author.root):
            raise Broken(f"{target} isn't what was pushed")
        shutil.rmtree(target)

    def run(self, kills: int) -> None:
        """So many that were killed in the middle; those that were done before count for nothing."""
        self.measure(2 if kills > PER_REPOSITORY else 1)
        author = Author(self.work, 0, self.rng)
        for trial in count():
            if self.counts["killed"] >= kills:
                break
            if author.edits >= PER_REPOSITORY:
                check_clean(self.work)
                shutil.rmtree(cache_root(), ignore_errors=True)
                author = Author(self.work, trial, self.rng)
            if author.edits and self.rng.random() < 0.3:
                self.pull(author)
            else:
                self.push(author)
            if (trial + 1) % 100 == 0:
                print(f"{self.counts['killed']} of {kills}: {dict(self.counts)}", file=sys.stderr)
        check_clean(self.work)
        self.push(author)
        self.pull(author)
        if old := leftovers(self.work):
            raise Broken(f"{old[0]} was never removed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hfenv-killed-") as folder:
        work = Path(folder).resolve()
        warm(work)
        bench = Bench(work, options.seed)
        began = time.monotonic()
        try:
            bench.run(options.trials)
        except Broken as error:
            print(f"broken (seed {options.seed}) after {dict(bench.counts)}: {error}")
            return 1
        print(f"{options.trials} killed in {time.monotonic() - began:.0f} s ({dict(bench.counts)}); nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
