"""The forms of secrets: keys with known beginnings, and passwords in addresses, but no placeholders of documentation.

All patterns are bounded, so that a search is linear in the text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def known_secrets(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the first secret of each known form: what it is, and where."""
    for name, pattern in KNOWN if BEGINNINGS.search(text) else ():
        found = next((one for one in pattern.finditer(text) if not _is_placeholder(one[0])), None)
        if found:
            yield name, found


def password_in_address(text: str) -> re.Match[str] | None:
    """Return the first address of a text that has a password, which is its first group."""
    for found in IN_ADDRESS.finditer(text):
        if not PLACEHOLDER.search(found[1]) and entropy(found[1]) > 2.5 and len(found[1]) >= 6:
            return found
    return None


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
