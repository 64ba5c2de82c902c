"""The command `server.pyz serve --http`.

Rule: closed by default; if other machines can connect and no setting says who may call, the server does not start.
"""

from __future__ import annotations

import json
import marshal
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any
from zipimport import ZipImportError, zipimporter

from mcpc_runtime import RuntimeFinder
from mcpc_runtime.artifact.image import open_image
from mcpc_runtime.artifact.packages import activate_server_packages
from mcpc_runtime.artifact.settings import image_problems
from mcpc_runtime.artifact.start_options import StartOptionError, apply_start_options
from mcpc_runtime.http.app import Application
from mcpc_runtime.http.auth.configure import authenticator
from mcpc_runtime.http.embedded import server
from mcpc_runtime.http.options import OptionError, help_page
from mcpc_runtime.http.origins import outside_names
from mcpc_runtime.http.principals import MisconfiguredError, NotBundledError
from mcpc_runtime.http.server_log import stamp_lines
from mcpc_runtime.http.settings import OPTIONS, HttpSettings, settings_from, unknown_variables
from mcpc_runtime.http.tracing import tracer_for
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.log import log_line
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.server.replicas import redis
from mcpc_runtime.server.replicas.redis import connect_redis
from mcpc_runtime.server.replicas.signed_tokens import token_signer
from mcpc_runtime.server.tasks.open_store import open_store
from mcpc_runtime.transports.platforms import system

SUCCESS, USAGE, UNREACHABLE, NOT_RUNNABLE = 0, 2, 4, 8
EXPORTED = {"state_keys_file": "MCPC_STATE_KEYS_FILE", "tasks": "MCPC_TASKS", "events": "MCPC_EVENTS"}
"""Settings that other modules read from the environment, with their variables."""
PAGE = "mcpc_runtime.http.page:"
"""The module of the page, whose hook a file with the page has."""
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


class ServeError(Exception):
    """The server cannot start; `status` is the exit status of the process."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def command(image: Image, archive: str, arguments: list[str]) -> int:
    """Serve until a signal; return the exit status."""
    if arguments in (["--help"], ["-h"]):
        client = CLIENT.format(name=json.dumps(image.server_name))
        sys.stdout.write(HELP.format(file=archive) + help_page(OPTIONS) + client)
        return SUCCESS
    try:
        return serve(image, arguments)
    except ServeError as problem:
        sys.stderr.write(f"error: {problem}\n")
        return problem.status


def serve(image: Image, arguments: list[str]) -> int:
    """Serve; raise ServeError if the server cannot start."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: None)  # it must not end the server, however early it arrives
    settings = read_settings(arguments, os.environ)
    if not settings.listens:
        raise ServeError(USAGE, "serve needs --http [HOST:]PORT, such as --http 8000")
    run = import_server(image.archive)
    application, settings = build_application(image, settings)
    try:
        return run(application, settings)
    except OSError as problem:
        where = f"{settings.host}:{settings.port}"
        raise ServeError(UNREACHABLE, f"cannot listen on {where}: {problem.strerror or problem}") from None


def build_application(image: Image, settings: HttpSettings) -> tuple[Application, HttpSettings]:
    """Return the application, and the settings with the objects that they name; raise ServeError."""
    settings = with_tracing(with_authenticator(with_allowed_addresses(settings, image), image), image)
    warn_of_variables(settings)
    if settings.has_page and not any(row.startswith(PAGE) for row in image.hooks("http_routes")):
        raise ServeError(NOT_RUNNABLE, "--ui: this file does not carry the page: build it with `mcpc build --ui`")
    check_connections(settings, image)
    images = {settings.path: image}
    if "virtual_servers" in image.index:
        images.update(virtual_servers(image))
    for path, file in settings.also:
        if path in images:
            raise ServeError(USAGE, f"--also {path}: there is another server under this path")
        images[path] = other_server(path, file, image)
    try:
        apply_start_options(images.values(), settings.start)
    except StartOptionError as problem:
        raise ServeError(USAGE, str(problem)) from None
    for server_image in images.values():
        require_settings(server_image)
        call_rows(server_image.hooks("guard"), server_image)
    named_tools = [("quota", tool) for tool, _, _ in settings.quotas if tool]
    if settings.authenticator is not None:
        named_tools += settings.authenticator.named_tools()
    warn_of_unknown_tools(named_tools, images.values())
    refuse_taken_paths(settings, images, image)
    return Application(images, settings), settings


