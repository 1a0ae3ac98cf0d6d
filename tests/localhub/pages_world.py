"""A hub to look at: releases pushed by hfenv, and repositories that try to harm whoever looks at them."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from hfenv.localhub.community import Community, Event, PullRequest
from hfenv.localhub.gitstore import BRANCH, Edit
from hfenv.localhub.names import RepoId, RepoType
from hfenv.localhub.storage import RepoRecord, Storage
from tests.support import CARD, replace_in, run_cli, write_environment

TAKE_OVER = "document.title='owned'"
ELSEWHERE = "http://elsewhere.invalid"
ATTACK = f"</title></style></textarea></pre><script>{TAKE_OVER}</script><img src={ELSEWHERE}/x onerror={TAKE_OVER}>"
TURNED = "txt.\u202egnp"  # shows as `txt.png` where nothing is done about it
WELL_KNOWN = "alice/adding"
MARKS = """\
  yanked: [{release: "1.0.0", reason: It counted wrong.}]
  aliases: {stable: "1.1.0"}
  frameworks: [verifiers]
  benchmarks: [{policy: oracle, split: test, metric: mean_return, value: 1.0, release: "1.1.0"}]
  audit: {rating: B, score: 81, ruleset: "1", digests: "0000", sandbox: L2, report: audit/report.json}
  advisories: [{id: A-1, component: code, versions: "<1.0.1", fixed_in: "1.0.1", summary: It hangs.}]
"""


def png() -> bytes:
    """A red picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def repo_of(name: str) -> RepoId:
    return RepoId(RepoType.DATASET, *name.split("/"))


def put(storage: Storage, name: str, files: dict[str, str | bytes], **record: object) -> None:
    """Make a repository with some files."""
    data = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    storage.create(repo_of(name), replace(RepoRecord(), **record), data, "mallory")


def commit(storage: Storage, name: str, files: dict[str, bytes], message: str) -> str:
    git = storage.open(repo_of(name))
    edits = [Edit(path, git.write_blob(data)) for path, data in files.items()]
    return git.commit(BRANCH + "main", git.resolve("main"), edits, message, "mallory")


