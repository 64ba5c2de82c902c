"""The words of orders, by what they mean: the table that the rules about orders are written in.

A phrase is looked up word by word, so that finding all phrases of a text is linear in the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mcpc.release.scan.phrases import phrases_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.release.scan.readings import FoldedWord

PHRASES = {
    "not": (
        "do not, don't, dont, never, must not, mustn't, should not, shouldn't, may not, avoid, refrain from, not to, "
        "you cannot"
    ),
    "without": "without",
    "tell": (
        "tell, telling, mention, mentioning, inform, informing, notify, notifying, alert, alerting, reveal, "
        "revealing, disclose, disclosing, warn, warning, admit, acknowledge, report, reporting, show, showing, say, "
        "let"
    ),
    "mention": (
        "mention, mentioning, reveal, disclose, discuss, talk about, refer to, acknowledge, explain, announce, report"
    ),
    "this": (
        "this, that, these, it, any of this, the above, anything about, that you, what you, why you, how you, the "
        "fact, these instructions, this instruction, these steps, this step, your actions, the step, the steps, about "
        "this, the action"
    ),
    "person": (
        "user, users, human, humans, person, operator, anyone, customer, them, developer, owner, end-user, "
        "user's, person's, customer's"
    ),
    "ask": "asking, confirming, confirmation, approval, permission, consent, consulting, prompting, requesting",
    "question": "ask, request, prompt, wait for, seek, require",
    "consent": "approval, permission, confirmation, consent, authorization",
    "condition": "whether, if, once, until, unless, when, after",
    "secretly": (
        "secretly, silently, covertly, quietly, discreetly, stealthily, surreptitiously, invisibly, behind the "
        "scenes, unnoticed"
    ),
    "act": (
        "read, send, include, copy, forward, add, call, execute, collect, append, upload, post, invoke, transmit, "
        "pass, attach, store, record, gather, fetch, insert, exfiltrate, email, bcc, delete, modify"
    ),
    "keep": "keep, hide, conceal, withhold",
    "hidden": "secret, hidden, confidential, invisible, concealed, private, from, between us, quiet",
    "ignore": (
        "ignore, disregard, forget, override, bypass, overrule, supersede, discard, circumvent, ignoring, "
        "disregarding, overriding, skip, drop"
    ),
    "prior": (
        "previous, prior, earlier, preceding, above, all, your, system, safety, other, any, initial, user's, everything"
    ),
    "guardrail": (
        "guardrails, safeguards, safety guidelines, safety rules, safety checks, alignment training, content policy, "
        "content policies, safety policies, ethical guidelines"
    ),
    "instruction": (
        "instruction, instructions, prompt, prompts, rules, guidelines, directives, safeguards, guardrails, "
        "restrictions, programming, training, constraints, policies, guidance, alignment, orders"
    ),
    "are now": "you are now, act as, pretend to be, pretend you are, you are no longer, from now on you, behave as",
    "persona": (
        "dan, unrestricted, jailbroken, admin, administrator, root, unfiltered, uncensored, developer mode, god mode, "
        "debug mode, maintenance mode, superuser, evil"
    ),
    "precedence": (
        "take precedence over, takes precedence over, taking precedence over, supersede, supersedes, override, "
        "overrides, overrules, highest priority, higher priority than, more important than, outrank, outranks"
    ),
    "read": (
        "read, open, cat, fetch, load, include, access, get, retrieve, copy, print, attach, send, extract, dump, "
        "collect, upload, contents of, content of, output, grab, look up, find, locate, obtain, harvest, list, paste, "
        "provide, steal"
    ),
    "private file": (
        "ssh key, ssh keys, ssh private key, private key, private keys, shell history, bash history, keychain, "
        "browser cookies, saved passwords, password store, wallet seed, seed phrase, aws credentials, kubeconfig, "
        "configuration of other servers, environment variables, env vars, dotenv, api keys, access tokens, "
        "credentials file"
    ),
    "cue": (
        "before, first, you, must, always, please, important, required, make sure, ensure, otherwise, in order to, "
        "also, then, need to, needs to, whenever, every time, its, it, prior to, necessary, mandatory, step"
    ),
    "into": "as, into, in, via, within, using, inside, through, to, with",
    "argument": (
        "argument, parameter, sidenote, side note, field, notes, metadata, parameters, arguments, header, input, param"
    ),
    "conversation": (
        "conversation, conversation history, conversation context, chat context, conversation log, user messages, "
        "chat history, chat log, chat transcript, message history, previous messages, all messages, prior messages, "
        "chat messages, full context, context window, entire context, transcript, everything the user, what the user "
        "said"
    ),
    "inner text": (
        "system prompt, system message, your instructions, your system, developer message, tool definitions, tool "
        "list, list of tools, list of all tools, available tools, your tools, initial prompt, hidden prompt, session "
        "token, your memory"
    ),
    "secret data": (
        "password, passwords, credentials, api key, api keys, access token, access tokens, tokens, secrets, private "
        "key, credit card, card number, ssn, social security number, personal data, cookies, one-time code, recovery "
        "codes, secret key"
    ),
    "whole": "full, entire, complete, whole, all, every, verbatim, raw, exact, word for word, unredacted, so far",
    "pass": (
        "pass, include, put, place, send, add, append, insert, copy, attach, supply, provide, submit, encode, fill, "
        "write, embed, transmit, forward, upload, report, set, paste, repeat, passing, including, sending"
    ),
    "before": "before, prior to, ahead of",
    "using": (
        "using, calling, invoking, running, you use, you call, use of, any use of, executing, you invoke, call to, "
        "calls to, use, call, invoke"
    ),
    "invoke": "call, invoke, calling, invoking, trigger, query",
    "any tool": (
        "any other tool, any tool, any other tools, all other tools, other tools, every other tool, another tool, "
        "each tool, any tools, any mcp tool, any other function, every tool, any other action, anything else, any "
        "other operation, all tools, any of the other tools"
    ),
    "this tool": "this tool, this function, this server, this mcp server, this one, this tool first",
    "any request": (
        "any request, every request, each request, all requests, every message, each message, any question, every "
        "question, any task, every task, each response, every response, every interaction, each turn, every turn, any "
        "query, every query, every conversation, each conversation, all questions, all tasks"
    ),
    "let know": "let, loop in, keep informed, in the loop",
    "first": "first, before anything else, before all else",
    "must": "must, always, have to, has to, need to, should always, required to, you must, must always, shall",
    "called": "be called, be used, be invoked, be run, be executed",
    "call": "call, use, run, invoke, execute, prefer, choose, select, calling, using",
    "when": "when, whenever, before, after, while, if, every time, each time, any time, once, during",
    "order": (
        "must, always, should, change, replace, set, add, send, also, instead, redirect, recipient, recipients, bcc, "
        "cc, append, include, use, forward, modify, ensure, route, substitute, make sure, needs to, has to, never, "
        "only, first"
    ),
    "instead of": (
        "instead of, rather than, in place of, replaces, supersedes, do not use, don't use, never use, stop using, "
        "deprecated in favour of, do not call, don't call, never call"
    ),
    "other tools": (
        "other tools, any other tool, all other tools, another tool, built-in tools, other servers, any other server, "
        "other mcp servers, all other servers, competing tools, the original tool, other similar tools, all "
        "alternatives"
    ),
    "all mail": (
        "all emails, all email, all messages, every email, every message, all payments, every payment, all transfers, "
        "all requests, all files, all mail, outgoing email, outgoing emails, all outgoing, all invoices, any email, "
        "any payment, emails, payments, transfers"
    ),
    "routed": (
        "be sent to, be routed to, be redirected to, be forwarded to, be copied to, be addressed to, go to, be routed "
        "through, be sent through, be bcc'd to, be cc'd to, be paid to, be sent via, goes through, go through, be "
        "delivered to"
    ),
    "send": (
        "send, post, upload, forward, transmit, submit, exfiltrate, report, copy, email, deliver, leak, sync, cc, "
        "bcc, push, sent, redirect, relay, mirror, log"
    ),
    "every": (
        "always, also, all, every, any, each, copy, before, after, must, whenever, first, result, results, response, "
        "contents, its, it, them, data, conversation, everything, secretly, silently"
    ),
    "blind copy": "bcc, blind copy, blind carbon copy, bcc'ing",
    "run": "run, execute, eval, paste, launch, running, executing, type",
    "command": "command, commands, terminal, shell, bash",
    "agreed": (
        "has already approved, has already consented, has already agreed, has already authorized, has already "
        "authorised, has consented, has approved, has given consent, has given permission, has pre-approved, already "
        "gave permission, have consented, have approved, has authorized, already confirmed, is pre-approved, are "
        "pre-approved, has granted permission"
    ),
    "skip check": (
        "auto-approve, autoapprove, skip confirmation, skip approval, disable confirmation, bypass confirmation, skip "
        "the confirmation, bypass the confirmation, disable approval, skip permission, bypass approval, bypass "
        "permission, auto-accept, auto-confirm, disable the confirmation, skip user confirmation, skip any "
        "confirmation"
    ),
    "emphasis": "important, crucial, critical, vital, urgent, mandatory, imperative, essential, extremely, attention",
    "you must": "you must, you have to, must always, must never, you are required, you need to",
    "else breaks": (
        "otherwise the tool, or the tool will, otherwise it will, will not work, won't work, will crash, will fail, "
        "will be lost, will be deleted, will stop, otherwise the application, otherwise this tool, the server will "
        "crash, will be terminated, will be shut down, will be penalized"
    ),
    "discussion": (
        "detect, detects, detecting, detection, scan, scans, scanning, flags, such as, attempts, attacks, injection, "
        "injections, phrases, phrase, sanitize, sanitizes, sanitizer, moderation, classify, classifies, e.g, "
        "jailbreaks, jailbreak"
    ),
    "best": (
        "the best, the only, always prefer, preferred over, prefer this, always choose, always select, always use, "
        "most accurate, most reliable, the most trusted, use only, only use, exclusively, strictly prefer"
    ),
}
"""Phrases with the same meaning."""
EXTERNAL = re.compile(r"https?://[^\s/]+|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,64}$")
PRIVATE_PATH = re.compile(
    r"\.ssh\b|\bid_(rsa|ed25519|ecdsa|dsa)\b|\.aws/(credentials|config)|(^|/)\.env(\.\w{1,20})?$|/etc/(passwd|shadow)\b"
    r"|\bmcp\.json$|claude_desktop_config|\.(netrc|npmrc|pypirc|pgpass|git-credentials|gnupg)\b|\.kube/config|\.docker/config"
    r"|\.(bash|zsh)_history|\.config/gcloud|\.azure/|login\.keychain|wallet\.dat|\.config/gh/hosts|\.claude(\.json|/)|\.codex/auth"
)
IDENTIFIER = re.compile(
    r"(?<![a-z0-9])[a-z][a-z0-9]{0,40}(?:[_-][a-z0-9]{1,40}){1,12}|(?<![a-z0-9])[a-z]{1,40}(?:\.[a-z_]{1,40}){1,6}"
)
OTHER_SCHEME = re.compile(r"^(?!https?:)[a-z][a-z0-9+.-]{1,30}://")
PATTERNS = {"external": EXTERNAL, "private path": PRIVATE_PATH, "other scheme": OTHER_SCHEME}
"""Meanings that a single word has by its form."""


class Occurrence(NamedTuple):
    """A phrase in a sentence: the numbers of its first word and of the one after its last."""

    start: int
    end: int


def _lexicon() -> Mapping[str, list[tuple[tuple[str, ...], str]]]:
    """Return the phrases by their first word, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for meaning, phrases in PHRASES.items():
        for phrase in phrases.split(","):
            words = tuple(phrase.split())
            found[words[0]].append((words, meaning))
    return {word: sorted(rows, key=lambda row: -len(row[0])) for word, rows in found.items()}


