"""What a person wants to know of a server, computed from two readings of its metrics.

Rates and quantiles are of the time between the readings; with one reading they are of all the time since the start.
A counter that became smaller belongs to a server that was started again, so the earlier reading is not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mcpc_runtime.tools.cli.top.exposition import Samples

Key = tuple[str, str]
"""What is called: kind and name."""


SUCCESS = "success"
INFINITE = float("inf")
STARTED, ENDED = "mcpc_calls_started_total", "mcpc_calls_total"
BUCKETS, SUM = "mcpc_call_seconds_bucket", "mcpc_call_seconds_sum"
REQUESTS = "mcpc_requests_total"
FIRST_FAILURE = 400
"""The first status of a response that reports an error."""


class Reading(NamedTuple):
    """The metrics at one time; `at`: in seconds, of any clock."""

    at: float
    samples: Samples


class CallRow(NamedTuple):
    """One tool, prompt, resource or completion.

    `calls`, `errors`: since the start; `rate`: ended calls a second; `p50` to `p99`: seconds, None without a call.
    """

    kind: str
    name: str
    calls: int
    running: int
    errors: int
    rate: float
    p50: float | None
    p95: float | None
    p99: float | None


class Overview(NamedTuple):
    """The process: sums, and those gauges that the server has."""

    server: str
    uptime: float | None
    requests: int
    request_rate: float
    refused: int
    calls: int
    call_rate: float
    errors: int
    gauges: Mapping[str, float]
    rows: tuple[CallRow, ...]


def overview(now: Reading, earlier: Reading | None, clock: float) -> Overview:
    """Return the measures of a reading; `clock`: the time in seconds since 1970."""
    gauges = {name: rows[0][1] for name, rows in now.samples.items() if len(rows) == 1 and not rows[0][0]}
    began = gauges.get("process_start_time_seconds")
    uptime = None if began is None else max(0.0, clock - began)
    if earlier is not None and _was_restarted(now, earlier):
        earlier = None
    seconds = uptime or 0.0 if earlier is None else now.at - earlier.at
    rows = tuple(call_rows(now.samples, {} if earlier is None else earlier.samples, seconds))
    requests = _total(now.samples, REQUESTS)
    before = 0 if earlier is None else _total(earlier.samples, REQUESTS)
    return Overview(
        _server(now.samples),
        uptime,
        requests,
        _rate(requests - before, seconds),
        int(sum(value for labels, value in now.samples.get(REQUESTS, ()) if _is_failure(labels.get("status", "")))),
        sum(row.calls for row in rows),
        sum(row.rate for row in rows),
        sum(row.errors for row in rows),
        gauges,
        rows,
    )


def call_rows(now: Samples, earlier: Samples, seconds: float) -> Iterable[CallRow]:
    """Yield a row for everything that was called."""
    started, before = _by_key(now, STARTED), _by_key(earlier, ENDED)
    ended, failed = _by_key(now, ENDED), _failed(now)
    histograms, older = _histograms(now), _histograms(earlier)
    for key in sorted({*started, *ended}):
        done = ended.get(key, 0)
        buckets = _difference(histograms.get(key, []), older.get(key, []))
        if not any(count for _, count in buckets):
            buckets = histograms.get(key, [])
        p50, p95, p99 = (quantile(buckets, part) for part in (0.5, 0.95, 0.99))
        running = max(0, started.get(key, 0) - done)
        rate = _rate(done - before.get(key, 0), seconds)
        yield CallRow(*key, done, running, failed.get(key, 0), rate, p50, p95, p99)


def quantile(buckets: list[tuple[float, float]], part: float) -> float | None:
    """Return a quantile in seconds of a histogram: bounds with the number of values up to each; None without values.

    Between two bounds values are taken to be spread evenly; what is above the last finite bound is that bound.
    """
    total = buckets[-1][1] if buckets else 0
    if total <= 0:
        return None
    lower, below = 0.0, 0.0
    for bound, count in buckets:
        if count >= part * total:
            if bound == INFINITE:
                return lower
            return lower + (bound - lower) * (part * total - below) / (count - below)
        lower, below = bound, count
    return lower


def _server(samples: Samples) -> str:
    names = [f"{labels.get('server', '')} {labels.get('version', '')}" for labels, _ in _info(samples)]
    return ", ".join(names)


def _info(samples: Samples) -> list[tuple[dict[str, str], float]]:
    return samples.get("mcpc_server_info", [])


def _key(labels: Mapping[str, str]) -> Key:
    return labels.get("kind", ""), labels.get("name", "")


def _by_key(samples: Samples, name: str) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for labels, value in samples.get(name, ()):
        found[_key(labels)] = found.get(_key(labels), 0) + int(value)
    return found


def _failed(samples: Samples) -> dict[Key, int]:
    rows = [row for row in samples.get(ENDED, ()) if row[0].get("outcome") != SUCCESS]
    return _by_key({ENDED: rows}, ENDED)


def _histograms(samples: Samples) -> dict[Key, list[tuple[float, float]]]:
    found: dict[Key, list[tuple[float, float]]] = {}
    for labels, value in samples.get(BUCKETS, ()):
        try:
            bound = float(labels.get("le", ""))
        except ValueError:
            continue
        found.setdefault(_key(labels), []).append((bound, value))
    return {key: sorted(rows) for key, rows in found.items()}


def _difference(now: list[tuple[float, float]], earlier: list[tuple[float, float]]) -> list[tuple[float, float]]:
    before = dict(earlier)
    return [(bound, count - before.get(bound, 0.0)) for bound, count in now]


def _total(samples: Samples, name: str) -> int:
    return int(sum(value for _, value in samples.get(name, ())))


def _rate(count: float, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0


def _is_failure(status: str) -> bool:
    return status.isdecimal() and int(status) >= FIRST_FAILURE


def _was_restarted(now: Reading, earlier: Reading) -> bool:
    return any(_total(now.samples, name) < _total(earlier.samples, name) for name in (REQUESTS, STARTED))