def require_settings(image: Image) -> None:
    """Refuse to serve without settings that are missing or invalid."""
    problems = image_problems(image) if "settings" in image.index else ()
    if problems:
        raise ServeError(USAGE, "; ".join(problems))


def refuse_taken_paths(settings: HttpSettings, images: Mapping[str, Image], image: Image) -> None:
    """Refuse to serve if the path of a system's endpoint is the path of an MCP endpoint, or the page would hide one."""
    options = call_rows(image.hooks("http_paths"), settings)
    for option, path in options:
        if path in images:
            raise ServeError(USAGE, f"{option} {path}: an endpoint of MCP is under this path")
    routes = (path for each in images.values() for row in call_rows(each.hooks("route_paths"), each) for path in row)
    paths = (*images, *(path for _, path in options), *routes)
    for hidden in call_rows(image.hooks("hidden_paths"), settings, paths):
        if hidden:
            raise ServeError(
                USAGE, f"--ui: the page would hide {hidden[0]} of this server; rename it, or leave out --ui"
            )


def warn_of_variables(settings: HttpSettings) -> None:
    """Log unknown variables with the prefix MCPC_, which are mostly misspelt."""
    for line in unknown_variables(os.environ, guarded=settings.authenticator is not None):
        log_line(line)


def warn_of_unknown_tools(named: Iterable[tuple[str, str]], images: Collection[Image]) -> None:
    """Log tokens and quotas for a tool that no server has: its name is probably misspelt."""
    for who, name in named:
        if all(image.any_tool(name) is None for image in images):
            log_line(f"the {who} is for the tool {name}, and there is none of this name")


def read_settings(arguments: list[str], environment: Mapping[str, str]) -> HttpSettings:
    """Return the settings from options and environment; export those that other modules read."""
    try:
        settings = settings_from(arguments, environment)
    except (OptionError, StartOptionError) as problem:
        raise ServeError(USAGE, f"{problem}; `serve --help` lists all options") from None
    for field, variable in EXPORTED.items():
        if getattr(settings, field):
            # Two copies of the environment: modules that do without `os` read the second one.
            os.environ[variable] = getattr(settings, field)
            system.environ[os.fsencode(variable)] = os.fsencode(getattr(settings, field))
    return settings


def with_allowed_addresses(settings: HttpSettings, image: Image) -> HttpSettings:
    """Return the settings with the project's allowed addresses, if none are given."""
    allowed = [address for addresses in call_rows(image.hooks("allowed_addresses"), image) for address in addresses]
    return settings.but(allowed_ips=tuple(allowed)) if allowed and not settings.allowed_ips else settings


def with_authenticator(settings: HttpSettings, image: Image) -> HttpSettings:
    """Return the settings with the authenticator, by default of the project's tokens.

    To accept every client without an explicit option is refused.
    """
    try:
        configured = authenticator(settings, os.environ)
        if configured is None:
            configured = next(iter(call_rows(image.hooks("authenticator"), image, os.environ)), None)
        # Here for its errors, so that wrong keys are reported before the server listens.
        token_signer()
    except NotBundledError as problem:
        raise ServeError(NOT_RUNNABLE, str(problem)) from None
    except (MisconfiguredError, ValueError) as problem:
        raise ServeError(USAGE, str(problem)) from None
    outside = outside_names(settings) if settings.is_loopback else [settings.host]
    if configured is None and not settings.open and outside:
        who = f"anybody who can reach {outside[0]} could call this server"
        raise ServeError(USAGE, f"{who}: give --token-file FILE or --issuer URL, or say --open if that is meant")
    return settings.but(authenticator=configured)


