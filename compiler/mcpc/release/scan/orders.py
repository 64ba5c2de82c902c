"""Orders to the model in texts that should describe, and names of tools of other servers.

The lexicon is one table.  A pattern is a sequence of words.  One in capitals is a group of `GROUPS`, a number says how
many other words may be between its neighbours (none without a number), anything else is a regular expression.  All of
it is bounded, so that a search is linear in the text.

A text is read folded: in lower case, without hidden characters, with Latin letters for those that look like them.  What
is hidden in it is decoded and read as well.  In a sentence the names of tools of other servers become runs of one
capital, so that the lexicon has a pattern for what is said about them.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from mcpc.reading.hidden_characters import hidden_finder
from mcpc.release.scan.hidden_text import LATIN, payloads, skeleton
from mcpc.release.scan.model import Hit, Role, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.release.scan.model import ServerTexts


GROUPS = {
    "NOT": (
        "do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|avoid|refrain from|not to|you cannot|"
        "no need to"
    ),
    "MUST": "must|always|have to|has to|need to|needs to|shall|you should|required to|make sure|ensure|from now on",
    "TELL": (
        "tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|"
        "warn(?:ing)?|admit|acknowledge|report(?:ing)?|show(?:ing)?|say|let"
    ),
    "SAY": "mention(?:ing)?|reveal|disclose|discuss|talk about|refer to|acknowledge|announce|bring|let on|admit",
    "THIS": "this|that|these|it|any of this|the (?:above|fact|steps?|action)|what you|why you|how you|your actions",
    "PERSON": "(?:users?|humans?|persons?|operator|anyone|customers?|them|developers?|owners?|whoever)(?:'s)?",
    "SECRETLY": "secretly|silently|covertly|quietly|discreetly|stealthily|surreptitiously|invisibly|unnoticed",
    "ACT": (
        "read|send|include|copy|forward|add|call|execute|collect|append|upload|post|invoke|transmit|pass|attach|store|"
        "record|gather|fetch|insert|delete|modify"
    ),
    "KEEP": "keep|hide|hiding|conceal|withhold",
    "ASK": "asking|confirming|confirmation|approval|permission|consent|consulting|prompting|requesting",
    "REQUEST": "ask(?:ing)?|request(?:ing)?|prompt(?:ing)?|wait for|seek|require",
    "CONSENT": "approval|permission|confirmation|consent|authorization",
    "IGNORE": (
        "ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|overrule|supersede|discard|circumvent|drop|"
        "set aside"
    ),
    "PRIOR": "previous|prior|earlier|preceding|above|all|your|system|safety|other|any|initial|everything",
    "RULES": (
        "instructions?|prompts?|rules|guidelines|directives|safeguards|guardrails|restrictions|programming|training|"
        "constraints|policies|guidance|alignment|orders"
    ),
    "PERSONA": (
        "dan|unrestricted|jailbroken|admin|administrator|root|unfiltered|uncensored|superuser|"
        "(?:developer|god|debug|maintenance) mode"
    ),
    "READ": (
        "read|open|cat|fetch(?:ing)?|load|include|access|get|retrieve|copy|print|attach|send|extract|dump|collect|upload|"
        "contents? of|output|grab|look up|find|locate|obtain|list|paste|provide|pass"
    ),
    "PATH": (
        r"(?<=\.)(?:ssh\b|aws/(?:credentials|config)|netrc|npmrc|pypirc|pgpass|git-credentials|gnupg|kube/config"
        r"|docker/config|(?:bash|zsh)_history|config/(?:gcloud|gh/hosts)|azure(?=/)|claude(?:\.json|(?=/))|codex/auth)"
        r"|(?<=[\s/`'\"(]\.)env(?!\w|\.\w)|id_(?:rsa|ed25519|ecdsa|dsa)|(?<=/)etc/(?:passwd|shadow)|mcp\.json"
        r"|claude_desktop_config|login\.keychain|wallet\.dat"
    ),
    "PRIVATE": (
        "ssh keys?|(?:ssh )?private keys?|(?:shell|bash) history|keychain|browser cookies|saved passwords?|seed phrase|"
        "aws credentials|kubeconfig|environment variables|env vars|api keys?|access tokens?|credentials file"
    ),
    "SECRET": (
        "passwords?|credentials|api keys?|access tokens?|tokens|secrets|private key|credit card|card number|cookies|"
        "recovery codes"
    ),
    "CUE": (
        "before|beforehand|first|you|must|always|please|required|make sure|ensure|otherwise|in order to|also|then|"
        "needs? to|whenever|every time|its?|prior to|mandatory"
    ),
    "INTO": "as|in(?:to)?|via|within|using|inside|through|to|with",
    "ARGUMENT": "(?:argument|parameter|field|header|param|input)s?|query string|side ?notes?|notes|metadata",
    "WHOLE": "full|entire|complete|whole|all|every|verbatim|raw|exact|everything",
    "CONVERSATION": (
        "conversation|(?:chat|message) history|(?:chat|conversation) (?:log|context|transcript)|chat messages|"
        "(?:user|previous|prior|all) messages|context window|transcript|(?:everything|what) the user"
    ),
    "INNER": (
        "(?:system|initial|hidden|developer) (?:prompt|message)|your (?:system|instructions|tools|memory)|"
        "tool (?:definitions|list)|list of (?:all )?tools|session token"
    ),
    "PASS": (
        "pass(?:ing)?|includ(?:e|ing)|put|place|send(?:ing)?|add|append|insert|copy|attach|supply|provide|submit|fill|"
        "write|embed|transmit|forward|upload|set|paste|repeat"
    ),
    "BEFORE": "before|prior to|ahead of",
    "CALL": "(?:you )?(?:call(?:ing)?|invok(?:e|ing)|execut(?:e|ing)|us(?:e|ing)|run(?:ning)?)",
    "YOUMUST": "you (?:must|have to|need to|are required to)|must (?:always|never)",
    "YOUARE": "you are (?:now|no longer)|act as|pretend (?:to be|you are)|from now on you|behave as",
    "CALLED": "(?:be )?(?:called|used|invoked|run|executed)",
    "ANYTOOL": (
        "(?:any|every|each|all)(?: of the)? (?:other )?(?:mcp )?(?:tools?|functions?)|other tools|another tool|"
        "(?:any|every) other (?:action|operation)|anything else"
    ),
    "SEND": (
        "send|post|upload|forward|transmit|submit|exfiltrate|report|copy|email|deliver|leak|push|sent|redirect|relay|"
        "mirror|bcc|blind copy"
    ),
    "EXTERNAL": r"https?://[^\s/]+|[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,64}",
    "LOSS": (
        r"(?:otherwise|or) (?:the tool|it|this tool|the application) will|won't work|"
        r"will (?:not work|crash|fail|be (?:lost|deleted|terminated|shut down|penalized))"
    ),
    "AGREED": (
        "(?:has|have|is|are)(?: already)? (?:approved|consented|agreed|authori[sz]ed|confirmed|pre-approved)|"
        "(?:has|have) (?:given|granted) (?:permission|consent)"
    ),
    "DISCUSSION": (
        "detect(?:s|ing)?|scan(?:s|ning)?|flags|such as|attempts|attacks|injections?|phrases?|sanitizes?|moderation|"
        "classif(?:y|ies)|jailbreaks?|e\\.g"
    ),
    "WHEN": "when(?:ever)?|before|after|while|if|(?:every|each|any) time|once|during",
    "WHENEVER": "if|when(?:ever)?|as soon as|once|after|from then on",
    "START": "(?:start|begin)(?:ing)?(?: to)?",
    "HARM": "(?:send|upload|transfer|copy|forward|push|log|record|delet|eras|wip|mirror|empty|overwrit)(?:e|ing)?",
    "ROUTED": "be (?:sent|routed|redirected|forwarded|copied|paid)(?: to| through| via)",
    "NAMED": "[IK]+",
    "MENTIONED": "[IKU]+",
    "CHANGE": (
        "must|always|should|change|replace|set|add|send|also|instead|redirect|recipients?|b?cc|append|include|forward|"
        "modify|ensure|route|substitute|needs to|has to|never"
    ),
    "REDIRECT": "recipients?|b?cc|redirect|replace|instead|substitute|forward|route",
    "INSTEAD": "instead of|rather than|in place of|replaces|(?:do not|don't|never|stop) (?:use|using|call|calling)",
    "BEST": "the best|the only|prefer(?:red)?|always (?:choose|select|use)|most (?:accurate|reliable)|exclusively",
    "OTHERS": "(?:any |all )?other (?:similar )?tools?|another tool|built-in tools|(?:any |all )?other servers",
}
"""Words and phrases of one meaning."""
GROUP = re.compile("[A-Z]{2,}")
FORMS = (
    (
        "SCAN107",
        re.compile(
            r"(?im)</?\s{0,3}(?:important|system|hidden|sys|override|system[-_ ](?:reminder|note)|(?:critical|mandatory"
            r"|urgent|priority|hidden|secret|internal|private|admin|system|ai|llm|model|agent|assistant)[-_ ]"
            r"(?:instruction|rule|directive|order|override|command|message|prompt)s?)\s{0,3}/?>"
            r"|</\s{0,3}(?:secret|admin|assistant)\s{0,3}>"
            r"|\[/?inst\]|<</?sys>>|<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
            r"|^\s{0,8}#{2,6}\s{0,3}(?:system|assistant|instruction)s?\s{0,3}:"
            r"|-{3,20}\s{0,4}(?:end|begin) of (?:the |this )?(?:tool |user |system )?(?:description|prompt|message)"
            r"|\[(?:system|assistant)(?: (?:message|note|prompt|override|instructions?))?\]"
        ),
    ),
    (
        "SCAN107",  # an argument `system:` of a docstring is no line of a conversation, so that case matters
        re.compile(r"(?m)^[ \t]{0,8}(?:(?:SYSTEM|ASSISTANT)(?: (?:MESSAGE|NOTE|PROMPT|OVERRIDE))?|Human|Assistant): "),
    ),
    (
        "SCAN109",
        re.compile(
            r"(?i)\b(?:curl|wget|iwr|irm)\b[^|\n]{3,200}\|\s{0,5}(?:sudo\s)?(?:(?:ba|z|da)?sh|iex|python3?)\b"
        ),
    ),
)  # fmt: skip
"""Orders by their form, in the text as it is."""


class Order(NamedTuple):
    """A row: `needs` is a pattern that has to be in the sentence as well, `unless` one that must not be."""

    code: str
    phrase: re.Pattern[str]
    needs: re.Pattern[str] | None
    unless: re.Pattern[str] | None


def compiled(phrase: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression."""
    found, between = "", ""
    for word in phrase.split():
        if word.isdecimal():
            # Possessive, since giving back parts of words could not lead to another match.
            between += rf"(?:\w++\W++){{0,{word}}}?"
            continue
        body = GROUP.sub(lambda name: f"(?:{GROUPS[name[0]]})", word).replace(" ", r"\W+")
        found += rf"{between}\b(?:{body})"
        between = r"\W++"
    return re.compile(rf"{found}(?!\w)")


