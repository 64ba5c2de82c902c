"""FastMCP's own middleware that limits how often clients call."""

from __future__ import annotations

import inspect
import time
from abc import abstractmethod
from collections import deque
from typing import Any

from mcpc_runtime.systems.fastmcp.engine.middleware import Middleware
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.sdk import McpError, error_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.systems.fastmcp.engine.middleware import CallNext, MiddlewareContext

RATE_LIMIT = -32000
MOST_CLIENTS = 10_000
"""How many clients are remembered: the latest ones."""


class RateLimitError(McpError):  # type: ignore[misc]
    """A client calls too often."""

    def __init__(self, message: str = "Rate limit exceeded") -> None:
        super().__init__(*error_arguments(RATE_LIMIT, message))


class TokenBucketRateLimiter:
    """Lets some requests through at once, and some in each second."""

    def __init__(self, capacity: float, refill_rate: float) -> None:
        self.capacity, self.refill_rate = capacity, refill_rate
        self.tokens: float = capacity
        self.last_refill = time.time()

    async def consume(self, tokens: int = 1) -> bool:
        """Tell whether there may be some requests; they are counted then."""
        now = time.time()
        self.tokens = min(self.capacity, self.tokens + (now - self.last_refill) * self.refill_rate)
        self.last_refill = now
        if self.tokens < tokens:
            return False
        self.tokens -= tokens
        return True


class SlidingWindowRateLimiter:
    """Lets some requests through in each time of some seconds."""

    def __init__(self, max_requests: int, window_seconds: float) -> None:
        self.max_requests, self.window_seconds = max_requests, window_seconds
        self.requests: deque[float] = deque()

    async def is_allowed(self) -> bool:
        """Tell whether there may be a request; it is counted then."""
        now = time.time()
        while self.requests and self.requests[0] < now - self.window_seconds:
            self.requests.popleft()
        if len(self.requests) >= self.max_requests:
            return False
        self.requests.append(now)
        return True


class ClientLimits(Middleware):
    """Middleware that counts the requests of each client."""

    def __init__(self, get_client_id: Callable[[Any], Any] | None) -> None:
        self.get_client_id = get_client_id
        self.limiters: dict[str, Any] = {}

    async def client_of(self, context: MiddlewareContext) -> str:
        """Return the client of a request."""
        found = self.get_client_id(context) if self.get_client_id else "global"
        return str(await found if inspect.isawaitable(found) else found)

    def limiter_of(self, client: str) -> Any:
        """Return what counts the requests of a client."""
        found = self.limiters.pop(client, None) or self.new_limiter()
        self.limiters[client] = found
        while len(self.limiters) > MOST_CLIENTS:
            del self.limiters[next(iter(self.limiters))]
        return found

    @abstractmethod
    def new_limiter(self) -> Any:
        """Make what counts the requests of a client."""


class RateLimitingMiddleware(ClientLimits):
    """Lets clients make some requests at once, and some in each second."""

    def __init__(
        self,
        max_requests_per_second: float = 10.0,
        burst_capacity: int | None = None,
        get_client_id: Callable[[Any], Any] | None = None,
        global_limit: bool = False,
    ) -> None:
        super().__init__(get_client_id)
        self.max_requests_per_second = max_requests_per_second
        self.burst_capacity = burst_capacity or int(max_requests_per_second * 2)
        self.global_limit = global_limit
        if global_limit:
            self.global_limiter = self.new_limiter()

    def new_limiter(self) -> TokenBucketRateLimiter:
        """Make what counts the requests of a client."""
        return TokenBucketRateLimiter(self.burst_capacity, self.max_requests_per_second)

    async def on_request(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        """Run a request if there may be one."""
        if self.global_limit:
            if not await self.global_limiter.consume():
                raise RateLimitError("Global rate limit exceeded")
            return await call_next(context)
        client = await self.client_of(context)
        if not await self.limiter_of(client).consume():
            raise RateLimitError(f"Rate limit exceeded for client: {client}")
        return await call_next(context)


class SlidingWindowRateLimitingMiddleware(ClientLimits):
    """Lets clients make some requests in each time of some minutes."""

    def __init__(
        self, max_requests: int, window_minutes: float = 1, get_client_id: Callable[[Any], Any] | None = None
    ) -> None:
        super().__init__(get_client_id)
        self.max_requests = max_requests
        self.window_seconds = window_minutes * 60

    def new_limiter(self) -> SlidingWindowRateLimiter:
        """Make what counts the requests of a client."""
        return SlidingWindowRateLimiter(self.max_requests, self.window_seconds)

    async def on_request(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        """Run a request if there may be one."""
        client = await self.client_of(context)
        if not await self.limiter_of(client).is_allowed():
            minutes = int(self.window_seconds // 60)
            raise RateLimitError(
                f"Rate limit exceeded: {self.max_requests} requests per {minutes} minutes for client: {client}"
            )
        return await call_next(context)
