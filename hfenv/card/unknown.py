"""Keys that the schema doesn't know, and the ones that their authors probably meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

from hfenv.card.guessing import folded, nearest, nearest_few, same
from hfenv.card.nodes import EntryNode, MappingNode, find
from hfenv.card.quoting import dotted, short
from hfenv.card.reader import Card
from hfenv.card.repair import rename_key
from hfenv.card.scalars import MERGE_KEY
from hfenv.card.schema import load_schema
from hfenv.card.stumbles import space_behind_colon
from hfenv.card.unseen import as_seen
from hfenv.card.violation import Violation
from hfenv.findings import Finding
from hfenv.rules.catalogue import severity

_LIKE = 0.34  # below this, a key resembles no other
_LISTED = 12  # known keys that a message lists
_MOST_JUDGED = 500  # keys at the top that are compared; a header with more is no card
_TOP = "at the top of the header"
# What other tools, and habits, call a field of ours; keys are folded, see `folded`.
_ELSEWHERE = {
    "tasks.splits": "dataset datasets data datafiles taskset train test eval evaldataset traindataset taskfile split",
    "tasks.fields": "columns features taskschema",
    "reward.entry": "rewardfn rewardfunc rewardfunction rewardfunctions rubric rubrics scorer grader verifier scoring",
    "reward.range": "rewardrange rewardbounds minreward maxreward",
    "reward.parts": "rewardparts components rewards weights",
    "code.entry": "entrypoint module classname class import envclass environmentclass loader",
    "action": "actionspace actions tools",
    "action.extract": "parser extractor answerformat",
    "observation": "observationspace observations obs state statespace",
    "limits.max_steps": "maxturns maxepisodesteps horizon episodelength steps maxiterations turns",
    "limits.step_timeout_s": "timeout timeouts timeoutsec timeoutseconds steptimeout timeoutms timelimit",
    "limits.memory_mb": "memory ram memorylimit memorymb memorygb",
    "requires.packages": "dependencies requirements pip packages deps pythonpackages install",
    "requires.python": "pythonversion requirespython",
    "requires.secrets": "apikeys apikey env envvars environmentvariables keys tokens",
    "requires.system": "apt systempackages binaries",
    "sandbox.image": "docker dockerimage container baseimage dockerfile",
    "summary": "description about title desc shortdescription",
    "repo": "repository repoid hubid url homepage",
    "name": "id envid environmentid envname slug",
    "spec": "formatversion schemaversion specversion apiversion cardversion",
    "code.version, tasks.version or reward.version": "versions semver",
    "services": "judge judges judgemodel model llm endpoint",
    "determinism": "seed seeded deterministic nondeterministic stochastic random",
    "lifecycle": "deprecated archived state maintained",
    "resources": "files assets databases attachments",
    "policies": "baseline baselines agents policy oracle",
    "benchmarks": "results scores metrics leaderboard evaluation evaluations",
    "config": "parameters params options settings args kwargs arguments configuration",
}
_SYNONYMS = {word: target for target, words in _ELSEWHERE.items() for word in words.split()}


def unknown_key(card: Card, violation: Violation) -> Finding:
    """The finding for an unknown key under `environment`; its cure always names what may have been meant."""
    step = _entry(card, violation.pointer, violation.key)
    pointer = f"{violation.pointer}/{violation.key.replace('~', '~0').replace('/', '~1')}"
    at = card.lines.position(step.key.start) if step else card.key_position(pointer)
    message = f"unknown key '{short(violation.key)}' in {dotted(violation.pointer)}"
    if violation.key == MERGE_KEY:
        message = f"the key {MERGE_KEY} in {dotted(violation.pointer)} is text here, but merges mappings elsewhere"
    certain = same(violation.key, violation.known)
    certain = None if certain in violation.value else certain
    repair = rename_key(card, step, certain) if step and certain else None
    fix = _meant(violation)
    return Finding("HFE104", severity("HFE104"), card.path, message, pointer, at.line, at.column, fix, repair)


def _entry(card: Card, parent: str, key: str) -> EntryNode | None:
    last = find(card.root, parent)[0][-1]
    node = last.value if isinstance(last, EntryNode) else last
    return node.entry(key) if isinstance(node, MappingNode) else None


def _meant(violation: Violation) -> str:
    if (space := space_behind_colon(violation.key)) is not None:
        return f"Write a plain space behind the colon, where {space[0]} stands."
    if (seen := as_seen(violation.key)) in violation.known and seen != violation.key.strip():
        return f"Write '{seen}' without characters that nobody sees."
    if violation.key == MERGE_KEY:
        return "Write the fields out, without it: readers of YAML 1.1 merge mappings there."
    if (guess := violation.guess) is not None:
        return f"Did you mean '{guess}'?"
    key, here = violation.key, dotted(violation.pointer)
    if (twin := same(key, violation.known)) is not None:
        return f"'{twin}' is here already: remove '{short(key)}'."
    if (target := _SYNONYMS.get(folded(key))) is not None:
        return f"Did you mean '{target}'? Here it does nothing."
    homes = [home for home in _homes().get(folded(key), ()) if home.rpartition(".")[0] != here]
    if homes:
        return f"Did you mean {_either(homes)}? Move it there."
    if (twin := nearest(key, violation.known)) is not None:
        return f"Did you mean '{twin}'? That one is here already: remove '{short(key)}'."
    words = nearest(key, _homes())
    if words is not None and (homes := list(_homes()[words])):
        return f"Did you mean {_either(homes)}?"
    names = ", ".join(violation.known)
    if few := nearest_few(key, violation.known, cutoff=_LIKE):
        rest = f"; known here: {names}" if len(violation.known) <= _LISTED else ": it does nothing"
        return f"Did you mean {_either(few)}? If not, remove it{rest}."
    return f"Did you mean one of {names}? If not, remove it."


def _either(words: Any) -> str:
    quoted = [word if word.endswith(_TOP) else f"'{word}'" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


@cache
def _homes() -> Mapping[str, tuple[str, ...]]:
    """Folded keys of the schema, with the dotted places where they stand; those nearest to the top first."""
    schema = load_schema()
    found: dict[str, list[str]] = {}
    for place, key in _places(schema, schema["$defs"]["environment"], "", 0):
        found.setdefault(folded(key), []).append(f"{place}.{key}" if place else key)
    for key in schema["properties"]:
        found.setdefault(folded(key), []).insert(0, f"'{key}' {_TOP}")
    return {key: tuple(sorted(dict.fromkeys(places), key=_depth)[:3]) for key, places in found.items()}


def _depth(place: str) -> int:
    return place.count(".")


def _places(root: Mapping[str, Any], schema: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, Mapping) or depth > 3:
        return
    if reference := schema.get("$ref"):
        target: Any = root
        for token in reference.removeprefix("#/").split("/"):
            target = target[token]
        yield from _places(root, target, place, depth)
    for key, below in schema.get("properties", {}).items():
        yield place, key
        yield from _places(root, below, f"{place}.{key}" if place else key, depth + 1)
    yield from _places(root, schema.get("items"), place, depth + 1)


# What the Hub itself knows at the top of a header: none of these is a misspelling.
_OF_THE_HUB = frozenset((
    "annotations_creators", "app_file", "app_port", "arxiv", "author", "authors", "base_model", "base_model_relation",
    "citation", "co2_eq_emissions", "colorFrom", "colorTo", "config_names", "contact", "custom_headers",
    "dataset_info", "datasets", "description", "doi", "duplicated_from", "emoji", "eval_results",
    "extra_gated_button_content", "extra_gated_description", "extra_gated_eu_disallowed", "extra_gated_fields",
    "extra_gated_heading", "extra_gated_prompt", "format", "formats", "fullWidth", "gated", "header", "hf_oauth",
    "homepage", "inference", "language_bcp47", "language_creators", "language_details", "library", "library_name",
    "license_details", "license_link", "license_name", "metrics", "modalities", "modality", "model-index",
    "model_name", "models", "multilinguality", "name", "new_version", "paperswithcode_id", "pinned", "pipeline_tag",
    "preload_from_hub", "private", "region", "repo", "sdk", "sdk_version", "python_version", "size", "source",
    "source_datasets", "short_description", "startup_duration_timeout", "storage_size", "suggested_hardware",
    "task_ids", "task_id", "thumbnail", "title", "tagline", "train-eval-index", "url", "version", "viewer", "widget",
))  # fmt: skip
_SPELT = {"licence": "license", "licences": "license"}


def near_misses(card: Card) -> Iterator[Finding]:
    """Keys at the top of the header that are nearly one the Hub or hfenv knows, or belong under `environment`."""
    known = list(load_schema()["properties"])
    block, required = (load_schema()["$defs"]["environment"][part] for part in ("properties", "required"))
    present = card.front_matter.keys()
    for key in islice(present, _MOST_JUDGED):
        if key in known or key in _OF_THE_HUB or not key:
            continue
        absent = [other for other in known if other not in present]
        certain = same(key, absent) or _SPELT.get(key.lower())
        certain = certain if certain in absent else None
        if (meant := certain or nearest(key, absent, 0.8)) is not None:
            fix = f"Did you mean '{meant}'?"
        elif key in block and key not in card.block and key not in required:
            fix, certain = f"Did you mean 'environment.{key}'? Indent it under environment.", None
        else:
            continue
        yield _near_miss(card, key, fix, certain)


def _near_miss(card: Card, key: str, fix: str, certain: str | None) -> Finding:
    entry = card.root.entry(key)
    pointer = f"/{key.replace('~', '~0').replace('/', '~1')}"
    at = card.lines.position(entry.key.start) if entry else card.key_position(pointer)
    message = f"neither the Hub nor hfenv knows the key '{short(key)}' at the top of the header"
    repair = rename_key(card, entry, certain) if entry and certain else None
    return Finding("HFE119", severity("HFE119"), card.path, message, pointer, at.line, at.column, fix, repair)