def _order(code: str, phrase: str, needs: str = "", unless: str = "") -> Order:
    return Order(code, compiled(phrase), compiled(needs) if needs else None, compiled(unless) if unless else None)


ORDERS = (
    _order("SCAN101", "NOT 1 TELL 1 PERSON", unless="without"),
    _order("SCAN101", "NOT SAY THIS"),
    _order("SCAN101", "SECRETLY 1 ACT"),
    _order("SCAN101", "KEEP 3 from 1 PERSON"),
    _order("SCAN101", "without 1 TELL 1 PERSON", needs="MUST", unless="NOT"),
    _order("SCAN102", "without 3 ASK 3 PERSON", needs="MUST"),
    _order("SCAN102", "NOT REQUEST 4 CONSENT", unless="without"),
    _order("SCAN102", "auto-?(?:approve|accept|confirm)", needs="MUST"),
    _order("SCAN103", "IGNORE 3 PRIOR 3 RULES"),
    _order("SCAN103", "YOUARE 4 PERSONA"),
    _order("SCAN103", "(?:precedence|supersedes?|overrides?|overrules?) 2 PRIOR 3 RULES"),
    _order("SCAN104", "READ 6 PATH", needs="(?:ARGUMENT|CUE|as)"),
    _order("SCAN104", "READ 6 PRIVATE 6 INTO 2 ARGUMENT"),
    _order("SCAN104", "BEFORE 6 READ 6 PRIVATE"),
    _order("SCAN105", "PASS 4 WHOLE 4 CONVERSATION", needs="INTO"),
    _order("SCAN105", "PASS 4 INNER", needs="INTO"),
    _order("SCAN105", "PASS 5 PERSON 5 SECRET 5 INTO 4 ARGUMENT"),
    _order("SCAN105", "ARGUMENT 6 MUST 6 (?:CONVERSATION|INNER)"),
    _order("SCAN106", "BEFORE CALL 2 ANYTOOL"),
    _order("SCAN106", "CALLED BEFORE 1 ANYTOOL"),
    _order("SCAN108", "(?:bcc|blind) 4 EXTERNAL"),
    _order("SCAN108", "SEND 8 EXTERNAL", needs="(?:MUST|SECRETLY)"),
    _order("SCAN110", "MUST 25 LOSS", needs="(?:YOUMUST|CALLED)"),
    _order("SCAN111", "PERSON 1 AGREED", unless="(?:whether|if|once|until|unless|when|after)"),
    _order("SCAN112", "(?:if|when|once) 2 PERSON (?:mentions|refuses|objects|declines) 8 HARM"),
    _order("SCAN112", "WHENEVER 6 START 1 HARM"),
    _order("SCAN113", "(?:if|when|should) 3 asks? 8 (?:answer|reply|claim|insist|say) that"),
    _order("SCAN201", "WHEN 1 CALL 2 NAMED 12 CHANGE"),
    _order("SCAN201", "WHEN 1 CALL 2 MENTIONED 12 REDIRECT"),
    _order("SCAN201", "WHEN 1 MENTIONED is CALLED 6 REDIRECT"),
    _order("SCAN201", "(?:all|every|any) (?:mails?|emails?|messages?|payments?|transfers?) 2 MUST 1 ROUTED"),
    _order("SCAN202", "INSTEAD 1 OTHERS"),
    _order("SCAN202", "BEST 6 OTHERS"),
    _order("SCAN202", "INSTEAD 2 NAMED"),
    _order("SCAN205", "I+"),
)
"""Orders in a sentence.  In names of tools, `I` and `K` stand for one of another server, `U` for an unknown one."""
DISCUSSED = compiled("DISCUSSION")
"""What a sentence says that is about orders and gives none."""
# At most two words may be between them: `never ask to`.
NEGATED = re.compile(rf"{compiled('NOT').pattern}\W+(?:\w+\W+){{0,2}}$")
"""What reverses the order after it."""


