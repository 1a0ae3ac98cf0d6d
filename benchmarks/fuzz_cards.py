"""Fuzz the card reader and its checks with atheris, and report the slowest input and the memory it took.

    python -m pip install 'hfenv[bench]'
    python benchmarks/fuzz_cards.py                      # 200,000 inputs
    python benchmarks/fuzz_cards.py --runs 5000 --seed 7

Coverage of `hfenv.card` guides the mutation of the cards under `tests/cards`, by lines, values and bytes.
Anything but findings or a CardError is a crash: the input is written to `--out` and the exit code is 1, as it is for an
input that takes over a second of the processor.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import re
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_S = 1.0
LARGEST_INPUT = 64 * 1024
WORDS = (
    "---\n", "environment:", 'spec: "1"', "license: ", "tags: [", "version: ", "1.10", "no", "12:30", "017", "0o17",
    "1_000", "1e3", "4225e04", ".inf", ".nan", "2026-01-31", "<<: ", "!!str ", "&a ", "*a", "%YAML 1.1", "...", "|+",
    ">-", "? ", "\r\n", "\r", "\ufeff", "\u2028", "\x85", "：", "splits: {", "config: {", "low: [", "parts: {",
    "services: [{", "## ", "```", "<!--", "===", "max_steps: ", "hfenv: ignore[HFE012]",
)  # fmt: skip


SCALARS = (
    "no", "1.10", "017", "0o17", "1_000", "1e3", "4225e04", ".inf", ".nan", "2026-01-31", "~", "[]", "{}", '"5"', "5.0",
    "v1.2", "banana", "[1, 2]", "{a: b}", "|", ">-", "Seeded", "“x”", "9" * 400, "", "'", "-1", "true", "x: y",
)  # fmt: skip


class Mutator:
    """Other lines and values, so that a good part of the inputs is still YAML; libFuzzer's bytes for the rest."""

    def __init__(self, cards: list[bytes], by_bytes: Callable[[bytes, int], bytes]) -> None:
        self.lines = [line for card in cards for line in card.splitlines(keepends=True)]
        self.by_bytes = by_bytes

    def __call__(self, raw: bytes, largest: int, seed: int) -> bytes:
        draw = random.Random(seed)  # noqa: S311
        if draw.random() < 0.3:
            return self.by_bytes(raw, largest)
        lines = raw.splitlines(keepends=True) or [b""]
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(lines))
            kind = draw.randrange(6)
            if kind == 0:
                lines.insert(at, draw.choice(self.lines))
            elif kind == 1 and len(lines) > 1:
                del lines[at]
            elif kind == 2:
                other = draw.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            elif kind == 3:
                lines.insert(at, lines[at])
            else:
                lines[at] = self._other_value(draw, lines[at])
        return b"".join(lines)[:largest]

    def _other_value(self, draw: random.Random, line: bytes) -> bytes:
        """The line with another scalar behind one of its colons, up to the end, the comma or the brace."""
        parts = re.split(rb"(: )([^,}\]\r\n]*)", line)
        places = range(2, len(parts), 3)
        if not places:
            return line
        parts[draw.choice(places)] = draw.choice(SCALARS).encode()
        return b"".join(parts)


class Watch:
    """Counts inputs and remembers the slowest one."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        self.done = 0
        self.findings = 0
        self.unreadable = 0
        self.slowest = 0.0
        self.slowest_input = b""
        self.started = time.perf_counter()

    def report(self, status: int) -> None:
        seconds = time.perf_counter() - self.started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{self.done:,} inputs in {seconds:.0f} s ({self.done / seconds:.0f}/s), {self.unreadable:,} unreadable, "
            f"{self.findings:,} findings; slowest {self.slowest * 1000:.0f} ms ({len(self.slowest_input):,} bytes), "
            f"peak memory {memory:.0f} MiB"
        )
        sys.stdout.flush()
        os._exit(status)  # libFuzzer would end the process by its own means, without this report


def main() -> None:
    arguments = argparse.ArgumentParser(description="Fuzz the card reader and its checks.")
    arguments.add_argument("--runs", type=int, default=200_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=Path, default=Path("fuzz-cards"), help="where a bad input is written")
    options = arguments.parse_args()
    try:
        import atheris
    except ImportError:
        raise SystemExit("atheris is missing: python -m pip install 'hfenv[bench]'") from None
    with atheris.instrument_imports(include=["hfenv.card"]):
        import hfenv.card.checks
        import hfenv.card.wording  # otherwise imported at the first violation, and not instrumented
    assert hfenv.card.wording
    watch = Watch(options.runs)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder)
        for number, path in enumerate(sorted((ROOT / "tests" / "cards").rglob("*.md"))):
            (corpus / f"{number:03}.md").write_bytes(path.read_bytes())
        words = corpus.with_suffix(".dict")
        escaped = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in WORDS)
        words.write_text("".join(f'"{word}"\n' for word in escaped), encoding="utf-8")
        flags = [f"-seed={options.seed}", f"-max_len={LARGEST_INPUT}", f"-dict={words}", "-verbosity=0", "-timeout=60"]
        cards = [path.read_bytes() for path in sorted(corpus.iterdir())]
        # `Setup` gives atheris another Mutate than the one it has now.
        mutator = Mutator(cards, lambda raw, most: atheris.Mutate(raw, most))  # noqa: PLW0108
        target = functools.partial(one, watch=watch, out=options.out)
        atheris.Setup([sys.argv[0], *flags, str(corpus)], target, custom_mutator=mutator)
        atheris.Fuzz()


def one(raw: bytes, watch: Watch, out: Path) -> None:
    """Judge one input, and what its repairs make of it; ends the run where something is wrong or all is done."""
    started = time.process_time()
    try:
        count, after = judge(raw)
        seconds = time.process_time() - started
        if after != raw:
            judge(after)
    except Exception:
        traceback.print_exc()
        _keep(out, raw, "crash")
        watch.report(1)
    watch.done += 1
    watch.unreadable += count < 0
    watch.findings += abs(count)
    if seconds > watch.slowest:
        watch.slowest, watch.slowest_input = seconds, raw
    if seconds > LONGEST_S:
        _keep(out, raw, "slow")
        watch.report(1)
    if watch.done >= watch.runs:
        watch.report(0)


def judge(raw: bytes) -> tuple[int, bytes]:
    """The number of findings, and the bytes with their repairs applied; -1 for a card that can't be read."""
    from hfenv.card.checks import check_card
    from hfenv.card.problem import CardError
    from hfenv.card.reader import parse_card

    try:
        card = parse_card(raw)
    except CardError as error:
        found, count = [error.finding()], -1
    else:
        assert card.raw == raw
        found = check_card(card)
        count = len(found)
    edits = sorted((e for f in found if f.repair for e in f.repair.edits), key=lambda e: (e.start, e.end))
    after, last = [], 0
    for edit in edits:
        assert 0 <= edit.start <= edit.end <= len(raw)
        if edit.start >= last:
            after += [raw[last : edit.start], edit.text]
            last = edit.end
    return count, b"".join([*after, raw[last:]])


def _keep(folder: Path, raw: bytes, kind: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{kind}.md"
    target.write_bytes(raw)
    print(f"{kind}: the input is in {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
