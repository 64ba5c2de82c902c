"""The checks of `server.pyz check`: the file is intact, and this machine has what its handlers need.

A check returns problems; a note is information that prevents nothing from working.
"""

from __future__ import annotations

import hashlib
import marshal
import zipfile
from collections.abc import Callable, Iterator

from mcpc_runtime.artifact.extraction import ExtractionError, file_reader
from mcpc_runtime.artifact.packages.native_packages import find_variant, unsupported_text
from mcpc_runtime.artifact.settings import image_problems
from mcpc_runtime.handlers.program_requirements import ProgramRequirements
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.lazy import call_rows
from mcpc_runtime.log import log_failure
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli.artifact_info import (
    MANIFEST,
    build_info,
    list_all,
    opening_request,
    operation_entries,
    read_manifest,
    send_request,
)
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.program_search import interpreter_lacking
from mcpc_runtime.transports.platforms.reactor import Reactor
from mcpc_runtime.transports.platforms.scripts import begins_as_program
from mcpc_runtime.transports.platforms.system_features import PROBES, has

Check = Callable[[Image], list[str]]


BROKEN_FILE = (EOFError, ExtractionError, ImportError, LookupError, OSError, ValueError, zipfile.BadZipFile)
"""The usual exceptions for a broken file; the traceback of any other is logged."""


def run_check(image: Image, verify: Check) -> list[str]:
    """Return the problems that a check finds; an exception of the check is a problem."""
    try:
        return verify(image)
    except Exception as problem:  # noqa: BLE001 - a broken file may cause any exception
        if not isinstance(problem, BROKEN_FILE):
            log_failure(problem, "a check failed")
        return [f"{type(problem).__name__}: {problem}"]


def changed_entries(image: Image) -> list[str]:
    """Return the entries that differ from the build, and those that were added."""
    try:
        built = read_manifest(image)
    except (OSError, KeyError, ValueError) as problem:
        return [f"{MANIFEST} cannot be read: {problem}"]
    with zipfile.ZipFile(image.archive) as archive:
        files = [name for name in archive.namelist() if not name.endswith("/")]
    problems = [f"{name} is not part of the build" for name in files if name not in built and name != MANIFEST]
    for name, checksum in built.items():
        try:
            same = hashlib.sha256(image.entry(name)).hexdigest() == checksum
        # What zipimport raises for an entry that is not there.
        except OSError:
            problems.append(f"{name} is missing")
            continue
        if not same:
            problems.append(f"{name} has a wrong checksum")
    return problems


def definitions(image: Image) -> Iterator[Definition]:
    """Yield every tool, prompt, resource and template."""
    for kind, key, find in (
        ("tools", "name", image.tool),
        ("prompts", "name", image.prompt),
        ("resources", "uri", image.resource),
    ):
        for entry in list_all(image, kind):
            definition = find(entry[key])
            if definition is not None:
                yield definition
    for uri, _, _, place in image.templates:
        yield Definition(image, uri, marshal.loads(image.read(*place)))


class RequiredPrograms:
    """Stands for all definitions with the same requirement, for `ProgramRequirements`."""

    def __init__(self, environment: int, requirement: tuple[str, str]) -> None:
        self.environment = environment
        self.requires: tuple[tuple[str, str], ...] = (requirement,)


def missing_programs(image: Image) -> list[str]:
    """Return the programs the handlers need and this machine lacks, each with the handlers that need it."""
    required: dict[tuple[int, tuple[str, str]], list[str]] = {}
    for definition in definitions(image):
        for requirement in (*CONTRACT_REQUIREMENTS.get(definition.contract, ()), *definition.requires):
            required.setdefault((definition.environment, requirement), []).append(definition.name)
    # Libraries of Bash need these programs wherever Bash runs, so the first environment with it is asked.
    for number in [number for number, (program, _) in required if program == "bash"][:1]:
        for program in image.index.get("programs", ()):
            required.setdefault((number, (program, "")), []).append("a Bash library")
    if not required:
        return []
    reactor = Reactor()
    host = RunnerContext(reactor, image)
    requirements = ProgramRequirements(host)
    problems: dict[str, list[str]] = {}
    try:
        for (number, requirement), names in required.items():
            problem = missing_requirement(requirements, RequiredPrograms(number, requirement), reactor)
            if problem:
                problems.setdefault(problem, []).extend(names)
    finally:
        host.close()
    return [f"{name_some(names)}: {problem}" for problem, names in problems.items()]


def missing_requirement(requirements: ProgramRequirements, needs: RequiredPrograms, reactor: Reactor) -> str:
    """Wait for the check of a requirement; return what is missing, or nothing."""
    answers: list[str] = []
    requirements.start(needs, answers.append)
    while not answers:
        reactor.turn()
    return answers[0]