SENTENCE = re.compile(r"(?:(?<!\be\.g)(?<!\bi\.e)(?<!\betc)[.!?](?=\s)|\n[ \t]{0,80}(?:\n|[-*•]))+")
"""What ends a sentence: an empty line or an item of a list does, too."""
TOOL_NAME = re.compile(r"[^\W_]+(?:[_.-]+[^\W_]+)*")
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+|[a-z]+(?:\.[a-z_]+)+")
CALLED = re.compile(r"\b(?:tool|function|call(?:ing)?|invok(?:e|ing))\W{1,3}$")
IS_TOOL = re.compile(r"\W{1,3}(?:tools?|function)\b")
KIND_OF_TOOL = re.compile(
    "e?mail|payment|file|search|browser|shell|terminal|calendar|messaging|transfer|banking|trading|database|git|slack"
    "|sms|write|read|fetch|weather|crypto|wallet|upload"
)
"""Words that name a tool of another server, before `tool`."""
ORDERING = frozenset({Role.PROSE, Role.VALUE, Role.CONTENTS, Role.NAME})
AROUND_NEGATION = 40
MAX_WORDS = 60
SHORTEST = 12
"""Characters of the shortest text that can be an order."""
MAX_TEXT = 1 << 20
"""Characters of one text that are read for orders; a longer one is a file of data."""


