"""`server.pyz serve --http`: closed by default.  Where other machines can connect, it is said who may, or none may."""

from __future__ import annotations

import json
import os
import posix
import signal
import sys
from zipimport import ZipImportError, zipimporter

from mcpc_runtime import Kept
from mcpc_runtime.errors import tell
from mcpc_runtime.http.auth.principals import MisconfiguredError, NotCarriedError
from mcpc_runtime.http.words import SettingError, options_in_words, settings_from
from mcpc_runtime.identity import server_name
from mcpc_runtime.image import open_image
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from mcpc_runtime import redis
    from mcpc_runtime.http.app import Application
    from mcpc_runtime.http.auth.configure import authenticator
    from mcpc_runtime.http.bx.doors import authenticator as bx_authenticator
    from mcpc_runtime.http.embedded import server
    from mcpc_runtime.http.embedded.parts import prepare
    from mcpc_runtime.http.facets import facets
    from mcpc_runtime.http.settings import Settings
    from mcpc_runtime.http.spans import spans_of
    from mcpc_runtime.http.variables import unknown
    from mcpc_runtime.image import Image
    from mcpc_runtime.layer.serving import bring
    from mcpc_runtime.redis import connect
    from mcpc_runtime.remote_token import guard
    from mcpc_runtime.seals import seals
    from mcpc_runtime.tasks.places import open_store
else:
    Application = lazy("mcpc_runtime.http.app:Application")
    authenticator = lazy("mcpc_runtime.http.auth.configure:authenticator")
    bring = lazy("mcpc_runtime.layer.serving:bring")
    connect = lazy("mcpc_runtime.redis:connect")
    facets = lazy("mcpc_runtime.http.facets:facets")
    guard = lazy("mcpc_runtime.remote_token:guard")
    bx_authenticator = lazy("mcpc_runtime.http.bx.doors:authenticator", "bx_authenticator")
    open_store = lazy("mcpc_runtime.tasks.places:open_store")
    prepare = lazy("mcpc_runtime.http.embedded.parts:prepare")
    seals = lazy("mcpc_runtime.seals:seals")
    spans_of = lazy("mcpc_runtime.http.spans:spans_of")
    unknown = lazy("mcpc_runtime.http.variables:unknown")
    redis = lazy("mcpc_runtime.redis")
    server = lazy("mcpc_runtime.http.embedded.server")

SUCCESS, USAGE, UNREACHABLE, NOT_RUNNABLE = 0, 2, 4, 8
EXPORTED = {"state_keys_file": "MCPC_STATE_KEYS_FILE", "tasks": "MCPC_TASKS", "events": "MCPC_EVENTS"}
"""What others read from the environment, which a word sets for them."""
BX = "bx"
MCP_BASH = "mcp_bash"
HELP = """usage: {file} serve --http [HOST:]PORT [OPTION ...]

Serve over HTTP until asked to stop: SIGTERM lets calls end, a second one does
not.  Without a host only this machine can connect.  Each option has a variable
that means the same: MCPC_TOKEN_FILE is --token-file.

"""
CLIENT = """
An entry for it in a client's configuration, without the headers where no token
is asked for:
  {{"mcpServers": {{{name}: {{"type": "http", "url": "http://127.0.0.1:8000/mcp",
    "headers": {{"Authorization": "Bearer TOKEN"}}}}}}}}

SIGHUP has the token file read again; that happens within seconds of a change,
too.
"""


