"""What `detect-secrets` knows and `secret_shapes` doesn't; imported only where a cheap look says that it may be needed.

Of the library, only the detectors' own judgement of a line is used: its verification, which would send a token to the
issuer, is never called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

# Kind, module and class of the library, fixed text that every one has, and what must follow it at least. Each goes
# through large files of data at the speed of a search for the fixed text.
_MARKED = (
    ("a JSON Web Token", "jwt", "JwtTokenDetector", b"eyJ", rb"[\w=-]{8,400}\.[\w=-]{8,4000}(?:\.[\w=-]{0,4000})?"),
    ("a SendGrid key", "sendgrid", "SendGridDetector", rb"SG\.", rb"[\w-]{22}\.[\w-]{43}"),
    ("an Azure storage key", "azure_storage_key", "AzureStorageKeyDetector", b"AccountKey=", rb"[\w+/=]{88}"),
    (
        "a GitLab token",
        "gitlab_token",
        "GitLabTokenDetector",
        b"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-",
        rb"[\w-]{20,1024}",
    ),
    ("a GitLab token", "gitlab_token", "GitLabTokenDetector", b"GR1348941", rb"[\w-]{20,50}"),
    ("a Slack webhook", "slack", "SlackDetector", rb"https://hooks\.slack\.com/services/T", rb"\w+/B\w+/\w+"),
    ("a Square secret", "square_oauth", "SquareOAuthDetector", b"sq0csp-", rb"[\w-]{43}"),
    ("an npm token", "npm", "NpmDetector", b":_authToken=", rb"\s{0,9}[\w-]{36,200}"),
    ("a private key", "private_key", "PrivateKeyDetector", b"PuTTY-User-Key-File-2", b""),
    ("a private key", "private_key", "PrivateKeyDetector", b"BEGIN SSH2 ENCRYPTED PRIVATE KEY", b""),
)
# The same without fixed text: only for files that people write, which are small.
_UNMARKED = (
    ("a Discord token", "discord", "DiscordBotTokenDetector", rb"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}"),
    # Not from within a longer word: else every place in a text of digits is a beginning, and takes its time.
    ("a Mailchimp key", "mailchimp", "MailchimpDetector", rb"(?<![0-9a-z])[0-9a-z]{32}-us[0-9]{1,2}"),
    ("a Telegram token", "telegram_token", "TelegramBotTokenDetector", rb"\b\d{8,10}:AA[\w-]{33}\b"),
    (
        "an AWS secret key", "aws", "AWSKeyDetector",
        rb"(?i:aws[^\n]{0,20}?(?:key|pwd|pw|password|pass|token)[^\n]{0,20}?)['\"][0-9a-zA-Z/+]{40}['\"]",
    ),
)  # fmt: skip
UNDER_A_NAME = "a secret under a name that says so"
# A value that nobody types by hand, behind one of the names of the library's keyword detector.
_VALUE = re.compile(rb"[:=]\s{0,9}['\"]?(?=[^\s'\"]{0,60}[0-9])(?=[^\s'\"]{0,60}[A-Za-z])[\w+/=~!@%^&*.-]{16,200}")
_NAME = re.compile(
    rb"(?i:(?:(?:api|auth|service|account|db|database|priv|private|client)_?key|(?:db|database|key)_?pass"
    rb"|passw(?:or)?d|pwd|secret)\w{0,40}[\]'\"]{0,2}(?:\s{0,9}:\s{0,9}\w{1,20})?\s{0,9})$"
)
# A digest, a path, a dotted name, a call and a reference are no secrets.
_HARMLESS = re.compile(
    r"(?i)example|placeholder|changeme|dummy|your[-_]|x{6}|\.{3}|[(){}\[\]<>$]"
    r"|^\w+(?:[./-][A-Za-z_]+)+$|^[\w./-]+\.[a-z]{2,5}$"
)
_BEFORE = 200  # bytes before a marked text that its detector may want to see
_ENTROPY = 3.2  # bits a sign: words have less


def marked(content: bytes) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of what the library finds by fixed text; for content of any kind and length."""
    for kind, module, name, head, rest in _shapes():
        for found in head.finditer(content):
            start = found.start()
            # Inside of a longer word it is none; asked first, a text made to be slow isn't.
            if not content[start - 1 : start].isalnum() and (match := rest.match(content, found.end())):
                line = max(content.rfind(b"\n", max(0, start - _BEFORE), start) + 1, start - _BEFORE, 0)
                if _says(module, name, content[line : match.end()]):
                    yield kind, start, match.end()


def unmarked(content: bytes, *, quoted: bool) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of what is found by its form or by the name it is given: for files that people write.

    `quoted` says that a value has quotes around it, as in code; in configuration it need not have any.
    """
    for kind, module, name, shape in _loose():
        for match in shape.finditer(content):
            if _says(module, name, match.group()):
                yield kind, match.start(), match.end()
    for match in _VALUE.finditer(content):
        named = _NAME.search(content[max(0, match.start() - 80) : match.start()])
        if named is None:
            continue
        end = content.find(b"\n", match.end())
        line = content[content.rfind(b"\n", 0, match.start()) + 1 : end if end >= 0 else len(content)]
        if _is_named_secret(line[:1000].decode("utf-8", "replace"), quoted=quoted):
            yield UNDER_A_NAME, match.start(), match.end()


@cache
def _shapes() -> tuple[tuple[str, str, str, re.Pattern[bytes], re.Pattern[bytes]], ...]:
    return tuple((kind, module, name, re.compile(head), re.compile(rest)) for kind, module, name, head, rest in _MARKED)


@cache
def _loose() -> tuple[tuple[str, str, str, re.Pattern[bytes]], ...]:
    return tuple((kind, module, name, re.compile(shape)) for kind, module, name, shape in _UNMARKED)


def _says(module: str, name: str, found: bytes) -> bool:
    return any(_detector(module, name).analyze_string(found.decode("utf-8", "replace")))


@cache
def _detector(module: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()


@cache
def _judges() -> tuple[Callable[[str], bool], ...]:
    from detect_secrets.filters import heuristic

    return (heuristic.is_potential_uuid, heuristic.is_sequential_string, heuristic.is_prefixed_with_dollar_sign)


def _is_named_secret(line: str, *, quoted: bool) -> bool:
    from detect_secrets.plugins import keyword

    shapes = keyword.QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP if quoted else keyword.CONFIG_DENYLIST_REGEX_TO_GROUP
    entropy = _detector("high_entropy_strings", "Base64HighEntropyString").calculate_shannon_entropy
    for found in _detector("keyword", "KeywordDetector").analyze_string(line, shapes):
        value = str(found).split(" #")[0].strip()
        if len(value) < 16 or _HARMLESS.search(value) or " " in value:
            continue
        if entropy(value) >= _ENTROPY and not any(judge(value) for judge in _judges()):
            return True
    return False