def find_orders(server: ServerTexts, others: Sequence[ServerTexts]) -> Iterator[Hit]:
    """Yield the orders in the texts of a server; `others`: the servers that are scanned with it."""
    own = {text.text.lower() for text in server.texts if text.role is Role.NAME}
    foreign = {name.lower() for other in others for name in other.tool_names} - own

    def mark(match: re.Match[str]) -> str:
        word = match[0]
        is_tool = IS_TOOL.match(match.string, match.end())
        # A name that is a common word, as `search`, counts only where the text calls it a tool.
        if word in foreign and not word.isalpha():
            # As long as the name, so that places in the sentence stay the same.
            return "I" * len(word)
        if word in foreign and (is_tool or CALLED.search(match.string, max(0, match.start() - 20), match.start())):
            return "K" * len(word)
        is_unknown = IDENTIFIER.fullmatch(word) or (KIND_OF_TOOL.fullmatch(word) and is_tool)
        return "U" * len(word) if is_unknown and word not in own else word

    for text in server.texts:
        if text.role in ORDERING and len(text.text) >= SHORTEST:
            yield from _of_text(text, (lambda match: match[0]) if text.role is Role.NAME else mark)


def _of_text(text: Text, mark: Callable[[re.Match[str]], str]) -> Iterator[Hit]:
    """Yield the orders of a text and of what is hidden in it, each code once."""
    read = text.text.replace("_", " ").replace("-", " ") if text.role is Role.NAME else text.text
    seen: set[str] = set()
    for code, start, end in _orders(read, mark):
        if code not in seen:
            seen.add(code)
            yield Hit(code, text, start, end, _quoted(read[start:end]))
    for payload in payloads(text.text):
        for code, start, end in _orders(payload.text, mark):
            detail = f"{_quoted(payload.text[start:end])} in {payload.encoding}"
            yield Hit(code, text, payload.start, payload.end, detail, payload.text)


