"""Very many calls of one server: none lost, and memory, descriptors and processes as they were.

python tests/faults/soak.py [--calls 1000000] [--children 0.1] [--form bash|python|inline ...]
python tests/faults/soak.py --http [--calls 100000]
"""

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import forms, soak_http
from faults.client import HANDSHAKE, Fault, Server, require, resident, until
from support.artifact import build
from support.serving import served

WINDOW = 64
SAMPLES = 100
MEBIBYTE = 1 << 20
LONG, SHORT_GROWTH = 50_000, 4 * MEBIBYTE
"""In fewer calls than LONG a process has not yet taken all that it will keep; a leak of a KiB a call is seen all the same."""


@dataclass
class Figures:
    """What a soak saw.  A sample is: calls made, resident bytes of the server, of all its processes."""

    calls: int
    answered: int = 0
    seconds: float = 0.0
    samples: list[tuple[int, int, int]] = field(default_factory=list)
    descriptors: tuple[int, int] = (0, 0)
    processes: tuple[int, int] = (0, 0)

    def growth(self, column: int) -> tuple[float, float]:
        """Return the growth of memory over the whole soak: bytes by a linear fit after the first fifth, and per cent."""
        points = [(sample[0], sample[column]) for sample in self.samples[len(self.samples) // 5 :]]
        count = len(points)
        mean_x, mean_y = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
        spread = sum((x - mean_x) ** 2 for x, _ in points) or 1
        slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
        return slope * self.calls, 100 * slope * self.calls / max(mean_y, 1)

    def problems(self) -> list[str]:
        found = []
        if self.answered != self.calls:
            found.append(f"{self.calls - self.answered} of {self.calls} replies were lost")
        for name, column in (("the server", 1), ("all processes", 2)):
            grown, share = self.growth(column)
            if share >= 1 and grown >= (MEBIBYTE if self.calls >= LONG else SHORT_GROWTH):
                found.append(f"memory of {name} grows by {share:.1f} % ({grown / MEBIBYTE:.1f} MiB)")
        if self.descriptors[1] > self.descriptors[0]:
            found.append("descriptors: {} before, {} after".format(*self.descriptors))
        if self.processes[1] > self.processes[0]:
            found.append("processes: {} before, {} after".format(*self.processes))
        return found

    def __str__(self) -> str:
        rate = self.calls / self.seconds
        return f"{self.calls} calls, {rate:.0f}/s, server {self.growth(1)[1]:+.2f} %, all {self.growth(2)[1]:+.2f} %"


def sample(server: Server, made: int, staying: list[int], figures: Figures) -> None:
    """Note how much memory is in use: by the server, and by it and the processes that stay."""
    own = resident(server.pid)
    figures.samples.append((made, own, own + sum(map(resident, staying))))


def settle(server: Server) -> None:
    """Wait until the number of its processes stays."""
    seen = [-1, -2]
    until(lambda: seen.append(len(server.running())) or time.sleep(0.1) or seen[-1] == seen[-2] == seen[-3], 5)


def soak(server: Server, tool: str, count: int) -> Figures:
    """Make `count` calls, a window of them under way at once; return the figures."""
    arguments = {"seconds": 0} if tool == "spawn" else {"text": "hi"}
    figures = Figures(count)
    staying = [process.pid for process in server.running()]
    descriptors, processes = server.descriptors(), len(staying)
    began = time.monotonic()
    each = max(1, count // SAMPLES)
    sent = 0
    first = server.replies.lines
    while figures.answered < count:
        size = min(count, figures.answered + WINDOW) - sent
        if size > 0:
            lines = [
                server.line("tools/call", {"name": tool, "arguments": arguments}, id=sent + n) for n in range(size)
            ]
            server.write(b"".join(lines))
            sent += size
        before = figures.answered
        arrived = server.wait_count(first + before + 1, 60)
        figures.answered = arrived - first
        if figures.answered == before:
            break
        if figures.answered // each != before // each:
            sample(server, figures.answered, staying, figures)
            forget(server)
    figures.seconds = time.monotonic() - began
    until(lambda: server.descriptors() <= descriptors and len(server.running()) <= processes, 3)
    figures.descriptors = descriptors, server.descriptors()
    figures.processes = processes, len(server.running())
    return figures


def forget(server: Server) -> None:
    """Judge the replies that came, and keep none of them."""
    with server.replies.changed:
        for identifier, found in server.replies.messages.items():
            require(len(found) == 1, f"{identifier} was answered {len(found)} times")
            reply = found[0]
            require("result" in reply and not reply["result"].get("isError"), reply)
        server.replies.messages.clear()


def main() -> int:
    """Run the soaks, print their figures, and return 1 if one of them is not as it has to be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--children", type=float, default=0.1, help="the part of the calls that start a process")
    parser.add_argument("--form", action="append", choices=forms.FORMS, help="all of them unless one is named")
    parser.add_argument("--http", action="store_true", help="every kind of HTTP client instead, and no --form")
    options = parser.parse_args()
    if options.http:
        return over_http(options.calls)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for form in options.form or forms.FORMS:
            parts = {
                "echo": int(options.calls * (1 - options.children)),
                "spawn": int(options.calls * options.children),
            }
            server = Server(forms.command(forms.build(form, Path(folder))), HANDSHAKE).shake()
            for tool, count in parts.items():
                for _ in range(5):
                    server.result(tool, **({"seconds": 0} if tool == "spawn" else {"text": "warm"}))
                settle(server)
                try:
                    figures = soak(server, tool, count) if count else None
                    problems = [] if figures is None else figures.problems()
                except Fault as fault:
                    figures, problems = None, [str(fault)]
                bad += len(problems)
                sys.stdout.write(f"{form:8}{tool:7}{figures}  {'; '.join(problems) or 'well'}\n")
                sys.stdout.flush()
            try:
                server.end()
            except Fault as fault:
                bad += 1
                sys.stdout.write(f"{form:8}at its end: {fault}\n")
    return int(bool(bad))


def over_http(count: int) -> int:
    """Run the soak over HTTP, print its figures, and return 1 if they are not as they have to be."""
    with tempfile.TemporaryDirectory() as folder:
        artifact = soak_http.artifact(Path(folder), build)
        with served(artifact, *soak_http.OPTIONS) as server:
            figures = soak_http.soak(server, count)
    problems = figures.problems()
    sys.stdout.write(f"http    {figures}  {'; '.join(problems) or 'well'}\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