LEXICON = _lexicon()


def occurrences(sentence: Sequence[FoldedWord]) -> dict[str, list[Occurrence]]:
    """Return where each meaning occurs in a sentence, in order."""
    found: dict[str, list[Occurrence]] = defaultdict(list)
    words = [word.text for word in sentence]
    for number, word in enumerate(words):
        for phrase, meaning in LEXICON.get(word, ()):
            end = number + len(phrase)
            if len(phrase) == 1 or tuple(words[number:end]) == phrase:
                found[meaning].append(Occurrence(number, end))
        for meaning, end in phrases_at(words, number):
            found[meaning].append(Occurrence(number, end))
        for meaning in _meanings_by_form(word):
            found[meaning].append(Occurrence(number, number + 1))
    return found


def _meanings_by_form(word: str) -> Iterator[str]:
    if not word.isalpha():
        yield from (meaning for meaning, pattern in PATTERNS.items() if pattern.search(word))


def sequence(
    found: Mapping[str, list[Occurrence]], meanings: Sequence[str], gap: int
) -> tuple[Occurrence, Occurrence] | None:
    """Return the first and last occurrence of a sequence of meanings with at most `gap` words between two of them.

    Of the ways to reach an occurrence the nearest counts, so that the search is linear in the occurrences.
    """
    reached = [(one, one) for one in found.get(meanings[0], ())]
    for meaning in meanings[1:]:
        later: list[tuple[Occurrence, Occurrence]] = []
        at = 0
        nearest: tuple[Occurrence, Occurrence] | None = None
        for one in found.get(meaning, ()):
            while at < len(reached) and reached[at][1].end <= one.start:
                nearest = reached[at]
                at += 1
            if nearest is not None and one.start - nearest[1].end <= gap:
                later.append((nearest[0], one))
        reached = later
    return reached[0] if reached else None


def together(
    found: Mapping[str, list[Occurrence]], meanings: Sequence[str], width: int
) -> tuple[Occurrence, ...] | None:
    """Return occurrences of all meanings, in any order, within `width` words, none of which share a word.

    For each occurrence of the first meaning the nearest of each other one counts, so that the search is linear.
    """
    rows = [found.get(meaning, ()) for meaning in meanings]
    if not all(rows):
        return None
    at = [0] * len(rows)
    for anchor in rows[0]:
        chosen = [anchor]
        for number, row in enumerate(rows[1:], 1):
            while at[number] + 1 < len(row) and _distance(row[at[number] + 1], anchor) <= _distance(
                row[at[number]], anchor
            ):
                at[number] += 1
            chosen.append(row[at[number]])
        ordered = sorted(chosen)
        apart = all(one.end <= other.start for one, other in pairwise(ordered))
        if apart and ordered[-1].end - ordered[0].start <= width:
            return tuple(ordered)
    return None


def _distance(one: Occurrence, other: Occurrence) -> int:
    return abs(one.start - other.start)