def _quoted(words: str) -> str:
    return f"`{' '.join(words.split())[:MAX_WORDS]}`"


def _orders(text: str, mark: Callable[[re.Match[str]], str]) -> Iterator[tuple[str, int, int]]:
    folded, offsets = fold(text)
    start = 0
    for end in (*(match.end() for match in SENTENCE.finditer(folded)), len(folded)):
        sentence = folded[start:end]
        for code, first, last in _orders_of_sentence(sentence, TOOL_NAME.sub(mark, sentence)):
            # One character of the original may be several in folded form.
            yield code, offsets[start + first], offsets[start + last - 1] + 1
        start = end
    for code, form in FORMS:
        match = form.search(text)
        if match:
            yield code, *match.span()


def _orders_of_sentence(sentence: str, marked: str) -> Iterator[tuple[str, int, int]]:
    """Yield the orders of a sentence: as it is, and with the names of tools marked, which hides names of files."""
    for read in () if DISCUSSED.search(sentence) else dict.fromkeys((sentence, marked)):
        for order in ORDERS:
            match = order.phrase.search(read)
            if (
                match
                and (order.needs is None or order.needs.search(read))
                and (order.unless is None or not order.unless.search(read))
                and not NEGATED.search(read, max(0, match.start() - AROUND_NEGATION), match.start())
            ):
                yield order.code, *match.span()


def fold(text: str) -> tuple[str, Sequence[int]]:
    """Return a text in folded form, and the place of each of its characters in the original."""
    text = text[:MAX_TEXT]
    if text.isascii():
        return text.lower(), range(len(text))
    hidden = {match.start() for match in hidden_finder(controls=False).finditer(text)}
    characters: list[str] = []
    offsets: list[int] = []
    for number, character in enumerate(text):
        same = "" if number in hidden else unicodedata.normalize("NFKC", character).translate(LATIN).lower()
        characters.append(same.replace("\u2019", "'").replace("\u2018", "'"))
        offsets += [number] * len(same)
    return "".join(characters), offsets


def find_same_names(servers: Sequence[ServerTexts]) -> Iterator[tuple[ServerTexts, Hit]]:
    """Yield tools with the name of another server's tool, and those with a name that looks like it."""
    for one, other in combinations(servers, 2):
        exact = dict(zip(one.tool_names, one.items("tools"), strict=True))
        shapes = {skeleton(name): name for name in one.tool_names}
        for number, name in enumerate(other.tool_names):
            text = Text("tool", name, "name", f"/tools/{number}/name", Role.NAME, name)
            if name in exact and one.server.name == other.server.name and exact[name] == other.items("tools")[number]:
                continue  # one server, named twice
            if name in exact:
                yield other, Hit("SCAN203", text, 0, len(name), f"with {one.server.name}")
            elif skeleton(name) in shapes:
                like = shapes[skeleton(name)]
                yield other, Hit("SCAN204", text, 0, len(name), f"it looks like `{like}` of {one.server.name}")
