"""`hfenv review`: rate a release on the hub, with a text, or print the reviews that there are."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hfenv.cli.escapes import said
from hfenv.cli.info import remote
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import NotFoundError, UsageError
from hfenv.hub.client import connect

app = new_app()


@app.command("review")
def review_command(
    ref: Annotated[str, typer.Argument(help="org/name, the newest release, or org/name@VERSION.")],
    rating: Annotated[int | None, typer.Option("--rating", min=1, max=5, help="1 to 5; 5 is the best.")] = None,
    text: Annotated[str | None, typer.Option("-m", "--message", help="Why.")] = None,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Publish a rating with its reason as a discussion; without --rating, print the reviews.

    One counts per user and release: who reviews a release again replaces the earlier review.
    """
    from hfenv.hub.registry.reviews import review, talk
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
    rows = [(f"{r.rating}/5", r.release, said(r.author), r.day, f"#{r.number}") for r in found.reviews]
    human = table(("rating", "release", "by", "on", "discussion"), rows) if rows else "No reviews yet."
    data = {"repo": reference.repo, "mean": found.mean, "reviews": [asdict(r) for r in found.reviews]}
    output.result("review", data, human, quiet=f"{found.mean:.2f}" if found.mean is not None else "")
