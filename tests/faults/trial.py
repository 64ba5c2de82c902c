"""What every case works with: one form and one era, servers that are judged at their end, and measures of time."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults import forms
from faults.client import HANDSHAKE, STATELESS, Fault, Server, require, until
from faults.site import Site
from support.machines import Machine
from support.slack import slack

BOTH = (HANDSHAKE, STATELESS)
SOAK = int(os.environ.get("TESTS_SOAK", "10000"))
"""How many calls the soaks make in all."""
FULL = os.environ.get("TESTS_FULL") == "1"
"""Whether cases that are scaled down run at their full size, and with the limits that a server usually has."""
SETTLE_SECONDS = 1.0
WINE_DESCRIPTORS = 16
"""How many descriptors Wine may cache for handles that are closed."""
STEADY_LOOKS = 200
"""How often the descriptors of a server are counted at most before their number is steady."""
SHARED: dict[tuple[Path, str, str | None], Site] = {}
"""The server over HTTP that many cases of this process share, one after the other."""


class Lacking(Exception):  # noqa: N818 - an event, not an error
    """This machine has not what a case needs; `program`: what could be installed."""

    def __init__(self, reason: str, program: str = "") -> None:
        super().__init__(f"{program} is not installed (`make deps` says how to get it)" if program else reason)
        self.program = program


@dataclass(frozen=True)
class Case:
    """A row of the table: its id, what happens, what does it, and for whom; `http`: servers that serve over HTTP."""

    id: str
    what: str
    run: Callable[[Trial], None]
    forms: tuple[str, ...] = forms.FORMS
    eras: tuple[str, ...] = BOTH
    http: bool = False


@dataclass
class Trial:
    """One case under one form and one era."""

    form: str
    era: str
    builds: Path
    http: bool = False
    machine: Machine | None = None
    """Where its servers run, if not with this interpreter."""
    note: str = ""
    servers: list[Server] = field(default_factory=list)
    shared_sites: list[Site] = field(default_factory=list)
    bases: dict[int, int] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)

    @property
    def artifact(self) -> Path:
        return forms.build(self.form, self.builds, http=self.http)

    def start(self, *, shake: bool = True, warm: bool = False, argv: list[str] | None = None, **options: Any) -> Server:
        """Start a server; with `warm` its handlers are started too, and its descriptors counted."""
        if self.http:
            return self.serve(shake=shake, warm=warm, **options)
        argv = argv or forms.command(self.artifact, self.machine)
        return self._begin(Server(argv, self.era, **self.options_on_machine(options)), shake=shake, warm=warm)

    def options_on_machine(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return a server's options with the variables that its machine needs."""
        if self.machine is None:
            return options
        # Wine's own processes meet in TMPDIR: in a folder of the test they would be started again for each server.
        variables = {**self.machine.variables, "TMPDIR": os.environ.get("TMPDIR")}
        return {**options, "environment": {**variables, **options.get("environment", {})}}

    def serve(
        self, *words: str, shake: bool = True, warm: bool = True, artifact: Path | None = None, **options: Any
    ) -> Site:
        """Start a server over HTTP, with these options."""
        options = self.options_on_machine(options)
        site = Site(artifact or self.artifact, self.era, *words, machine=self.machine, **options)
        self._begin(site, shake=shake, warm=warm)
        return site

    def _begin(self, server: Server, *, shake: bool, warm: bool) -> Server:
        self.servers.append(server)
        if shake:
            server.shake()
        if warm:
            self.warm(server)
        return server

    def shared(self) -> Site:
        """Return a warm server over HTTP that other cases have used before, and will use after this one."""
        key = (self.builds, self.form, self.machine and self.machine.name)
        site = SHARED.get(key)
        if site is None or site.process.poll() is not None:
            close_shared()
            site = SHARED[key] = Site(self.artifact, self.era, machine=self.machine, **self.options_on_machine({}))
            self.warm(site.shake())
            site.processes = len(site.running())
        site.wake()
        if site.era != self.era:
            site.era = self.era
            site.shake()
        self.bases[site.pid] = site.base
        self.shared_sites.append(site)
        return site

    def folder(self) -> Path:
        """Return a new folder, which is removed at the end."""
        self.folders.append(Path(tempfile.mkdtemp(dir=self.builds)))
        return self.folders[-1]

    def warm(self, server: Server) -> None:
        """Have every process started that stays, and count descriptors."""
        for _ in range(3):
            server.result("echo", text="warm")
        seen = [server.descriptors()]
        while len(seen) < 3 or len({*seen[-3:]}) > 1:
            require(len(seen) < STEADY_LOOKS, "the number of descriptors does not become steady:", seen)
            time.sleep(0.05)
            seen.append(server.descriptors())
        self.bases[server.pid] = server.base = seen[-1]

    def settle(self, server: Server) -> None:
        """Raise Fault if descriptors stay open after the calls."""
        base = self.bases.get(server.pid)
        if base is None or server.process.poll() is not None:
            return
        base += WINE_DESCRIPTORS if self.machine is not None else 0
        until(lambda: server.descriptors() <= base, SETTLE_SECONDS)
        require(server.descriptors() <= base, f"{server.descriptors()} descriptors are open, {base} before")

    def finish(self) -> None:
        """End every server and judge what is left of it."""
        problems = []
        for site in self.shared_sites:
            self.settle(site)
            site.rest()
        for server in self.servers:
            try:
                if server.status is None:
                    self.settle(server)
            except Fault as fault:
                problems.append(str(fault))
            try:
                server.end(6.0)
            except Fault as fault:
                problems.append(str(fault))
        require(not problems, "; ".join(problems))

    def abandon(self) -> None:
        """Leave nothing behind after a case that failed."""
        for server in (*self.servers, *self.shared_sites):
            with contextlib.suppress(Fault):
                server.end(1.0)


def within(server: Server, seconds: float, began: float) -> float:
    """Return the seconds since `began`; raise Fault if they are too many."""
    took = time.monotonic() - began
    require(took <= seconds * slack(), f"it took {took:.2f} s, and may take {seconds:g}", server.state())
    return took


def perform(case: Case, form: str, era: str, builds: Path, machine: Machine | None = None) -> str:
    """Run one case; return its note; raise Fault if it fails."""
    trial = Trial(form, era, builds, case.http, machine)
    try:
        case.run(trial)
        trial.finish()
    except BaseException:
        trial.abandon()
        raise
    finally:
        for folder in trial.folders:
            shutil.rmtree(folder, ignore_errors=True)
    return trial.note


def close_shared() -> None:
    """End the servers that were shared, and judge what is left of them."""
    while SHARED:
        _, site = SHARED.popitem()
        site.wake()
        site.end(6.0)
