"""What tokens, keys and passwords look like: found in bytes, and taken out of text that is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

IN_ADDRESS = "a password in an address"
_PRIVATE_KEY = "a private key"
# Without a digit it is a word, such as the name of a style: sk-toggleable__label-arrow.
_WITH_DIGIT = rb"(?=[A-Za-z_-]{0,60}[0-9])"
# Shapes of tokens that issuers give on purpose, so that they can be found. Each begins with fixed text, which is looked
# for many times faster than anything else, and ends somewhere, so that no file takes long. The first pattern of each is
# what tells the issuer, and may be shown.
_OF_OLD = (
    ("a Hugging Face token", rb"hf_", rb"[A-Za-z0-9]{30,200}"),
    ("an OpenAI or Anthropic key", rb"sk-(?:ant-|proj-|svcacct-|or-v1-)?", _WITH_DIGIT + rb"[A-Za-z0-9_-]{20,200}"),
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
# The same with fixed text that is looked for first, so that one more costs next to nothing.
_BY_HEAD = (
    ("a Hugging Face token", b"api_org_", rb"[A-Za-z]{34}"),
    ("a Groq key", b"gsk_", rb"[A-Za-z0-9]{52}"),
    ("an xAI key", b"xai-", rb"[A-Za-z0-9]{80}"),
    ("a Replicate token", b"r8_", rb"[A-Za-z0-9]{37}"),
    ("an NVIDIA key", b"nvapi-", rb"[A-Za-z0-9_-]{60,80}"),
    ("a Perplexity key", b"pplx-", rb"[A-Za-z0-9]{48}"),
    ("a LangSmith key", b"lsv2_", rb"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("a Pinecone key", b"pcsk_", rb"[A-Za-z0-9_]{60,80}"),
    ("a Tavily key", b"tvly-", rb"(?:dev-|prod-)?[A-Za-z0-9]{32}"),
    ("a Databricks token", b"dapi", rb"[0-9a-f]{32}"),
    ("a DigitalOcean token", b"dop_v1_", rb"[0-9a-f]{64}"),
    ("a Docker token", b"dckr_pat_", rb"[A-Za-z0-9_-]{27}"),
    ("a Vault token", b"hvs.", rb"[A-Za-z0-9_-]{24,200}"),
    ("a Google OAuth secret", b"GOCSPX-", rb"[A-Za-z0-9_-]{28}"),
    ("a Google OAuth token", b"ya29.", rb"[A-Za-z0-9_-]{40,400}"),
    ("a Slack token", b"xapp-", rb"[0-9]-[A-Za-z0-9]{8,16}-[0-9]{8,16}-[0-9a-f]{64}"),
    ("a Linear key", b"lin_api_", rb"[A-Za-z0-9]{40}"),
    ("a Notion token", b"ntn_", rb"[A-Za-z0-9]{46}"),
    ("a Grafana token", b"glsa_", rb"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("a Sentry token", b"sntrys_", rb"[A-Za-z0-9_+/=-]{80,400}"),
    ("a PlanetScale token", b"pscale_tkn_", rb"[A-Za-z0-9_.-]{32,64}"),
    ("a Supabase token", b"sbp_", rb"[0-9a-f]{40}"),
    ("a Pulumi token", b"pul-", rb"[0-9a-f]{40}"),
    ("a RubyGems key", b"rubygems_", rb"[0-9a-f]{48}"),
    ("a Shopify token", b"shpat_", rb"[0-9a-f]{32}"),
    ("a Stripe key", b"whsec_", rb"[A-Za-z0-9+/]{32}"),
    ("an Atlassian token", b"ATATT3xFfGF0", rb"[A-Za-z0-9_=-]{100,300}"),
    ("an age key", b"AGE-SECRET-KEY-1", rb"[A-Z0-9]{58}"),
)
_HEADS = tuple(head for _, head, _ in _BY_HEAD)
_SHAPES = (*_OF_OLD, *((kind, re.escape(head), secret) for kind, head, secret in _BY_HEAD))
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
    for kind, head, shape in _compiled():
        if head not in content:
            continue
        for start, match in _matches(kind, shape, content):
            found = content[start : match.end()]
            if not _PLACEHOLDER.search(found):
                yield kind, start, found


def redacted(text: str) -> str:
    """The text with the issuer's prefix and dots in the place of each secret: `hf_...`."""
    content = text.encode(*_CODEC)
    if not _HINT.search(content) and not any(head in content for head in _HEADS):
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
def _compiled() -> tuple[tuple[str, bytes, re.Pattern[bytes]], ...]:
    """Kind, fixed text that is in all of them, and the whole shape."""
    heads = (*(b"" for _ in _OF_OLD), *_HEADS)
    return tuple(
        (kind, head, re.compile(issuer + secret)) for head, (kind, issuer, secret) in zip(heads, _SHAPES, strict=True)
    )


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
