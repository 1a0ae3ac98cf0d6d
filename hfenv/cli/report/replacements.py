"""A finding's byte edits as SARIF replacements: regions of the file in lines and columns, and what comes there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hfenv.card.nodes import LineTable
from hfenv.findings import Edit, Finding
from hfenv.secret_shapes import holds_secret

_BOM = b"\xef\xbb\xbf"


def replacements(finding: Finding, private: frozenset[tuple[str, int]]) -> list[dict[str, Any]]:
    """One for each edit; none at all for a cure that isn't text, or that touches a line which is never shown."""
    if finding.repair is None or not finding.repair.edits or finding.private:
        return []
    try:
        content = Path(finding.path).read_bytes()
        found = [_replacement(edit, content) for edit in finding.repair.edits]
    except (OSError, UnicodeDecodeError):
        return []
    if any(holds_secret(line) for edit in finding.repair.edits for line in edit.text.decode().splitlines()):
        return []
    touched = {line for _, lines in found for line in lines}
    return [] if any((finding.path, line) in private for line in touched) else [one for one, _ in found]


def _replacement(edit: Edit, content: bytes) -> tuple[dict[str, Any], range]:
    mark = len(_BOM) if content.startswith(_BOM) else 0
    inserted = edit.text.decode()
    before = content[mark : edit.start].decode()
    deleted = content[max(edit.start, mark) : edit.end].decode()
    table = LineTable.of(content[mark:].decode())
    start, end = table.position(len(before)), table.position(len(before) + len(deleted))
    region: dict[str, Any]
    if edit.start < mark:  # columns don't count the mark, so that only bytes can name it
        region = {"byteOffset": edit.start, "byteLength": edit.end - edit.start}
    else:
        region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
    one: dict[str, Any] = {"deletedRegion": region}
    if inserted:
        one["insertedContent"] = {"text": inserted}
    return one, range(start.line, end.line + 1)