class RefusedError(Exception):
    """Nothing is served; `status` is the process's."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def command(image: Image, archive: str, words: list[str]) -> int:
    """Serve until asked to stop; return the exit status."""
    if words in (["--help"], ["-h"]):
        client = CLIENT.format(name=json.dumps(server_name(image)))
        sys.stdout.write(HELP.format(file=archive) + options_in_words() + client)
        return SUCCESS
    try:
        return serve(image, words)
    except RefusedError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return problem.status


def serve(image: Image, words: list[str]) -> int:
    """Serve; raise RefusedError if that is not to be."""
    signal.signal(signal.SIGHUP, lambda *_: None)  # it ends nothing, however early it comes
    settings = chosen(words, os.environ)
    if not settings.listens:
        raise RefusedError(USAGE, "serve needs --http [HOST:]PORT, such as --http 8000")
    run: Callable[[Any, Settings], int] = carried(image.archive)
    application, settings = made(image, settings)
    try:
        return run(application, settings)
    except OSError as problem:
        where = f"{settings.host}:{settings.port}"
        raise RefusedError(UNREACHABLE, f"cannot listen on {where}: {problem.strerror or problem}") from None


def made(image: Image, settings: Settings) -> tuple[Any, Settings]:
    """Return the application, and the settings with all that they name made; raise RefusedError."""
    settings = traced(secured(limited(settings, image), image), image)
    tell_of_variables(settings)
    reachable(settings, image)
    images = {settings.path: image}
    if "facets" in image.index:
        images.update(facets(image))
    for path, file in settings.also:
        if path in images:
            raise RefusedError(USAGE, f"--also {path}: there is another server under this path")
        images[path] = another(path, file, image)
    for one in images.values():
        if MCP_BASH in one.index:
            guard(one)
    if settings.authenticator is not None:
        tell_of_strangers(settings.authenticator.named(), images.values())
    if BX in image.index and settings.bx_path in images:
        raise RefusedError(USAGE, f"--bx-path {settings.bx_path}: an endpoint of MCP is under this path")
    return Application(images, settings), settings


def tell_of_variables(settings: Settings) -> None:
    """Tell of variables that look like ours and mean nothing: mostly their name was misspelt."""
    for line in unknown(os.environ, guarded=settings.authenticator is not None):
        tell(line)


def tell_of_strangers(named: Iterable[tuple[str, str]], images: Collection[Image]) -> None:
    """Tell of tokens that are for a tool which no server has: mostly its name was misspelt."""
    for who, name in named:
        if all(image.tool(name) is None for image in images):
            tell(f"the {who} is for the tool {name}, and there is none of this name")


def chosen(words: list[str], environment: Any) -> Settings:
    """Return the settings that words and environment make, with what others read set for them."""
    try:
        settings = settings_from(words, environment)
    except SettingError as problem:
        raise RefusedError(USAGE, f"{problem}; `serve --help` lists all options") from None
    for field, variable in EXPORTED.items():
        if getattr(settings, field):
            os.environ[variable] = getattr(settings, field)
            posix.environ[os.fsencode(variable)] = os.fsencode(getattr(settings, field))
    return settings


def limited(settings: Settings, image: Image) -> Settings:
    """Return the settings with the addresses that the project lets in, if none are given."""
    allowed = image.index[BX]["allowed"] if BX in image.index else None
    return settings.but(allowed_ips=allowed) if allowed and not settings.allowed_ips else settings


def secured(settings: Settings, image: Image) -> Settings:
    """Return the settings with what lets clients in, the project's tokens if no others are given.

    To let everybody in unasked is refused.
    """
    try:
        found = authenticator(settings, os.environ)
        if found is None and BX in image.index:
            found = bx_authenticator(image.index[BX], os.environ)
        seals()
    except NotCarriedError as problem:
        raise RefusedError(NOT_RUNNABLE, str(problem)) from None
    except (MisconfiguredError, ValueError) as problem:
        raise RefusedError(USAGE, str(problem)) from None
    if found is None and not settings.open and not settings.is_loopback:
        who = f"anybody who can reach {settings.host} could call this server"
        raise RefusedError(USAGE, f"{who}: give --token-file FILE or --issuer URL, or say --open if that is meant")
    return settings.but(authenticator=found)


def reachable(settings: Settings, image: Image) -> None:
    """Refuse to serve with a store of tasks, or a carrier of changes, that can never be used."""
    wires = [image.wire(version) for version in image.stateless_versions]
    if settings.tasks and any("tasks/get" in wire.methods for wire in wires):
        store = open_store(server_name(image), image.archive)
        reason = getattr(store, "reason", "")
        store.close()
        if reason:
            raise RefusedError(NOT_RUNNABLE, f"--tasks: {reason}")
    if settings.events:
        try:
            connect(settings.events, image.archive).close()
        except redis.RedisError as problem:
            raise RefusedError(NOT_RUNNABLE, f"--events: {problem}") from None


def traced(settings: Settings, image: Image) -> Settings:
    """Return the settings with what tells of calls as spans, if that was asked for."""
    if not settings.has_spans:
        return settings
    known = json.loads(image.entry("META-INF/build.json"))
    try:
        return settings.but(spans=spans_of(known["name"], known["version"]))
    except MisconfiguredError as problem:
        raise RefusedError(NOT_RUNNABLE, str(problem)) from None


def image_of(file: str) -> Image:
    """Return the server that a file has; raise ValueError or OSError if it has none."""
    loader = zipimporter(file)
    code = zipimporter(f"{file}/mcpc_app").get_code("index")
    names: dict[str, Any] = {"__name__": "mcpc_app.index"}
    exec(code, names)  # noqa: S102 - what this file would run when it is started
    return open_image(loader, names["INDEX"])


def another(path: str, file: str, image: Image) -> Image:
    """Return another built server, if it was built by the same mcpc and has no handlers in the server's own process."""
    try:
        found = image_of(file)
        own, its = (json.loads(one.entry("META-INF/build.json")) for one in (image, found))
        versions = own["mcpc"], its["mcpc"]
    except (ZipImportError, OSError, ValueError, KeyError):
        raise RefusedError(USAGE, f"--also {path}: {file} is no built server") from None
    if BX in found.index and found.index[BX] != image.index.get(BX):
        words = "has a boxlang.json of its own, which says who may call it: serve it by itself"
        raise RefusedError(NOT_RUNNABLE, f"--also {path}: {file} {words}")
    if versions[0] != versions[1]:
        raise RefusedError(NOT_RUNNABLE, f"--also {path}: {file} was built by mcpc {versions[1]}, not {versions[0]}")
    if any(group.get("inline") for group in its.get("running", ())):
        words = "has inline handlers, whose modules would be taken for those of the first server"
        raise RefusedError(NOT_RUNNABLE, f"--also {path}: {file} {words}")
    # What its handlers need of the runtime the first server may not carry: it comes from the file that does.
    sys.meta_path.append(Kept(zipimporter(file)))
    return found


def carried(archive: str) -> Any:
    """Return what serves, out of the packages that the file carries for it."""
    try:
        bring(archive)
        prepare()
        return server.run
    except ModuleNotFoundError as problem:
        words = f"this file does not carry {problem.name}: build it with `mcpc build --http`"
        raise RefusedError(NOT_RUNNABLE, words) from None