def build(root: Path, folder: Path) -> None:
    """Fill the storage `root`; `folder` is scratch space."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HFENV_HOME", str(folder / "home"))
        patch.setenv("HFENV_LOCAL_HUB", str(root))
        patch.setenv("HFENV_HUB", "local")
        _releases(folder / "adding")
    storage = Storage(root)
    _hostile(storage)
    _talk(storage)
    put(storage, "alice/secret", {"README.md": CARD.replace("Add two", "Hide two")}, private=True)
    put(storage, "alice/gated", {"README.md": CARD, "env/environment.py": "SECRET = 1\n"}, gated="manual")
    put(storage, "alice/plain", {"README.md": "# Only text\n\nNo header.\n"})
    put(storage, "alice/broken", {"README.md": "---\ntags: [hfenv\n---\n# Broken\n\nStill *shown*.\n"})


def _releases(root: Path) -> None:
    files = {"docs/red.png": png(), "docs/drawn.svg": f'<svg xmlns="http://www.w3.org/2000/svg" onload="{TAKE_OVER}"/>'}
    write_environment(root, files=files)
    text = (
        "\n![red](docs/red.png) [the code](env/environment.py) [a folder](env) [nothing](gone.py)\n\n"
        "| left | right |\n|:--|--:|\n| a | 1 |\n"
    )
    card = root / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + text, encoding="utf-8")
    _push(root)
    replace_in(root / "env" / "words.py", "How much is ", "What is ")
    tasks = root / "tasks" / "train.jsonl"
    tasks.write_text(
        tasks.read_text(encoding="utf-8")
        + '{"id": "train-x", "question": "1 + 7?", "answer": "8", "difficulty": "easy"}\n',
        "utf-8",
    )
    result = run_cli("bump", "-m", "Ask `differently`", cwd=root)
    assert result.exit_code == 0, result.stderr
    _push(root)
    replace_in(card, "  action:", f"{MARKS}  action:")
    _push(root)


def _push(root: Path) -> None:
    result = run_cli("push", WELL_KNOWN, root)
    assert result.exit_code == 0, result.stderr


def _talk(storage: Storage) -> None:
    ours, theirs = Community(storage, repo_of(WELL_KNOWN)), Community(storage, repo_of("mallory/hostile"))
    ours.open(1, "Where do the sums come from?", "bob", "I wonder.\n\n| a | b |\n|:--|--:|\n| 1 | 2 |")
    found = ours.open(2, "[hfenv review] 4/5 for 1.1.0", "bob", "<!-- hfenv-review {} -->\n**4/5** for release 1.1.0")
    ours.save(found.with_event(Event.now("status-change", "alice", {"status": "closed"})))
    ours.open(3, "[hfenv review] 1/5 for 9.9.9", "mallory", "Of what was never released.")
    git = storage.open(repo_of(WELL_KNOWN))
    head = git.resolve("main")
    git.commit("refs/pr/4", head, [Edit("NOTES.md", git.write_blob(b"Notes\n"))], "Add notes", "bob")
    ours.open(4, "Add notes", "bob", "They help.", PullRequest(BRANCH + "main", head))
    title = theirs.open(1, "Looks harmless", "mallory", f"{ATTACK}\n\n[x](javascript:{TAKE_OVER}) turned \u202e around")
    theirs.save(title.with_event(Event.now("title-change", "mallory", {"from": ATTACK, "to": ATTACK})))


def _hostile(storage: Storage) -> None:
    quoted = ATTACK.replace("'", '"')
    card = CARD.replace("license: apache-2.0", f"license: '{quoted}'\npretty_name: '{quoted}'")
    card = card.replace("summary: Add two small numbers.", f"summary: '{quoted}'").replace(
        "[rl-env", f"['{quoted}', rl-env"
    )
    card += "\n".join(
        [
            "",
            ATTACK,
            f"<svg onload={TAKE_OVER}></svg><iframe src='{ELSEWHERE}/frame'></iframe><base href='{ELSEWHERE}'>",
            f"<style>@import '{ELSEWHERE}/style'; body {{ background: url({ELSEWHERE}/css) }}</style>",
            f"![far]({ELSEWHERE}/picture.png) ![drawn](drawing.svg)",
            f"[click](javascript:{TAKE_OVER}) [data](data:text/html,<script>{TAKE_OVER}</script>)",
            "[far](//elsewhere.invalid)",
            f'```"><script>{TAKE_OVER}</script>\ncode\n```',
            "<form action='/-/sign-in'><input name=token></form> turned \u202e around",
            "",
        ]
    )
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="{TAKE_OVER}"><script>{TAKE_OVER}'
        f'</script><image href="{ELSEWHERE}/inside.png" width="9" height="9"/><rect width="40" height="40"/></svg>'
    )
    page = f"<!doctype html><title>page</title><script>{TAKE_OVER}</script>"
    put(
        storage,
        "mallory/hostile",
        {
            "README.md": card,
            "drawing.svg": drawing,
            "page.html": page,
            "<img src=x onerror=alert(1)>.md": ATTACK,
            TURNED: ATTACK,
            "picture.png": page,  # says that it is a picture
            "escapes.txt": "\x1b[31mred\x1b[0m \u202eturned\r\nnext",
            "binary.bin": b"\0\1\2",
            "large.txt": "a line of text\n" * 60_000,
            "release.json": '{"format": 1, "release": "<script>"}',
            "changelog/code.md": f"## [1.0.0] - {ATTACK}\n\n{ATTACK}\n",
        },
    )
    commit(storage, "mallory/hostile", {"page.html": page.encode() + b"more"}, f"{ATTACK}\n\n\u202e{ATTACK}")
