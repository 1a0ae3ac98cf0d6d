"""Many writers against one repository of a served hub: in each round one push lands, and every other one is told why.

Each round all writers start from the same commit with an edit of their own and push at once. Exactly one may win; the
others exit 5 with what moved, and their folders stay as they were. Then all of them take over the winner's state. At
the end every winner's edit is still there, and the history has one commit a round.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pygit2
from forking import finish, start, warm

from hfenv.errors import HfenvError
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, push
from hfenv.localhub.serve import serve
from hfenv.localhub.users import Role, TokenStore
from tests.support import write_environment

WRITERS, ROUNDS = 16, 100
REPO = "team/shared"


class Broken(Exception):
    """What must never happen, in one sentence."""


@dataclass
class Writer:
    """A process that pushes its folder whenever it is told to, and answers how that ended."""

    number: int
    root: Path
    child: int
    orders: int  # file numbers of its pipes
    answers: int

    def answer(self) -> dict:
        text = b""
        while not text.endswith(b"\n"):
            part = os.read(self.answers, 65536)
            if not part:
                raise Broken(f"writer {self.number} died")
            text += part
        return json.loads(text)


def serve_orders(root: Path, url: str, orders: int, answers: int) -> None:
    """In a writer's process: push once for each byte that comes."""
    with connect(url) as hub:
        while os.read(orders, 1) == b"p":
            try:
                result = push(hub, root, REPO, PushOptions())
                said = {"code": 0, "revision": result.revision, "text": ""}
            except HfenvError as error:
                said = {"code": int(error.exit_code), "revision": None, "text": str(error)}
            os.write(answers, json.dumps(said).encode() + b"\n")


def make_writer(work: Path, number: int, url: str) -> Writer:
    orders, mine = os.pipe()
    theirs, answers = os.pipe()
    root = work / f"writer{number}"
    child = start(lambda: serve_orders(root, url, orders, answers), work / f"writer{number}.txt")
    os.close(orders)
    os.close(answers)
    return Writer(number, root, child, mine, theirs)


@contextmanager
def served(work: Path) -> Iterator[str]:
    """The address of a hub in a process of its own; this process's token may write to the team's repositories."""
    os.environ["HF_TOKEN"] = TokenStore(work / "hub").create("team", Role.WRITE)
    ready, tell = os.pipe()

    def run() -> None:
        serve(work / "hub", port=0, on_ready=lambda url: void(os.write(tell, url.encode())))

    child = start(run, work / "hub.txt")
    os.close(tell)
    url = os.read(ready, 1000).decode()
    if not url:
        raise Broken(f"the hub didn't start: {(work / 'hub.txt').read_text(encoding='utf-8')[-500:]}")
    try:
        yield url
    finally:
        os.kill(child, signal.SIGTERM)
        finish(child)


def void(_: object) -> None:
    """For a callback that must give nothing back."""


def contents(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def play(writers: list[Writer], number: int) -> Writer:
    """One round; returns the writer whose push landed. Raises Broken for anything but one winner and told losers."""
    for writer in writers:
        note = writer.root / "docs" / f"round{number}-{writer.number}.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text(f"{writer.number} was here.\n", encoding="utf-8")
    before = {writer.number: contents(writer.root) for writer in writers}
    for writer in writers:
        os.write(writer.orders, b"p")
    answers = {writer.number: writer.answer() for writer in writers}
    codes = Counter(answer["code"] for answer in answers.values())
    if codes != Counter({0: 1, 5: len(writers) - 1}):
        raise Broken(f"round {number} ended with {dict(codes)}: {answers}")
    winner = next(writer for writer in writers if answers[writer.number]["code"] == 0)
    for writer in writers:
        if writer is winner:
            continue
        text = answers[writer.number]["text"]
        if "moved" not in text or f"round{number}-{winner.number}.md" not in text or "hfenv pull --update" not in text:
            raise Broken(f"a loser of round {number} was told: {text}")
        if contents(writer.root) != before[writer.number]:
            raise Broken(f"a loser's folder changed in round {number}")
        shutil.rmtree(writer.root)
        shutil.copytree(winner.root, writer.root)
    return winner


def check(work: Path, winners: list[Writer]) -> None:
    """Every winner's edit is at the head, and nothing else is."""
    git = pygit2.Repository(str(work / "hub" / "datasets" / f"{REPO}.git"))
    head = git.references["refs/heads/main"].peel(pygit2.Commit)
    notes = {entry.name for entry in head.tree["docs"]}
    if notes != {f"round{number}-{writer.number}.md" for number, writer in enumerate(winners)}:
        raise Broken(f"the head has {sorted(notes)}")
    if (count := len(list(git.walk(head.id)))) != len(winners) + 2:
        raise Broken(f"{len(winners)} rounds made {count} commits")


def run(work: Path, writers: int, rounds: int) -> Counter[int]:
    """All rounds; how often each writer won."""
    with served(work) as url:
        first = write_environment(work / "writer0")

        def publish() -> None:
            with connect(url) as hub:
                push(hub, first, REPO, PushOptions())

        if code := finish(start(publish, work / "first.txt")):
            raise Broken(f"the first push ended with {code}: {(work / 'first.txt').read_text(encoding='utf-8')[-500:]}")
        for number in range(1, writers):
            shutil.copytree(first, work / f"writer{number}")
        team = [make_writer(work, number, url) for number in range(writers)]
        try:
            winners = [play(team, number) for number in range(rounds)]
        finally:
            for writer in team:
                with suppress(OSError):
                    os.write(writer.orders, b"q")
                finish(writer.child)
        check(work, winners)
    return Counter(writer.number for writer in winners)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=WRITERS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hfenv-writers-") as folder:
        work = Path(folder).resolve()
        warm(work)
        began = time.monotonic()
        try:
            won = run(work, options.writers, options.rounds)
        except Broken as error:
            print(f"broken: {error}")
            return 1
        taken = time.monotonic() - began
        print(f"{options.rounds} rounds of {options.writers} writers in {taken:.0f} s, won by {len(won)} of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
