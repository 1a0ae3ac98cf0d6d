"""The page of all releases, and the way to a comparison of two of them."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from hfenv.localhub.errors import bad_request
from hfenv.localhub.names import whole_number
from hfenv.localhub.pages.environment import head_marks
from hfenv.localhub.pages.releases import changes, release_tags, releases
from hfenv.localhub.pages.repository import frame, may_see_files, opened
from hfenv.localhub.pages.visit import HEADERS, Visit

PAGE = 20
_CHOICES = 500  # releases that can be chosen to compare


def show(visit: Visit) -> Response:
    """Release by release, the newest first."""
    shown = opened(visit)
    git = shown.repo.git
    tags = release_tags(git)
    last = max(1, -(-len(tags) // PAGE))
    number = min(max(1, whole_number(visit.call.value("page") or "") or 1), last)
    # One more than is shown: what a release changed is told from the one before it.
    wanted = tags[(number - 1) * PAGE : number * PAGE + 1]
    found = releases(git, wanted)
    visible = [release for release in found if f"v{release.version}" in {tag for tag, _ in wanted[:PAGE]}]
    before = dict(zip((release.version for release in found), [*found[1:], None], strict=False))
    with_text = may_see_files(visit, shown.repo)
    return visit.page(
        "versions.html.jinja",
        **frame(visit, shown, "versions"),
        releases=[
            (each, before[each.version], changes(git, each, before[each.version]) if with_text else ())
            for each in visible
        ],
        broken=len(wanted) - len(found),
        marks=head_marks(shown),
        tags=[tag for tag, _ in tags[:_CHOICES]],
        number=number,
        last=last,
    )


def choose(visit: Visit) -> Response:
    """From the form of two releases to their comparison."""
    before, after = visit.call.value("from"), visit.call.value("to")
    if not before or not after:
        raise bad_request("Choose two releases to compare.")
    target = visit.address(visit.call.repo_id, "compare", f"{before}...{after}")
    return RedirectResponse(target, 303, {**HEADERS})
