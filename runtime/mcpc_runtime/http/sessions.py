"""Sessions of the handshake era: a signed id contains what was negotiated, so any process with the key can serve it.

    id = sign(version, 10 bytes | capabilities, 2 bytes | digest of the principal, 16 bytes | random, 16 bytes)

Memory holds only state that cannot be in an id: running calls and streams, subscriptions, a log level. Nothing is
stored for a client without a signed id.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from time import monotonic
from typing import Protocol

from mcpc_runtime.concurrency.fair_shares import Holdings
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.http.streams import EventStream
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.purposes import token_purpose
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas.signed_tokens import token_signer
from mcpc_runtime.transports.platforms import system


class MessageSink(Protocol):
    """Takes the messages of a session that belong to none of its requests."""

    def send(self, line: bytes) -> None:
        """Send a line."""

    def end_streams(self) -> None:
        """End the streams that have no end otherwise."""


PURPOSE = "session"
MAX_TOKEN_LENGTH = 256
VALID_SECONDS = 30 * 86400.0
"""How long an id is valid, with or without state in this process."""
CAPABILITY_PATHS: tuple[tuple[str, ...], ...] = (
    ("roots",), ("roots", "listChanged"), ("sampling",), ("sampling", "tools"), ("sampling", "context"),
    ("elicitation",), ("elicitation", "form"), ("elicitation", "url"),
)  # fmt: skip
"""The client capabilities that the server uses; an id has one bit for each."""
TOLERATED = 1 << 15
"""The bit of a client whose invalid arguments are corrected."""
MAX_EXAMINED = 64
MAX_ENDED = 1 << 16
MAX_STREAMS = 4
MAX_EVENT_STREAMS = 32
MAX_STORED_BYTES = 64 << 20
"""Maximum bytes of stored events, of all sessions together."""


class HttpConversation:
    """The state of one session in this process.

    `name`: a digest of its id, for logs and other processes.  `streams`: those of GET requests, the newest last.
    `resumable`: the streams that can be resumed, by name.
    """

    __slots__ = ("last_used", "name", "posts", "resumable", "session", "streams", "token")

    def __init__(self, session: Session, token: str) -> None:
        self.session = session
        self.token = token
        self.name = session.conversation = session_name(token)
        self.last_used = 0.0
        self.posts: dict[object, None] = {}
        self.streams: list[EventStream] = []
        self.resumable: dict[bytes, EventStream] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a request or a stream is open."""
        return bool(self.posts or self.session.running or any(stream.response is not None for stream in self.streams))

    @property
    def has_state(self) -> bool:
        """Whether there is state that its id does not contain."""
        session = self.session
        has_protocol_state = session.watched or session.asked or session.log_level is not None
        return bool(has_protocol_state or self.resumable or self.streams or self.is_busy)

    def end_streams(self) -> None:
        """End the streams of GET requests."""
        for stream in self.streams:
            stream.end()

    def send(self, line: bytes) -> None:
        """Send a message without a request on the newest open stream; drop it if there is none."""
        for stream in reversed(self.streams):
            if stream.response is not None and not stream.response.gone:
                stream.send(line)
                return
        if self.streams and self.streams[-1].name:
            self.streams[-1].send(line)


