"""Checks of the Hub's own fields, as its list of licences and its form of language codes have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hfenv.card.guessing import nearest
from hfenv.card.nodes import EntryNode, ScalarNode, find
from hfenv.card.quoting import short
from hfenv.card.reader import Card
from hfenv.card.repair import replace_span
from hfenv.findings import Finding, Repair
from hfenv.rules.catalogue import severity

RULES = ("HFE604", "HFE605", "HFE606")
LICENCES = frozenset(  # as words, since a list of a hundred would be a page long
    """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0 bigcode-openrail-m
    openrail++ afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda cc cc0-1.0 cc-by-2.0
    cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nd-4.0
    cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cdla-sharing-1.0
    cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 eupl-1.2 agpl-3.0 gfdl
    gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research intel-research lppl-1.3c ms-pl apple-ascl apple-amlr
    mpl-2.0 odc-by odbl open-mdw ofl-1.1 osl-3.0 postgresql ncsa unlicense zlib pddl lgpl-lr deepfloyd-if-license
    fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 gemma grok2-community
    unknown other
    """.split()  # noqa: SIM905
)
_FAMILIES = ("apache", "gpl", "lgpl", "agpl", "bsd", "cc-by", "cc-by-sa", "mit")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_SPECIAL_LANGUAGES = frozenset(("multilingual", "code"))
_CODES = {
    "english": "en", "chinese": "zh", "mandarin": "zh", "中文": "zh", "german": "de", "french": "fr", "spanish": "es",
    "japanese": "ja", "korean": "ko", "russian": "ru", "portuguese": "pt", "italian": "it", "arabic": "ar",
    "hindi": "hi", "python": "code", "sql": "code",
}  # fmt: skip


def check_publishing(card: Card) -> Iterator[Finding]:
    """Licences that the Hub doesn't know, `other` without a name, and languages that aren't codes."""
    for pointer, licence in _texts(card.front_matter, "license"):
        if licence not in LICENCES:
            yield _unknown_licence(card, pointer, licence)
    other = [pointer for pointer, licence in _texts(card.front_matter, "license") if licence == "other"]
    if other and not {"license_name", "license_link"} & card.front_matter.keys():
        message = "the licence is 'other', and nothing says which one that is"
        fix = "Add 'license_name: NAME' and 'license_link: LICENSE', the file or an address."
        yield _finding(card, "HFE605", other[0], message, fix)
    for pointer, language in _texts(card.front_matter, "language"):
        if not _LANGUAGE.fullmatch(language) and language not in _SPECIAL_LANGUAGES:
            code = _CODES.get(language.casefold())
            if code is None and _LANGUAGE.fullmatch(language.lower()):
                code = language.lower()
            message = f"the language '{short(language)}' is no language code"
            fix = f"Write {code}." if code else "Write ISO 639 codes such as en or zh."
            yield _finding(card, "HFE606", pointer, message, fix, certain=code)


def _texts(front_matter: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    """The texts of a field that holds one or a list of them, with their pointers; others break the schema."""
    value = front_matter.get(key)
    if isinstance(value, str) and value:
        yield f"/{key}", value
    for index, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, str) and item:
            yield f"/{key}/{index}", item


def _unknown_licence(card: Card, pointer: str, licence: str) -> Finding:
    folded = re.sub(r"[\s_]+", "-", licence.strip().lower())
    certain = next((name for name in (folded, folded.removesuffix("-only")) if name in LICENCES), None)
    later = folded.removesuffix("-or-later")
    meant = certain or (later if later in LICENCES else nearest(licence, sorted(LICENCES)))
    if meant is None and (family := next((f for f in _FAMILIES if folded.startswith(f)), None)):
        known = sorted(name for name in LICENCES if name.startswith(family))
        fix = f"Write one of {', '.join(known[:6])}, or other with license_name and license_link."
    else:
        fix = f"Did you mean '{meant}'?" if meant else "Write an identifier of the Hub's list, or other."
    message = f"the Hub knows no licence '{short(licence)}'"
    return _finding(card, "HFE604", pointer, message, fix, certain=certain)


def _finding(card: Card, rule: str, pointer: str, message: str, fix: str, *, certain: str | None = None) -> Finding:
    at = card.place(pointer)
    repair = _plain_text(card, pointer, certain) if certain is not None else None
    return Finding(rule, severity(rule), card.path, message, pointer, at.line, at.column, fix, repair)


def _plain_text(card: Card, pointer: str, text: str) -> Repair | None:
    """Another text in the place of a scalar, in the quotes that it has."""
    chain, exists = find(card.root, pointer)
    node = chain[-1].value if isinstance(chain[-1], EntryNode) else chain[-1]
    if not exists or not isinstance(node, ScalarNode) or node.style not in ("", "'", '"'):
        return None
    return replace_span(card, node.start, node.end, f"{node.style}{text}{node.style}")
