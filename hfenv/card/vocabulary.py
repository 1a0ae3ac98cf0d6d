"""The Hub's licences and the codes of languages, and what authors write in their place."""

from __future__ import annotations

import re

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
_FAMILIES = ("apache", "agpl", "lgpl", "gpl", "bsd", "cc-by", "cc-by-sa")
# Words that a licence's name has or lacks without meaning another one.
_FILLERS = frozenset(
    """
    license licence licensed the version ver public gnu software free and under international unported style spdx
    dedication universal deed
    """.split()  # noqa: SIM905
)
# What is left of a name, its words joined by dashes, where that isn't the Hub's identifier itself.
_LICENCE_NAMES = {
    "expat": "mit", "x11-mit": "mit", "asl-2.0": "apache-2.0", "apache-foundation-2.0": "apache-2.0",
    "lesser-gpl-3.0": "lgpl-3.0", "lesser-gpl-2.1": "lgpl-2.1", "affero-gpl-3.0": "agpl-3.0", "mozilla-2.0": "mpl-2.0",
    "eclipse-2.0": "epl-2.0", "eclipse-1.0": "epl-1.0", "european-union-1.2": "eupl-1.2", "bsd-2": "bsd-2-clause",
    "bsd-3": "bsd-3-clause", "2-clause-bsd": "bsd-2-clause", "3-clause-bsd": "bsd-3-clause",
    "simplified-bsd": "bsd-2-clause", "new-bsd": "bsd-3-clause", "modified-bsd": "bsd-3-clause",
    "revised-bsd": "bsd-3-clause", "cc-0": "cc0-1.0", "cc-zero": "cc0-1.0", "cc-zero-1.0": "cc0-1.0",
    "cc-0-1.0": "cc0-1.0", "boost": "bsl-1.0", "boost-1.0": "bsl-1.0", "open-database": "odbl", "odbl-1.0": "odbl",
    "odc-odbl": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl", "sil-ofl-1.1": "ofl-1.1",
    "sil-open-font-1.1": "ofl-1.1", "zlib-libpng": "zlib",
}  # fmt: skip
_CC_PARTS = {
    "attribution": "by", "noncommercial": "nc", "non-commercial": "nc", "sharealike": "sa", "share-alike": "sa",
    "noderivatives": "nd", "no-derivatives": "nd", "noderivs": "nd", "no-derivs": "nd",
}  # fmt: skip
_VERSION = re.compile(r"(?<![a-z0-9.])v(?:ersion)?[ -]*(?=\d)|(?<=[a-z])v(?=\d)")

# ISO 639-1, all of it.
_TWO_LETTERS = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd
    ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr
    ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()  # noqa: SIM905
)
_SPECIAL_LANGUAGES = frozenset(("multilingual", "code"))
_LANGUAGES = {
    "english": "en", "chinese": "zh", "mandarin": "zh", "中文": "zh", "汉语": "zh", "简体中文": "zh", "繁體中文": "zh",
    "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es", "español": "es",
    "japanese": "ja", "日本語": "ja", "korean": "ko", "한국어": "ko", "russian": "ru", "русский": "ru",
    "portuguese": "pt", "português": "pt", "italian": "it", "italiano": "it", "arabic": "ar", "العربية": "ar",
    "hindi": "hi", "हिन्दी": "hi", "dutch": "nl", "polish": "pl", "turkish": "tr", "vietnamese": "vi", "thai": "th",
    "indonesian": "id", "ukrainian": "uk", "czech": "cs", "swedish": "sv", "greek": "el", "hebrew": "he",
    "persian": "fa", "farsi": "fa", "bengali": "bn", "urdu": "ur", "tamil": "ta", "danish": "da", "finnish": "fi",
    "norwegian": "no", "hungarian": "hu", "romanian": "ro", "latin": "la", "swahili": "sw", "malay": "ms",
    "catalan": "ca", "bulgarian": "bg", "croatian": "hr", "serbian": "sr", "slovak": "sk", "python": "code",
    "sql": "code", "javascript": "code", "java": "code", "c++": "code",
}  # fmt: skip


def is_language(text: str) -> bool:
    """Whether the Hub takes it: ISO 639 codes of two or three letters (qaa to qtz stand for none), and two words."""
    if text in _TWO_LETTERS or text in _SPECIAL_LANGUAGES:
        return True
    return re.fullmatch(r"[a-z]{3}", text) is not None and re.fullmatch(r"q[a-t][a-z]", text) is None


def language_code(text: str) -> str | None:
    """The code that was surely meant: English is en, and zh-CN is a kind of zh."""
    folded = text.strip().casefold()
    if (code := _LANGUAGES.get(folded)) is not None:
        return code
    first = re.split(r"[-_]", folded, maxsplit=1)[0]
    tagged = re.fullmatch(r"[a-z]{2,3}(?:[-_][a-z0-9]{1,8})*", folded) is not None
    if folded in _SPECIAL_LANGUAGES:
        return folded
    return first if tagged and is_language(first) else None


def has_variant(text: str) -> bool:
    """Whether a tag such as zh-CN says more than the language."""
    return re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})+", text.strip()) is not None


def licence_of(text: str) -> str | None:
    """The Hub's identifier of a licence that is written in another way; None for licences that it doesn't have."""
    folded = re.sub(r"[\s_/,()]+", "-", text.strip().lower()).strip("-.")
    bare = re.sub("^the-|-licen[cs]e$", "", folded)
    if known := next((name for name in (folded, bare) if name in LICENCES), None):
        return known
    if re.search("attribution|creative|^cc", folded):
        for long, part in _CC_PARTS.items():
            folded = folded.replace(long, part)
    folded = re.sub("general-public(-licen[cs]e)?", "gpl", folded.replace("creative-commons", "cc"))
    folded = _VERSION.sub(lambda match: "" if folded[match.start() - 1 : match.start()] in ("", "-") else "-", folded)
    folded = re.sub(r"(?<=[a-z])(?=\d)", "-", folded)
    words = [word for word in dict.fromkeys(folded.removesuffix("-only").split("-")) if word and word not in _FILLERS]
    name = "-".join(words)
    for candidate in (name, re.sub(r"-(?=\d)", "", name), *([f"{name}.0"] if re.search(r"-\d$", name) else [])):
        if (known := _LICENCE_NAMES.get(candidate, candidate)) in LICENCES:
            return known
    return None


def relatives(text: str) -> list[str]:
    """The Hub's licences of the family to which a name belongs."""
    folded = re.sub(r"[\s_]+", "-", text.strip().lower())
    family = next((family for family in _FAMILIES if folded.startswith(family)), None)
    return sorted(name for name in LICENCES if name.startswith(family)) if family else []