class Sessions:
    """The sessions of one server; `clock` says when one was used, and when its events expire."""

    def __init__(self, image: Image, settings: HttpSettings, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._image = image
        self._settings = settings
        self._purpose = token_purpose(PURPOSE, image)
        self.live: OrderedDict[str, HttpConversation] = OrderedDict()
        self._by_principal: dict[str, OrderedDict[str, HttpConversation]] = {}
        self._counts = Holdings()
        self.by_session: dict[Session, MessageSink] = {}
        self._ended: dict[str, None] = {}
        # So that no other process, nor this server after a restart, has streams of the same names.
        self._nonce = system.urandom(4).hex().encode()
        self._stream_count = 0
        self._resumable: dict[EventStream, HttpConversation] = {}
        self._resumable_by_principal: dict[str, OrderedDict[EventStream, None]] = {}
        self._stored = Holdings()

    def mint(self, session: Session) -> str:
        """Return a new signed id of an initialized session."""
        version = session.handshake_wire().version.encode()
        payload = b"%b%b%b%b" % (
            version,
            pack_capabilities(session.capabilities, tolerated=session.is_tolerated),
            principal_digest(session.principal),
            system.urandom(16),
        )
        return token_signer().sign(self._purpose, payload, VALID_SECONDS)

    def find(self, token: str, principal: str) -> HttpConversation | None:
        """Return the session of an id; None if the id is forged, ended, expired or of another principal."""
        conversation = self.live.get(token)
        if conversation is not None:
            # An id is no credential: it is valid for the principal for which it was made.
            if conversation.session.principal != principal:
                return None
            conversation.last_used = self.clock()
            self._touch(conversation)
            return conversation
        if len(token) > MAX_TOKEN_LENGTH or (self._ended and session_name(token) in self._ended):
            return None
        payload = token_signer().open(self._purpose, token)
        # The parts of an id that are named above: 10 + 2 + 16 + 16 bytes.
        if payload is None or len(payload) != 44 or payload[12:28] != principal_digest(principal):
            return None
        version = payload[:10].decode()
        if version not in self._image.handshake_versions:
            return None
        session = Session(self._image)
        session.wire = self._image.revision(version)
        session.capabilities = unpack_capabilities(payload[10:12])
        # The first of two bytes has the bit; `>>` binds closer than `&`.
        session.is_tolerated = payload[10] & TOLERATED >> 8 != 0
        session.principal = principal
        session.account = self._settings.budget.account(principal)
        return HttpConversation(session, token)

    def retain(self, conversation: HttpConversation) -> None:
        """Keep a session in memory while it has state, remove it otherwise."""
        token = conversation.token
        if not conversation.has_state or conversation.name in self._ended:
            release_account(conversation.session)
        if not conversation.has_state:
            self._discard(conversation)
        elif token not in self.live and conversation.name not in self._ended:
            conversation.last_used = self.clock()
            self._make_room()
            self._add(conversation)

    def end(self, conversation: HttpConversation) -> str:
        """End a session; return the name by which other processes are informed."""
        self.remove(conversation)
        self._revoke(conversation.name)
        return conversation.name

    def revoke(self, name: str) -> None:
        """Reject the id of this name from now on: another process ended the session.  O(sessions in memory)."""
        for conversation in [conversation for conversation in self.live.values() if conversation.name == name]:
            self.remove(conversation)
        self._revoke(name)

    def find_by_name(self, name: str) -> HttpConversation | None:
        """Return the session of this name, None if it is not in memory.  O(sessions in memory)."""
        return next((conversation for conversation in self.live.values() if conversation.name == name), None)

    def _revoke(self, name: str) -> None:
        # The oldest is forgotten: its id is valid again, until it expires.
        if len(self._ended) >= MAX_ENDED:
            del self._ended[next(iter(self._ended))]
        self._ended[name] = None

    def remove(self, conversation: HttpConversation) -> None:
        """End the streams of a session, and remove its state."""
        for stream in [*conversation.streams, *conversation.resumable.values()]:
            stream.end()
            self.discard_events(stream)
        conversation.streams.clear()
        release_account(conversation.session)
        self._discard(conversation)

    def sweep(self) -> None:
        """Remove sessions that were not used for long, and expired events. O(those removed)."""
        now = self.clock()
        while self.live:
            conversation = next(iter(self.live.values()))
            # In the order of their last use: none of those that follow is older.
            if conversation.last_used + self._settings.session_seconds > now:
                break
            if conversation.is_busy:
                conversation.last_used = now
                self._touch(conversation)
            else:
                self.remove(conversation)
        for stream in [stream for stream in self._resumable if stream.ended and stream.expires < now]:
            self.discard_events(stream)

    def _make_room(self) -> None:
        """If there are too many sessions, remove the least recently used one of the principal that has most.

        A busy one is skipped, and counts as used just now.
        """
        if len(self.live) < self._settings.max_sessions:
            return
        oldest_first = self._by_principal[self._counts.largest()].values()
        for conversation in [conversation for _, conversation in zip(range(MAX_EXAMINED), oldest_first, strict=False)]:
            if not conversation.is_busy:
                self.remove(conversation)
                return
            self._touch(conversation)

    def _add(self, conversation: HttpConversation) -> None:
        token, principal = conversation.token, conversation.session.principal
        self.live[token] = conversation
        self.by_session[conversation.session] = conversation
        self._by_principal.setdefault(principal, OrderedDict())[token] = conversation
        self._counts.add(principal)

    def _touch(self, conversation: HttpConversation) -> None:
        """Move a session to the end of the order of use."""
        token = conversation.token
        self.live.move_to_end(token)
        self._by_principal[conversation.session.principal].move_to_end(token)

    def _discard(self, conversation: HttpConversation) -> None:
        token, principal = conversation.token, conversation.session.principal
        if self.live.pop(token, None) is None:
            return
        self.by_session.pop(conversation.session, None)
        self._counts.add(principal, -1)
        del self._by_principal[principal][token]
        if not self._by_principal[principal]:
            del self._by_principal[principal]

    def open_stream(self, conversation: HttpConversation) -> EventStream:
        """Return a new event stream of a session; it can be resumed unless that is switched off."""
        if self._settings.resume_events == 0:
            return EventStream()
        self._stream_count += 1
        stream = EventStream(b"%b.%d" % (self._nonce, self._stream_count), self._limit_events)
        while len(conversation.resumable) >= MAX_EVENT_STREAMS:
            self.discard_events(next(iter(conversation.resumable.values())))
        conversation.resumable[stream.name] = stream
        self._resumable[stream] = conversation
        self._resumable_by_principal.setdefault(conversation.session.principal, OrderedDict())[stream] = None
        return stream

    def _limit_events(self, stream: EventStream, size: int) -> None:
        """Enforce the limits of stored events: those of the stream, and that of all streams together.

        Above the latter, the principal with the most stored bytes loses the events of its oldest stream.
        """
        stream.expires = self.clock() + self._settings.resume_seconds
        trimmed = stream.trim(self._settings.resume_events, self._settings.resume_bytes)
        self._stored.add(self._resumable[stream].session.principal, size - trimmed)
        self._charge(stream, size, trimmed)
        while self._stored.total > MAX_STORED_BYTES and len(self._resumable) > 1:
            self.discard_events(next(iter(self._resumable_by_principal[self._stored.largest()])))

    def _charge(self, stream: EventStream, size: int, trimmed: int) -> None:
        """Charge a stored event; without room for it the event stream cannot be resumed."""
        conversation = self._resumable.get(stream)
        if conversation is None:
            return
        budget, principal = self._settings.budget, conversation.session.principal
        if budget.charge(principal, size):
            budget.release(principal, trimmed)
        else:
            stream.stored_bytes -= size  # the last event was not charged
            self._stored.add(principal, -size)
            budget.release(principal, trimmed)
            self.discard_events(stream)

    def resume(self, conversation: HttpConversation, last: bytes) -> tuple[EventStream, int] | None:
        """Return the stream and the number of an event id, None if no stream of this session has that name."""
        name, _, number = last.rpartition(b".")
        stream = conversation.resumable.get(name)
        return (stream, int(number)) if stream is not None and number.isdigit() and len(number) < 10 else None

    def discard_events(self, stream: EventStream) -> None:
        """Discard the stored events of a stream, which can then no longer be resumed."""
        conversation = self._resumable.pop(stream, None)
        if conversation is not None:
            principal = conversation.session.principal
            self._stored.add(principal, -stream.stored_bytes)
            self._settings.budget.release(principal, stream.stored_bytes)
            del self._resumable_by_principal[principal][stream]
            if not self._resumable_by_principal[principal]:
                del self._resumable_by_principal[principal]
            conversation.resumable.pop(stream.name, None)
            stream.name, stream.on_store = b"", None
            stream.events.clear()
            stream.stored_bytes = 0


def release_account(session: Session) -> None:
    """End the memory account of a session: nothing is charged for it any more, nor stored."""
    if session.account is not None:
        session.account.end()


def session_name(token: str) -> str:
    """Return the public name of a session: 128 bits of its id's digest."""
    return sha256(token.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def principal_digest(principal: str) -> bytes:
    """Return the digest that stands for a principal in a session id."""
    return sha256(principal.encode()).digest()[:16]


def pack_capabilities(capabilities: dict[str, Json], *, tolerated: bool = False) -> bytes:
    """Return the client capabilities of CAPABILITY_PATHS, and whether its arguments are corrected, as bits."""
    bits = sum(1 << bit for bit, path in enumerate(CAPABILITY_PATHS) if has_member(capabilities, path))
    return (bits | tolerated * TOLERATED).to_bytes(2, "big")


def has_member(capabilities: Json, path: tuple[str, ...]) -> bool:
    """Tell whether there is a capability at a path of members: an object, or true."""
    for step in path:
        capabilities = capabilities.get(step) if type(capabilities) is dict else None
    return type(capabilities) is dict or capabilities is True


def unpack_capabilities(data: bytes) -> dict[str, Json]:
    """Return the capabilities of bits as a client would declare them."""
    bits = int.from_bytes(data, "big")
    capabilities: dict[str, Json] = {}
    for bit, path in enumerate(CAPABILITY_PATHS):
        if bits >> bit & 1:
            inner = capabilities.setdefault(path[0], {})
            if len(path) > 1 and type(inner) is dict:
                inner[path[1]] = True if path[1] == "listChanged" else {}
    return capabilities