def name_some(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    names = list(dict.fromkeys(names))
    return ", ".join(names[:MAX_NAMED]) + (f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else "")


def missing_interpreters(image: Image) -> list[str]:
    """Return the programs of the project whose interpreter is not installed."""
    problems = []
    seen = set()
    host = RunnerContext(Reactor(), image)
    read_file = file_reader(image)
    for definition in definitions(image):
        file = definition.handler[0]
        if file and definition.contract in PROGRAM_CONTRACTS and file not in seen:
            seen.add(file)
            line = first_line(definition, read_file(file))
            lacking = interpreter_lacking(line, host.environment(definition.environment))
            problems += [f"{file}: {lacking} is not installed"] if lacking else []
    return problems


def first_line(definition: Definition, program: bytes) -> bytes:
    """Return the first line of a program; that of a script in Bash for one of mcp-bash that Bash will run."""
    line = program.partition(b"\n")[0]
    is_bash = PROGRAM_CONTRACTS[definition.contract] and not begins_as_program(definition.handler[0], line)
    return b"#!/usr/bin/env bash" if is_bash else line


def invalid_settings(image: Image) -> list[str]:
    """Return the settings that are missing or invalid."""
    return image_problems(image)


def unsupported_packages(image: Image) -> list[str]:
    """Return the bundled packages with native modules, but none for this machine."""
    if not build_info(image).get("packages"):
        return []
    parcels = marshal.loads(image.entry("site/.layer"))["parcels"]
    unfit = [parcel for parcel in parcels if find_variant(parcel["variants"]) is None]
    return [f"{parcel['name']}: {unsupported_text(parcel['variants'])}" for parcel in unfit]


def broken_definitions(image: Image) -> list[str]:
    """Return the tools whose validators do not load."""
    problems = []
    for entry in (*list_all(image, "tools"), *operation_entries(image)):
        try:
            tool = image.tool(entry["name"])
            validators = () if tool is None else (tool.input, tool.output)
            for validator in validators:
                if validator is not None:
                    # What is wrong with `{}` does not matter: a validator that is damaged raises an exception.
                    validator.errors({})
            if tool is None:
                problems.append(f"{entry['name']} is listed but cannot be found")
        except (ValueError, TypeError, KeyError, EOFError, SyntaxError) as problem:
            problems.append(f"{entry['name']}: {type(problem).__name__}: {problem}")
    return problems


def broken_conversation(image: Image) -> list[str]:
    """Return the problems in a handshake of every revision."""
    problems = []
    for version in (*image.handshake_versions, *image.stateless_versions):
        reply = send_request(image, *opening_request(image, version))
        if "result" not in reply:
            problems.append(f"{version}: {reply}")
    return problems


def unset_variables(image: Image) -> list[str]:
    """Return the variables that handlers declare and that are not set."""
    settings = {row[0] for row in image.index.get("settings", ())}
    names = {name for _, declared in image.index["environments"] for name in declared} - settings
    return [f"{name} is not set" for name in sorted(names) if not is_set(name.encode())]


def is_set(name: bytes) -> bool:
    """Tell whether a variable is set; with `*` at the end, any with this prefix."""
    if name.endswith(b"*"):
        return any(known.startswith(name[:-1]) for known in system.environ)
    return name in system.environ


def missing_features(image: Image) -> list[str]:
    """Return the optional features that the system lacks; the server uses slower fallbacks."""
    return [
        f"{name} is not available or is disabled: the server uses a slower fallback" for name in PROBES if not has(name)
    ]


CHECKS: tuple[tuple[str, Check], ...] = (
    ("every entry matches its checksum", changed_entries),
    ("required programs are installed", missing_programs),
    ("interpreters of bundled programs are installed", missing_interpreters),
    ("bundled packages match this machine", unsupported_packages),
    ("every definition loads", broken_definitions),
    ("every protocol revision answers", broken_conversation),
)
VALID_SETTINGS = "all settings have valid values"
HEALTHY = "the project's own health checks pass"


def all_checks(image: Image) -> tuple[tuple[str, Check], ...]:
    """Return the checks of every server, and those of the project."""
    checks = call_rows(image.hooks("self_check"), image)
    settings = ((VALID_SETTINGS, invalid_settings),) if "settings" in image.index else ()
    return (*CHECKS, *settings, *((HEALTHY, check) for check in checks if check is not None))


NOTES: tuple[tuple[str, Check], ...] = (
    ("variables of handlers are set", unset_variables),
    ("all optional system features are available", missing_features),
)
PROGRAM_CONTRACTS = {"command": False, "executable": False, "mcp_bash": True, "mcp_bash_completion": True}
"""Contracts whose handlers are programs, and whether Bash runs those that the system cannot run by itself."""
CONTRACT_REQUIREMENTS = {"bash_sdk": (("bash", "4.4"),), "mcbox": (("bash", "4.4"),)}
MAX_NAMED = 5
"""The most handlers that are named for one problem."""
