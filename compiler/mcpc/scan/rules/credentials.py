"""Secrets in definitions and in handlers: known forms of keys, private keys, passwords in addresses, random values.

A known form counts anywhere.  A random value counts only where its name says that it is a secret.  Placeholders of
documentation do not count.  A report shows the first characters of a secret only.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from mcpc.scan.model import Hit, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.scan.model import Text

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


def find_credentials(text: Text) -> Iterator[Hit]:
    """Yield the secrets of a text, each kind once."""
    if len(text.text) < SHORTEST:
        return
    for name, pattern in KNOWN if BEGINNINGS.search(text.text) else ():
        found = next((one for one in pattern.finditer(text.text) if not _is_placeholder(one[0])), None)
        if found:
            yield Hit("SCAN401", text, *found.span(), name, _shortened(found[0]))
    found = PRIVATE_KEY.search(text.text)
    if found:
        yield Hit("SCAN403", text, found.start(), found.start() + 30, "", text.text[found.start() : found.start() + 30])
    for found in IN_ADDRESS.finditer(text.text):
        if not PLACEHOLDER.search(found[1]) and entropy(found[1]) > 2.5 and len(found[1]) >= 6:
            yield Hit("SCAN404", text, *found.span(1), "", _shortened(found[1]))
            break
    if text.role is Role.VALUE and _is_named_secret(text):
        yield from _random(text)


def masked(text: str) -> str:
    """Return a text of the same length in which the secrets of known forms are hidden, for excerpts."""
    if BEGINNINGS.search(text):
        for _, pattern in KNOWN:
            text = pattern.sub(lambda found: f"{found[0][:6]}{'*' * (len(found[0]) - 6)}", text)
    return IN_ADDRESS.sub(lambda found: found[0].replace(found[1], "*" * len(found[1])), text)


def _is_named_secret(text: Text) -> bool:
    return bool(SECRET_NAME.search(text.field.rpartition(".")[0]))


def _random(text: Text) -> Iterator[Hit]:
    for found in RANDOM.finditer(text.text):
        value = found[0]
        if entropy(value) >= MIN_BITS and any(map(str.isdigit, value)) and not PLACEHOLDER.search(value):
            yield Hit("SCAN402", text, *found.span(), "", _shortened(value))
            return


def _is_placeholder(value: str) -> bool:
    body = value.rpartition("_")[2] if value.startswith(("gh", "sk_", "rk_")) else value
    return (
        bool(re.search(r"EXAMPLE|example|xxxx|XXXX|\.\.\.|(.)\1{7}|1234567890|your|abcdefgh", body))
        or entropy(body) < 3
    )


def entropy(value: str) -> float:
    """Return the entropy of a text in bits for each character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts) if value else 0.0


def _shortened(secret: str) -> str:
    """Return what a report shows of a secret."""
    return f"{secret[: min(6, len(secret) // 3)]}… ({len(secret)} characters)"
