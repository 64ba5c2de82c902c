"""What a text gives away: secrets, and addresses that are open to others or report who reads them.

A known form of a key counts anywhere, a random value only where its name says that it is a secret.  Placeholders of
documentation do not count.  A report shows the first characters of a secret only.  All patterns are bounded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpc.release.scan.model import Hit, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.model import Text

FORMS = (
    ("an AWS access key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("a GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{60,255}\b"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,255}\b"),
    ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,255}"),
    (
        "the address of a Slack webhook",
        r"hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,30}",
    ),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,255}"),
    ("an OpenAI key", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,255}"),
    ("a Stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}\b"),
    ("a Google key", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("a Google OAuth secret", r"\bGOCSPX-[A-Za-z0-9_-]{28}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{50,255}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,60}\b"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    ("a Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("a Telegram bot token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("a Discord webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/[A-Za-z0-9_-]{50,90}"),
    ("a Databricks token", r"\bdapi[a-f0-9]{32}\b"),
    ("a Vault token", r"\bhv[sb]\.[A-Za-z0-9_-]{24,255}"),
    ("a Notion token", r"\bntn_[A-Za-z0-9]{40,60}\b|\bsecret_[A-Za-z0-9]{43}\b"),
    ("a Linear key", r"\blin_api_[A-Za-z0-9]{40}\b"),
    ("a JSON Web Token", r"\beyJ[A-Za-z0-9_-]{15,1000}\.eyJ[A-Za-z0-9_-]{15,2000}\.[A-Za-z0-9_-]{20,1000}"),
)
"""Forms of keys: what each is, and its pattern."""
BEGINNINGS = re.compile(
    r"AKIA|ASIA|gh[pousr]_|github_pat|glpat-|xox|hooks\.slack|sk-|[sr]k_|AIza|GOCSPX|npm_|pypi-|hf_|SG\.|SK[0-9a-f]|do[opr]_v1|"
    r":AA|discord|dapi|hv[sb]\.|ntn_|secret_|lin_api|eyJ"
)
"""Beginnings of all forms, so that most texts are read once."""
KNOWN = tuple((name, re.compile(pattern)) for name, pattern in FORMS)
PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----\s{0,4}(?:\\n)?[A-Za-z0-9+/=:\s\\-]{40}"
)
IN_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>{}$\\]{1,64}:([^\s/@\"'<>{}$\\]{3,128})@[\w.-]")
PLACEHOLDER = re.compile(
    r"example|sample|dummy|placeholder|your|xxxx|\.\.\.|\*\*\*|changeme|redacted|fake|test|1234567|abcdef|foo|"
    r"<|\$\{|password|passwd|secret|token|user|pass\b|(.)\1{5}",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(
    r"(?:^|[_.\s-])(?:api_?key|secret|token|password|passwd|credential|auth|bearer|private_?key|access_?key)", re.I
)
RANDOM = re.compile(r"(?<![\w/+.-])[A-Za-z0-9+/_-]{20,256}={0,2}(?![\w/+-])")
MIN_BITS = 3.7
"""Bits of entropy for each character, from which on a value looks random."""
SHORTEST = 14
UNENCRYPTED = re.compile(r"\bhttp://[^\s\"'<>)\]`}\\,]{3,300}")
# This machine, private networks (RFC 1918), names without a dot, reserved names (RFC 2606), placeholders.
LOCAL = re.compile(
    r"http://(?:localhost|127\.|0\.0\.0\.0|\[::1?\]|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|host\.docker\.internal|"
    r"[a-z0-9-]{1,63}(?:[:/]|$)|[\w.-]{1,80}\.(?:local|internal|test|lan|example|invalid|localhost|svc)\b|"
    r"(?:[\w-]{1,60}\.){0,3}example\.(?:com|org|net)|[<{$*])",
    re.IGNORECASE,
)
IDENTIFIERS = re.compile(
    r"http://(?:json-schema\.org|www\.w3\.org|schemas?\.|xmlns\.|purl\.org|www\.opengis\.net|[\w.-]{1,60}/(?:ns|xmlns|schema)"
    r"|www\.sitemaps\.org|ogp\.me|dublincore\.org|xml\.)"
)
"""Addresses that are names of vocabularies and are not opened."""
PICTURE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(\s?<?(https?://[^\s)>]{4,500})|<img\b[^>\n]{0,200}?\bsrc\s{0,3}=\s{0,3}[\"']?(https?://[^\s\"'>]{4,500})"
)
PLAIN_PICTURES = ("data:image/png", "data:image/jpeg", "data:image/webp", "data:image/gif")
SCHEMES = ("http", "https", "data")
ICON = "icons.src"


def find_credentials(text: Text) -> Iterator[Hit]:
    """Yield the secrets of a text, each kind once."""
    if len(text.text) < SHORTEST:
        return
    for name, match in known_secrets(text.text):
        yield Hit("SCAN401", text, *match.span(), name, _shortened(match[0]))
    key = PRIVATE_KEY.search(text.text)
    if key:
        # About the first line: what follows is the key.
        yield Hit("SCAN403", text, key.start(), key.start() + 30, "", text.text[key.start() : key.start() + 30])
    password = password_in_address(text.text)
    if password:
        yield Hit("SCAN404", text, *password.span(1), "", _shortened(password[1]))
    if text.role is Role.VALUE and SECRET_NAME.search(text.field.rpartition(".")[0]):
        yield from _random(text)


def masked(text: str) -> str:
    """Return a text of the same length in which the secrets of known forms are hidden, for excerpts."""
    if BEGINNINGS.search(text):
        for _, pattern in KNOWN:
            text = pattern.sub(lambda match: f"{match[0][:6]}{'*' * (len(match[0]) - 6)}", text)
    return IN_ADDRESS.sub(lambda match: match[0].replace(match[1], "*" * len(match[1])), text)


def _random(text: Text) -> Iterator[Hit]:
    for match in RANDOM.finditer(text.text):
        value = match[0]
        if entropy(value) >= MIN_BITS and any(map(str.isdigit, value)) and not PLACEHOLDER.search(value):
            yield Hit("SCAN402", text, *match.span(), "", _shortened(value))
            return


def _shortened(secret: str) -> str:
    """Return what a report shows of a secret."""
    return f"{secret[: min(6, len(secret) // 3)]}… ({len(secret)} characters)"


def known_secrets(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the first secret of each known form: what it is, and where."""
    for name, pattern in KNOWN if BEGINNINGS.search(text) else ():
        match = next((one for one in pattern.finditer(text) if not _is_placeholder(one[0])), None)
        if match:
            yield name, match


