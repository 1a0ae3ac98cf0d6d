"""The last look before bytes leave this machine: changed files that hold a token, a key or a password stop a push."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hfenv.card.reader import read_card
from hfenv.components.checks.publishing import secret_findings
from hfenv.components.checks.suppress import find_comments, suppress
from hfenv.components.checks.unmerged import conflict_line
from hfenv.components.journal import REMOTE_SUFFIX
from hfenv.components.ownership import CARD_NAME, FileEntry, owner_of
from hfenv.components.secrets.known import CleanFiles
from hfenv.errors import ConflictError, FindingsError
from hfenv.findings import Finding, Report
from hfenv.hub.plan import PushPlan

_RULE = "HFE608"
_LISTED = 10


def refuse_secrets(plan: PushPlan, changed: Collection[str]) -> None:
    """Raises FindingsError with file, line and kind when one of the changed files holds a secret.

    Files that the hub has already aren't looked through, nor those whose content was found clean before. A comment that
    ignores HFE608 with a reason counts, as it does for `validate`.
    """
    _refuse_unmerged(plan)
    clean = CleanFiles.of(plan.root)
    found: list[Finding] = []
    for path in sorted(changed):
        found += secret_findings(path, clean.hits(path, plan.contents[path].sha256, plan.content(path)))
    clean.save(whole=False)
    if found:
        found = _not_ignored(plan, found)
    if found:
        listed = [f"{finding.place} {finding.rule} {finding.message}" for finding in found[:_LISTED]]
        more = [f"and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
        what = (
            "file that would be pushed holds"
            if len({f.path for f in found}) == 1
            else "files that would be pushed hold"
        )
        raise FindingsError(
            f"{len({f.path for f in found})} {what} what looks like a secret; nothing was sent.",
            "\n  ".join(
                [*listed, *more, f"Take it out and revoke it; what is made up is told as in: hfenv rule {_RULE}"]
            ),
        )


def _refuse_unmerged(plan: PushPlan) -> None:
    # The folder counts as built on what was merged into it: without this, one side's work would be overwritten.
    for path, source in plan.files.items():
        unsettled = path.endswith(REMOTE_SUFFIX) and path.removesuffix(REMOTE_SUFFIX) in plan.files
        if unsettled or conflict_line(source, plan.size(path)) is not None:
            raise ConflictError(
                f"{path}: a merge isn't settled.", "Settle it, then push: hfenv validate shows the places."
            )


def _not_ignored(plan: PushPlan, found: list[Finding]) -> list[Finding]:
    paths = {finding.path for finding in found}
    files = [FileEntry(path, 0, "", False, owner_of(path)) for path in sorted(paths) if (plan.root / path).is_file()]
    comments = find_comments(plan.root, files, read_card(Path(plan.root) / CARD_NAME))
    kept, _ = suppress(found, comments, [_RULE])
    return list(Report.of((finding for finding in kept if finding.rule == _RULE), [_RULE]).findings)
