"""A thousand cards in one process: what one takes on the median. Exits 1 where that is over the bound.

    python benchmarks/validate_cards.py
    python benchmarks/validate_cards.py --cards 200 --bound 5

Good cards of the corpus and the cards that `hfenv init` writes, each made different by a line, are judged in turn as
`hfenv validate README.md ...` does it. Times are the processor's, so that other work on the machine doesn't count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cards() -> list[bytes]:
    """Cards as authors write them: the corpus, the examples, and every template as `init` fills it in."""
    import jinja2

    found = [path.read_bytes() for path in sorted((ROOT / "tests" / "cards" / "good").glob("*.md"))]
    found += [path.read_bytes() for path in sorted((ROOT / "examples").glob("*/README.md"))]
    for template in sorted((ROOT / "templates").glob("*/README.md.jinja")):
        text = jinja2.Template(template.read_text(encoding="utf-8"), keep_trailing_newline=True).render(
            name="my-environment", module="my_environment"
        )
        found.append(text.encode())
    return found


def main() -> int:
    arguments = argparse.ArgumentParser(description="Time the validation of cards.")
    arguments.add_argument("--cards", type=int, default=1000)
    arguments.add_argument("--bound", type=float, default=5.0, help="milliseconds on the median")
    options = arguments.parse_args()
    from hfenv.components.validation import validate

    kinds = cards()
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number in range(options.cards):
            path = Path(folder) / f"{number}.md"
            path.write_bytes(kinds[number % len(kinds)] + f"\n\nNumber {number}.\n".encode())
            paths.append(path)
        began = started = time.process_time()
        reports = [validate(paths[0])]
        first = (time.process_time() - started) * 1000
        times = []
        for path in paths[1:]:
            started = time.process_time()
            reports.append(validate(path))
            times.append((time.process_time() - started) * 1000)
        total = time.process_time() - began
    wrong = [finding for report in reports for finding in report.findings]
    ordered = sorted(times)
    median = statistics.median(ordered)
    print(
        f"{options.cards} cards of {len(kinds)} kinds: median {median:.1f} ms, 95 % within "
        f"{ordered[int(0.95 * len(ordered))]:.1f} ms, slowest {ordered[-1]:.1f} ms, the first {first:.0f} ms, "
        f"all {total:.1f} s; {len(wrong)} findings; bound {options.bound:g} ms"
    )
    for finding in wrong[:5]:
        print(f"  {finding.place}: {finding.rule} {finding.message}", file=sys.stderr)
    return int(median > options.bound or bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