def password_in_address(text: str) -> re.Match[str] | None:
    """Return the first address of a text that has a password, which is its first group."""
    for match in IN_ADDRESS.finditer(text):
        if not PLACEHOLDER.search(match[1]) and entropy(match[1]) > 2.5 and len(match[1]) >= 6:
            return match
    return None


def _is_placeholder(value: str) -> bool:
    # The prefix is no part of the random characters, and would count for the entropy.
    body = value.rpartition("_")[2] if value.startswith(("gh", "sk_", "rk_")) else value
    return (
        bool(re.search(r"EXAMPLE|example|xxxx|XXXX|\.\.\.|(.)\1{7}|1234567890|your|abcdefgh", body))
        or entropy(body) < 3
    )


def entropy(value: str) -> float:
    """Return the entropy of a text in bits for each character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts) if value else 0.0


def find_links(text: Text) -> Iterator[Hit]:
    """Yield the addresses of a text that are a risk."""
    if text.field.endswith(ICON):
        yield from _icon(text)
        return
    if text.role in (Role.PROSE, Role.CONTENTS):
        match = PICTURE.search(text.text)
        if match:
            yield Hit("SCAN504", text, *match.span())
    if text.role in (Role.PROSE, Role.VALUE, Role.ADDRESS):
        for match in UNENCRYPTED.finditer(text.text):
            if not LOCAL.match(match[0]) and not IDENTIFIERS.match(match[0]):
                yield Hit("SCAN501", text, *match.span())
                break


def _icon(text: Text) -> Iterator[Hit]:
    address = text.text.strip().lower()
    scheme = address.partition(":")[0]
    if address.startswith(PLAIN_PICTURES):
        return
    if scheme not in SCHEMES:
        yield Hit("SCAN502", text, 0, min(len(text.text), 60), f"its scheme is `{scheme[:20]}`")
    elif scheme == "data":
        kind = address[5:].partition(",")[0].partition(";")[0] or "text/plain"
        yield Hit("SCAN502", text, 0, min(len(text.text), 60), f"it is embedded as {kind[:40]}, which may be active")
    elif scheme == "http":
        yield Hit("SCAN502", text, 0, min(len(text.text), 60), "it is loaded without encryption")
    else:
        yield Hit("SCAN503", text, 0, min(len(text.text), 60), f"from {urlsplit(address).hostname or address[:60]}")
