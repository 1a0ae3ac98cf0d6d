"""Secrets that a push finds: a dozen kinds in all sorts of files, none in what only looks random, and what it costs."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import socket
import sys

import pytest

from hfenv.components.ownership import walk
from hfenv.components.secrets import known, scanning
from hfenv.components.secrets.scanning import hits
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, push
from hfenv.paths import data_folder
from tests.support import replace_in, run_cli, write_environment

RANDOM = random.Random(7)  # noqa: S311 - made up, on purpose the same each time
LETTERS = "QWERTYUIPASDFGHJKLZXCVBNMqwertyuipasdfghjkzxcvbnm"

HEX = "023456789abcdef"


def some(length, signs=LETTERS + "23456789"):
    return "".join(RANDOM.choice(signs) for _ in range(length))


def jwt():
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256"}, {"sub": "u1"})
    ]
    return ".".join([*parts, base64.urlsafe_b64encode(hashlib.sha256(b"k").digest()).decode().rstrip("=")])


# Put together here, so that no scanner takes this file for a leak.
ISSUED = {
    "a Hugging Face token": "hf" + "_" + some(34, LETTERS),
    "an OpenAI or Anthropic key": "sk" + "-ant-" + some(40),
    "a GitHub token": "gh" + "p_" + some(36),
    "a GitLab token": "glrt" + "-" + some(24),
    "an AWS access key": "AK" + "IA" + some(16, "QWERTYUIPASDFGHJK234567"),
    "a Google API key": "AI" + "za" + some(35),
    "a Slack token": "xo" + "xb-" + "-".join([some(12, "23456789"), some(24)]),
    "a Slack webhook": "https://hooks." + "slack.com/services/T" + "/".join([some(8), "B" + some(8), some(24)]),
    "a PyPI token": "pypi" + "-AgEIcHlwaS5vcmc" + some(80),
    "an npm token": "np" + "m_" + some(36),
    "a Stripe key": "sk" + "_live_" + some(24),
    "a private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "a JSON Web Token": jwt(),
    "a SendGrid key": "SG" + "." + some(22) + "." + some(43),
    "an Azure storage key": "Account" + "Key=" + some(86) + "==",
    "a Square secret": "sq0" + "csp-" + some(43),
    "a Groq key": "gs" + "k_" + some(52),
    "an xAI key": "xa" + "i-" + some(80),
    "a Replicate token": "r" + "8_" + some(37),
    "an NVIDIA key": "nv" + "api-" + some(64),
    "a Perplexity key": "pp" + "lx-" + some(48),
    "a LangSmith key": "ls" + "v2_pt_" + some(32, HEX) + "_" + some(10, HEX),
    "a Databricks token": "da" + "pi" + some(32, HEX),
    "a DigitalOcean token": "do" + "p_v1_" + some(64, HEX),
    "a Docker token": "dc" + "kr_pat_" + some(27),
    "a Vault token": "hv" + "s." + some(90),
    "a Google OAuth secret": "GO" + "CSPX-" + some(28),
    "an age key": "AGE-" + "SECRET-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
}  # fmt: skip
WRITTEN = {
    "a Discord token": "M" + some(23) + "." + some(6) + "." + some(27),
    "a Mailchimp key": some(32, "abcdef23456789") + "-us" + "12",
    "a Telegram token": some(9, "23456789") + ":A" + "A" + some(33),
    "a secret under a name that says so": f'api_key = "{some(32)}"',
    "a password in an address": "postgres://admin:" + some(12) + "@db.internal/x",
}


def kinds(path, content):
    return [hit.kind for hit in hits(path, content)]


@pytest.mark.parametrize("kind", [*ISSUED, *WRITTEN])
def test_planted_secrets_are_found_in_code(kind):
    text = {**ISSUED, **WRITTEN}[kind]
    line = text if "=" in text[:12] else f'VALUE = "{text}"'
    found = list(hits("env/words.py", f'ASK = "é"\n\n{line}\n'.encode()))
    assert [(hit.kind, hit.line) for hit in found] == [(kind, 3)]


@pytest.mark.parametrize("kind", list(ISSUED))
def test_planted_secrets_are_found_in_data(tmp_path, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    row = {"id": "t", "turns": [{"said": f"use {ISSUED[kind]} here"}], "none": None}
    line = json.dumps(row).encode() + b"\n"
    assert [(hit.kind, hit.line) for hit in hits("tasks/train.jsonl", b'{"id": "s"}\n' + line)] == [(kind, 2)]
    assert kinds("tasks/train.jsonl.gz", gzip.compress(line)) == [kind]
    assert kinds("tasks/resources/x.sqlite", b"SQLite format 3\0" + line) == [kind]
    pq.write_table(pa.Table.from_pylist([{"id": "s", "turns": [], "none": "x"}, row]), tmp_path / "train.parquet")
    (hit,) = hits("tasks/train.parquet", tmp_path / "train.parquet")
    assert (hit.kind, hit.inside) == (kind, "in row 2, column turns")


def test_random_looking_data_is_no_alarm():
    rows = []
    for n in range(400):
        noise = RANDOM.randbytes(300)
        rows.append(
            {
                "id": hashlib.sha256(noise).hexdigest(), "commit": noise.hex()[:40],
                "image": base64.b64encode(noise).decode(), "safe": base64.urlsafe_b64encode(noise).decode(),
                "sql": f"... WHERE password = '{noise.hex()[:24]}'", "api_key": noise.hex()[:32],
                "url": f"https://user:secret{n}@host.org/x", "uuid": "8f14e45f-ceea-467f-9e22-1b2c3d4e5f60",
            }
        )  # fmt: skip
    assert kinds("tasks/train.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()) == []
    assert kinds("reward/probes.jsonl", "".join(json.dumps({**row, "url": ""}) + "\n" for row in rows).encode()) == []


@pytest.mark.parametrize(
    "line",
    [
        'password = os.environ["DATABASE_PASSWORD_1"]', 'secret = "correct-horse-battery"',
        'api_key = "your-api-key-goes-here-1"',
        'api_key = config.providers.openai.key1', 'primary = "a3f5c9d1e7b24680a3f5c9d1e7b24680"',
        'PASSWORD = "${DB_PASSWORD_2024}"',
        'secret_id = "8f14e45f-ceea-467f-9e22-1b2c3d4e5f60"', 'password_hash_file = "tasks/resources/hashes-2024.txt"',
        'SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
        'api_key: str = field(default="")',
        "assert env.secret_word_1 == task['answer_word_1']",
    ],
)  # fmt: skip
def test_code_that_only_speaks_of_secrets_is_no_alarm(line):
    assert kinds("env/environment.py", f"{line}\n".encode()) == []


@pytest.mark.parametrize("folder", ["examples", "templates"])
def test_what_ships_with_hfenv_has_no_finding(folder):
    files = [(root, file) for root in data_folder(folder).iterdir() if root.is_dir() for file in walk(root)]
    assert files
    assert [(file.path, hit) for root, file in files for hit in hits(file.path, root / file.path)] == []


def test_a_clean_scan_neither_imports_the_library_nor_opens_a_connection(tmp_path, monkeypatch):
    root = write_environment(tmp_path / "adding")
    for name in [name for name in sys.modules if name.startswith("detect_secrets")]:
        monkeypatch.delitem(sys.modules, name)
    assert not any(kinds(file.path, root / file.path) for file in walk(root))
    assert not [name for name in sys.modules if name.startswith("detect_secrets")]
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a connection was opened"))
    for kind, text in {**ISSUED, **WRITTEN}.items():
        assert kind in kinds("env/words.py", f'VALUE = "{text}"\n{text}\n'.encode())


def test_text_of_windows_tools_and_bytes_in_columns_are_looked_through(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    token = ISSUED["a Hugging Face token"]
    for codec in ("utf-16", "utf-16-be"):
        text = "one\n" + token if codec == "utf-16" else "\ufeffone\n" + token
        assert [(hit.kind, hit.line) for hit in hits("docs/notes.txt", text.encode(codec))] == [
            ("a Hugging Face token", 2)
        ]
    pq.write_table(pa.table({"raw": [b"\xff\0", token.encode()]}), tmp_path / "train.parquet")
    assert kinds("tasks/train.parquet", tmp_path / "train.parquet") == ["a Hugging Face token"]
    assert kinds("tasks/resources/x.tgz", gzip.compress(token.encode())) == ["a Hugging Face token"]


def test_a_name_of_a_style_is_no_key():
    assert kinds("tasks/train.jsonl", b'{"page": "<label class=\'sk-toggleable__label-arrow-more\'>"}') == []


def test_only_the_first_32_mib_of_a_file_are_read():
    token = ISSUED["a Hugging Face token"].encode()
    assert kinds("env/x.txt", b" " * scanning.SCANNED + token) == []
    assert kinds("env/x.txt", b" " * (scanning.SCANNED - len(token)) + token) == ["a Hugging Face token"]


def push_here(root, **options):
    with connect("local") as hub:
        return push(hub, root, "local/adding", PushOptions(**options))


def test_a_secret_stops_a_push_and_is_never_shown(home, pushed):
    root, _ = pushed
    (root / "docs").mkdir()
    (root / "docs" / "notes.txt").write_text(f"one\n{ISSUED['a SendGrid key']}\n")
    for arguments in ([], ["--dry-run"]):
        result = run_cli("push", "local/adding", root, *arguments)
        assert result.exit_code == 1
        assert "docs/notes.txt:2:1 HFE608" in result.stderr
        assert "a SendGrid key" in result.stderr
        assert ISSUED["a SendGrid key"] not in result.stdout + result.stderr
    validated = run_cli("validate", root)
    assert validated.exit_code == 1
    assert "HFE608" in validated.stdout


def test_the_library_refuses_a_secret_without_validation_and_looks_at_changed_files_only(home, pushed, monkeypatch):
    from hfenv.errors import FindingsError

    root, _ = pushed
    looked = []
    monkeypatch.setattr(known, "hits", lambda path, source: looked.append(path) or hits(path, source))
    (root / "audit" / "notes.py").write_text(f'KEY = "{ISSUED["a Stripe key"]}"\n')
    for options in ({}, {"dry_run": True}):
        with pytest.raises(FindingsError) as caught:
            push_here(root, **options)
        assert "audit/notes.py:1:8 HFE608 this looks like a Stripe key" in caught.value.hint
    assert set(looked) == {"audit/notes.py"}
    (root / "audit" / "notes.py").write_text("KEY = None\n")
    looked.clear()
    push_here(root, dry_run=True)
    push_here(root)
    assert looked == ["audit/notes.py"]  # once: what was found clean isn't read again


def test_a_comment_with_a_reason_lets_a_made_up_secret_through(home, pushed):
    root, _ = pushed
    words = root / "audit" / "policies.py"
    mark = "# hfenv: ignore[HFE608] made up for the fake server"
    words.write_text(words.read_text() + f'KEY = "{ISSUED["a Stripe key"]}"  {mark}\n')
    assert push_here(root).created
    words.write_text(words.read_text() + f'OTHER = "{ISSUED["a JSON Web Token"]}"\n')
    result = run_cli("push", "local/adding", root)
    assert result.exit_code == 1
    assert "policies.py:4" in result.stderr
    assert "policies.py:3" not in result.stderr


def test_the_card_speaks_for_files_that_hold_no_comments(home, pushed):
    root, _ = pushed
    (root / "tests").mkdir()
    (root / "tests" / "login.json").write_text(json.dumps({"token": ISSUED["a JSON Web Token"]}))
    assert run_cli("push", "local/adding", root).exit_code == 1
    replace_in(
        root / "README.md", "license: apache-2.0", "license: apache-2.0\n# hfenv: ignore[HFE608] made up for tests"
    )
    assert run_cli("push", "local/adding", root).exit_code == 0


def test_the_cache_holds_digests_alone_and_may_be_broken(home, pushed):
    root, _ = pushed
    (cache,) = (home / "cache" / "secrets").glob("*.json")
    assert set("".join(json.loads(cache.read_bytes())[1])) <= set("0123456789abcdeftxp")
    cache.write_bytes(b"[" * 100_000)
    (root / "audit" / "notes.py").write_text(f'KEY = "{ISSUED["a Stripe key"]}"\n')
    assert run_cli("push", "local/adding", root).exit_code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("push", "local/adding", "ROOT", "-m"),
        ("yank", "local/adding@1.0.0", "-m"),
        ("review", "local/adding", "--rating", 5, "-m"),
    ],
)
def test_what_is_said_on_the_hub_holds_no_secret(home, pushed, arguments):
    root, revision = pushed
    replace_in(root / "README.md", "It is tiny.", "It is small.")
    token = ISSUED["a Hugging Face token"]
    result = run_cli(*(root if word == "ROOT" else word for word in arguments), f"with {token} it works")
    assert result.exit_code == 1
    assert "holds what looks like a Hugging Face token; nothing was sent" in result.stderr
    assert token not in result.stdout + result.stderr
    with connect("local") as hub:
        assert hub.api.repo_info("local/adding", repo_type="dataset").sha == revision
