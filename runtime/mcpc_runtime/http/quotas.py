"""Quotas of tool calls: how many one caller may begin in a period, of all tools or of one; 429 beyond that.

A quota is a bucket that holds its calls and is refilled evenly, so a caller may use it up at once.  The caller is the
principal of a token, else the address of the client.  Buckets are kept in this process, at most MAX_BUCKETS; the one
that was used longest ago is forgotten, which makes it full again.
"""

from __future__ import annotations

from _collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_network
from math import ceil
from time import monotonic

from mcpc_runtime.http.options import PERIODS, Quota
from mcpc_runtime.http.origins import parse_address
from mcpc_runtime.http.replies import Reply, error
from mcpc_runtime.protocol.constants import INVALID_REQUEST
from mcpc_runtime.protocol.jsonrpc import Json

MAX_BUCKETS = 1 << 14
IPV6_NETWORK = 64
"""The bits that the addresses of one IPv6 client have in common."""


class Quotas:
    """The quotas of one process; `clock` says how much time has passed."""

    def __init__(self, quotas: Iterable[Quota], clock: Callable[[], float] = monotonic) -> None:
        self._quotas = tuple(quotas)
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, int], tuple[float, float]] = OrderedDict()

    def refusal(
        self, caller: str, tools: Sequence[str], identifier: Json = None, operations: Sequence[str] = ()
    ) -> Reply | None:
        """Count calls of tools; return the refusal, and count none of them, if a quota has no room for them.

        `operations`: the tools that some of them call.
        """
        now, filled = self._clock(), {}
        longest, exceeded = 0.0, 0
        for number, (tool, calls, period) in enumerate(self._quotas):
            count = tools.count(tool) + operations.count(tool) if tool else len(tools)
            if not count:
                continue
            left, since = self._buckets.get((caller, number), (float(calls), now))
            seconds_each = PERIODS[period] / calls
            left = min(calls, left + (now - since) / seconds_each) - count
            filled[caller, number] = left, now
            # In seconds: how long it takes until the bucket has what is missing.
            if left < 0 and -left * seconds_each > longest:
                longest, exceeded = -left * seconds_each, number
        if longest:
            return self._refuse(exceeded, max(1, ceil(longest)), identifier)
        for key, bucket in filled.items():
            self._buckets[key] = bucket
            self._buckets.move_to_end(key)
        while len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return None

    def _refuse(self, number: int, seconds: int, identifier: Json) -> Reply:
        tool, calls, period = self._quotas[number]
        quota = f"{calls}/{period}{f' of the tool {tool}' if tool else ''}"
        message = f"Too many requests: your quota of calls is {quota} (--quota); call again in {seconds} s"
        return error(429, INVALID_REQUEST, message, identifier, [(b"retry-after", b"%d" % seconds)])


def called_tools(message: Json) -> list[str]:
    """Return the tools that a message, or those of a batch, call."""
    names = []
    for item in message if type(message) is list else [message]:
        if type(item) is dict and item.get("method") == "tools/call" and "id" in item:
            params = item.get("params")
            name = params.get("name") if type(params) is dict else None
            # A call without a valid name counts for the quotas of all tools.
            names.append(name if type(name) is str else "")
    return names


def caller_of(principal: str, address: str) -> str:
    """Return the name of a caller: its principal, else its address, for IPv6 without the part that a client chooses."""
    if principal:
        return f"principal {principal}"
    parsed = parse_address(address)
    if parsed is not None and parsed.version == 6:
        return f"address {ip_network((parsed, IPV6_NETWORK), strict=False)}"
    return f"address {address if parsed is None else parsed}"