def check_connections(settings: HttpSettings, image: Image) -> None:
    """Refuse to serve with a task store or a connection for events that cannot be used."""
    revisions = [image.revision(version) for version in image.stateless_versions]
    if settings.tasks and any("tasks/get" in revision.methods for revision in revisions):
        store = open_store(image.server_name, image.archive)
        reason = getattr(store, "reason", "")
        store.close()
        if reason:
            raise ServeError(NOT_RUNNABLE, f"--tasks: {reason}")
    if settings.events:
        try:
            connect_redis(settings.events, image.archive).close()
        except redis.RedisError as problem:
            raise ServeError(NOT_RUNNABLE, f"--events: {problem}") from None


def with_tracing(settings: HttpSettings, image: Image) -> HttpSettings:
    """Return the settings with the tracer, if tracing was requested."""
    if not settings.has_spans:
        return settings
    facts = json.loads(image.entry("META-INF/build.json"))
    try:
        return settings.but(spans=tracer_for(facts["name"], facts["version"]))
    except MisconfiguredError as problem:
        raise ServeError(NOT_RUNNABLE, str(problem)) from None


def image_of(file: str) -> Image:
    """Return the server in a file; raise ValueError or OSError if it has none."""
    loader = zipimporter(file)
    code = zipimporter(f"{file}/mcpc_app").get_code("index")
    names: dict[str, Any] = {"__name__": "mcpc_app.index"}
    exec(code, names)  # noqa: S102 - what this file would run when it is started
    return open_image(loader, names["INDEX"])


def other_server(path: str, file: str, image: Image) -> Image:
    """Return another built server, if it was built by the same mcpc and has no handlers in the server's own process."""
    try:
        other = image_of(file)
        own_facts, other_facts = (json.loads(each.entry("META-INF/build.json")) for each in (image, other))
        versions = own_facts["mcpc"], other_facts["mcpc"]
    except (ZipImportError, OSError, ValueError, KeyError):
        raise ServeError(USAGE, f"--also {path}: {file} is not a server that mcpc built") from None
    for reason in filter(None, call_rows(other.hooks("refuse_beside"), other, image)):
        raise ServeError(NOT_RUNNABLE, f"--also {path}: {file} {reason}")
    if versions[0] != versions[1]:
        raise ServeError(NOT_RUNNABLE, f"--also {path}: {file} was built by mcpc {versions[1]}, not {versions[0]}")
    if any(group.get("inline") for group in other_facts.get("running", ())):
        reason = "has inline handlers, whose modules would be taken for those of the first server"
        raise ServeError(NOT_RUNNABLE, f"--also {path}: {file} {reason}")
    # Runtime modules that its handlers need may not be in the first file: they are imported from the other one.
    sys.meta_path.append(RuntimeFinder(zipimporter(file)))
    return other


def import_server(archive: str) -> Callable[[Application, HttpSettings], int]:
    """Return the HTTP server, from the bundled packages."""
    try:
        activate_server_packages(archive)
        prepare()
        return server.run
    except ModuleNotFoundError as problem:
        reason = f"this file does not carry {problem.name}: build it with `mcpc build --http`"
        raise ServeError(NOT_RUNNABLE, reason) from None


def application(archive: str) -> Application:
    """Return the application of the server in `archive`; leave with the reason if it may not serve."""
    try:
        activate_server_packages(archive)
        image = image_of(archive)
        image.archive = os.path.abspath(archive)
        application = build_application(image, read_settings([], os.environ))[0]
        stamp_lines(os.environ)
        return application
    except ServeError as problem:
        sys.stderr.write(f"error: {problem}\n")
        raise SystemExit(problem.status) from None


def virtual_servers(image: Image) -> dict[str, Image]:
    """Return the servers by their paths."""
    ranges = image.index["virtual_servers"]
    return {path: image.with_index(marshal.loads(image.read(*item))) for path, item in ranges.items()}


PACKAGE = "uvicorn"


def prepare() -> ModuleType:
    """Register the package `uvicorn` without running its `__init__`, and return it."""
    loaded = sys.modules.get(PACKAGE)
    if loaded is not None:
        return loaded
    spec = find_spec(PACKAGE)
    if spec is None:
        raise ModuleNotFoundError(PACKAGE)
    # Its `__init__` would import uvicorn's command line, and click for that.
    package = sys.modules[PACKAGE] = module_from_spec(spec)
    package.Config = __import__("uvicorn.config", fromlist=["Config"]).Config  # type: ignore[attr-defined]
    return package
