"""`hfenv review`: rate a release on the hub, with a text, or print the reviews that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from hfenv.cli.escapes import said, unlike_a_command
from hfenv.cli.info import remote
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import NotFoundError, UsageError
from hfenv.hub.client import connect

if TYPE_CHECKING:
    from hfenv.components.reviews import Review
    from hfenv.hub.registry.reviews import Talk

app = new_app()


@app.command("review")
def review_command(
    ref: Annotated[str, typer.Argument(help="org/name, the newest release, or org/name@VERSION.")],
    rating: Annotated[int | None, typer.Option("--rating", min=1, max=5, help="1 to 5; 5 is the best.")] = None,
    text: Annotated[str | None, typer.Option("-m", "--message", help="Why.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="How many are printed, the newest first.")] = 10,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Publish a rating with its reason as a discussion; without --rating, print the reviews.

    One counts per user and release: who reviews a release again replaces the earlier review.
    """
    from hfenv.hub.registry.reviews import review, talk, texts
    from hfenv.hub.resolve import read_refs

    reference = remote(ref)
    output = Output(fmt)
    if (rating is None) != (text is None):
        raise UsageError("A review has a rating and a text.", "Write --rating 4 -m TEXT.")
    with connect(hub) as opened:
        if rating is not None and text is not None:
            made = review(opened, reference, rating, text)
            human = said(f"Discussion {made.number}: {made.rating}/5 for {reference.repo}@{made.release}.")
            output.result("review", {"repo": reference.repo, **asdict(made)}, human, quiet=str(made.number))
            return
        found = talk(opened, reference.repo, read_refs(opened, reference.repo).versions("v"))
        if found is None:
            raise NotFoundError(f"{reference.repo} has no discussions there.", "They may be turned off.")
        shown = found.reviews[:limit]
        written = texts(opened, reference.repo, shown)
    data = {
        "repo": reference.repo,
        "mean": found.mean,
        "count": len(found.reviews),
        "reviews": [{**asdict(one), "text": written[one.number]} for one in shown],
    }
    human = "\n".join(_lines(found, shown, written))
    output.result("review", data, human, quiet=f"{found.mean:.2f}" if found.mean is not None else "")


def _lines(found: Talk, shown: Sequence[Review], written: Mapping[int, str]) -> Iterator[str]:
    if found.mean is None:
        yield "No reviews yet."
        return
    yield f"{len(found.reviews)} reviews, mean {found.mean:.1f} of 5"
    for one in shown:
        yield f"\n{one.rating}/5 for {one.release} by {said(one.author)} on {one.day} (discussion {one.number})"
        yield from (f"    {unlike_a_command(said(line))}".rstrip() for line in written[one.number].splitlines())
    if (more := len(found.reviews) - len(shown)) > 0:
        yield f"\n{more} more; --limit shows them."
