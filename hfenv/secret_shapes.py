"""What tokens, keys and passwords look like: found in bytes, and taken out of text that is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

IN_ADDRESS = "a password in an address"
_PRIVATE_KEY = "a private key"
# Shapes of tokens that issuers give on purpose, so that they can be found. Each begins with fixed text, which is looked
# for many times faster than anything else, and ends somewhere, so that no file takes long. The first pattern of each is
# what tells the issuer, and may be shown.
_SHAPES = (
    ("a Hugging Face token", rb"hf_", rb"[A-Za-z0-9]{30,200}"),
    ("an OpenAI or Anthropic key", rb"sk-(?:ant-|proj-|svcacct-|or-v1-)?", rb"[A-Za-z0-9_-]{20,200}"),
    ("a GitHub token", rb"gh[pousr]_", rb"[A-Za-z0-9]{36,200}"),
    ("a GitHub token", rb"github_pat_", rb"[A-Za-z0-9_]{60,200}"),
    ("a GitLab token", rb"glpat-", rb"[A-Za-z0-9_-]{20,200}"),
    ("an AWS access key", rb"AKIA", rb"[A-Z0-9]{16}"),
    ("an AWS access key", rb"ASIA", rb"[A-Z0-9]{16}"),
    ("a Google API key", rb"AIza", rb"[A-Za-z0-9_-]{35}"),
    ("a Slack token", rb"xox[abprs]-", rb"[A-Za-z0-9-]{10,200}"),
    ("a Weights & Biases key", rb"WANDB_API_KEY[\"']?\s{0,9}[:=]\s{0,9}[\"']?", rb"[0-9a-f]{40}"),
    ("a Weights & Biases key", rb"wandb_api_key[\"']?\s{0,9}[:=]\s{0,9}[\"']?", rb"[0-9a-f]{40}"),
    ("a PyPI token", rb"pypi-", rb"AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,200}"),
    ("an npm token", rb"npm_", rb"[A-Za-z0-9]{36}"),
    ("a Stripe key", rb"sk_live_", rb"[A-Za-z0-9]{20,200}"),
    ("a Stripe key", rb"rk_live_", rb"[A-Za-z0-9]{20,200}"),
    (_PRIVATE_KEY, rb"-----BEGIN (?:[A-Z]{1,20} )?PRIVATE KEY(?: BLOCK)?-----", rb""),
    (IN_ADDRESS, rb"://", rb"[^\s/:@\"'<>{}$]{1,64}:[^\s/:@\"'<>{}$]{6,64}@[A-Za-z0-9.-]{1,200}"),
)
_SCHEME = re.compile(rb"[a-z][a-z0-9+.-]{1,20}$")
_PLACEHOLDER = re.compile(rb"(?i)x{6}|\.{3}|example|placeholder|your[-_]|123456|abcdef|dummy|<|0{8}|changeme|password@")
# Without one of these nothing has any of the shapes.
_HINT = re.compile(rb"(?i:hf_|sk-|gh[pousr]_|github_pat|glpat|a[ks]ia|aiza|xox|wandb|pypi-|npm_|k_live_|---begin)|://")
# What a message cuts short is still most of a token: it ends in dots there.
_DOTS = rb"(?:\.\.\.|\xe2\x80\xa6)"
_CUT = rb"[A-Za-z0-9_-]{12,200}?" + _DOTS
_CUT_ADDRESS = rb"[^\s/:@\"'<>{}$]{1,64}:[^\s/:@\"'<>{}$]{6,64}?" + _DOTS
_REST = rb"[A-Za-z0-9_-]*" + _DOTS + rb"?"
_REST_OF_KEY = rb"(?:\.\.\.)?(?:(?:\\[nr]|\s)*[A-Za-z0-9+/=]{16,})*"
_LINE_OF_KEY = re.compile(r"\s*[A-Za-z0-9+/]{60,76}={0,2}\s*$")
_CODEC = ("utf-8", "surrogatepass")  # a file's name on disk need not be valid UTF-8


def find_secrets(content: bytes) -> Iterator[tuple[str, int, bytes]]:
    """What has the shape of a secret: its kind, its offset, and itself. What says that it is made up is left out."""
    for kind, shape in _compiled():
        for start, match in _matches(kind, shape, content):
            found = content[start : match.end()]
            if not _PLACEHOLDER.search(found):
                yield kind, start, found


def redacted(text: str) -> str:
    """The text with the issuer's prefix and dots in the place of each secret: `hf_...`."""
    content = text.encode(*_CODEC)
    if not _HINT.search(content):
        return text
    for kind, shape in _shown():
        parts, at = [], 0
        for start, match in _matches(kind, shape, content):
            if start < at or _PLACEHOLDER.search(content[start : match.end("secret")].rstrip(b".")):
                continue
            parts += [content[at : match.end("issuer")], b"..."]
            at = match.end()
        content = b"".join([*parts, content[at:]])
    return content.decode(*_CODEC)


def holds_secret(line: str) -> bool:
    """Whether a line of a file has a secret, or a part of a private key, in it."""
    return redacted(line) != line or _LINE_OF_KEY.match(line) is not None


def _matches(kind: str, shape: re.Pattern[bytes], content: bytes) -> Iterator[tuple[int, re.Match[bytes]]]:
    at = 0
    while match := shape.search(content, at):
        start, at = match.start(), match.end()
        before = content[start - 1 : start]
        if kind == IN_ADDRESS:
            scheme = _SCHEME.search(content[max(0, start - 21) : start])
            if scheme is not None:
                yield start - len(scheme.group()), match
        elif before.isalnum() or before == b"_":
            at = start + 1  # inside of a word, as in task-...
        else:
            yield start, match


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[bytes]], ...]:
    return tuple((kind, re.compile(issuer + secret)) for kind, issuer, secret in _SHAPES)


@cache
def _shown() -> tuple[tuple[str, re.Pattern[bytes]], ...]:
    """The same shapes with the groups `issuer` and `secret`, and with all that belongs to the secret behind it."""
    shapes = []
    for kind, issuer, secret in _SHAPES:
        cut = _CUT_ADDRESS if kind == IN_ADDRESS else _CUT
        body = secret if kind == _PRIVATE_KEY else rb"(?:" + secret + rb"|" + cut + rb")"
        rest = _REST_OF_KEY if kind == _PRIVATE_KEY else b"" if kind == IN_ADDRESS else _REST
        shapes.append((kind, re.compile(rb"(?P<issuer>" + issuer + rb")(?P<secret>" + body + rb")" + rest)))
    return tuple(shapes)
