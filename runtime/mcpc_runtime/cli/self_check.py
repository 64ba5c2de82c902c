"""What `server.pyz check` looks at: whether the file is whole, and whether this machine has what its handlers need.

A check returns what is wrong; a note is what somebody should know, and keeps nothing from working.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import posix
import zipfile

from mcpc_runtime.cli.artifact_info import MANIFEST, ask, facts, listed, manifest, opening
from mcpc_runtime.handlers.program_requirements import ProgramRequirements, find_program
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.image.image import Definition
from mcpc_runtime.lazy import call_rows, lazy
from mcpc_runtime.platforms.posix.reactor import Reactor
from mcpc_runtime.platforms.posix.system_features import PROBES, has

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc_runtime.image.image import Image

    Check = Callable[[Image], list[str]]
    from mcpc_runtime.packages.tags import find_variant, unsupported_text
else:
    find_variant = lazy("mcpc_runtime.packages.tags:find_variant")
    unsupported_text = lazy("mcpc_runtime.packages.tags:unsupported_text")


def verified(image: Image, verify: Check) -> list[str]:
    """Return what a check found; a check that breaks on a broken file has found that."""
    try:
        return verify(image)
    except Exception as problem:  # noqa: BLE001 - whatever is wrong with the file, it is what was asked for
        return [f"{type(problem).__name__}: {problem}"]


def changed_entries(image: Image) -> list[str]:
    """Return the entries that are not what was built, and those that were not built."""
    try:
        built = manifest(image)
    except (OSError, KeyError, ValueError) as problem:
        return [f"{MANIFEST} cannot be read: {problem}"]
    with zipfile.ZipFile(image.archive) as archive:
        files = [name for name in archive.namelist() if not name.endswith("/")]
    found = [f"{name} is not part of the build" for name in files if name not in built and name != MANIFEST]
    for name, checksum in built.items():
        try:
            same = hashlib.sha256(image.entry(name)).hexdigest() == checksum
        except OSError:
            found.append(f"{name} is missing")
            continue
        if not same:
            found.append(f"{name} has a wrong checksum")
    return found


def definitions(image: Image) -> Iterator[Definition]:
    """Yield every tool, prompt, resource and template there is."""
    for kind, key, one in (
        ("tools", "name", image.tool),
        ("prompts", "name", image.prompt),
        ("resources", "uri", image.resource),
    ):
        for entry in listed(image, kind):
            definition = one(entry[key])
            if definition is not None:
                yield definition
    for uri, _, _, place in image.templates:
        yield Definition(image, uri, marshal.loads(image.read(*place)))


class RequiredPrograms:
    """Stands for all definitions that need the same: what `ProgramRequirements` asks of one."""

    def __init__(self, environment: int, wanted: tuple[str, str]) -> None:
        self.environment = environment
        self.requires: tuple[tuple[str, str], ...] = (wanted,)


def missing_programs(image: Image) -> list[str]:
    """Return the programs the handlers need and this machine lacks, each with the handlers that need it."""
    wanted: dict[tuple[int, tuple[str, str]], list[str]] = {}
    for definition in definitions(image):
        for each in (*CONTRACTS_NEED.get(definition.contract, ()), *definition.requires):
            wanted.setdefault((definition.environment, each), []).append(definition.name)
    for number in [number for number, (program, _) in wanted if program == "bash"][:1]:
        for program in image.index.get("programs", ()):
            wanted.setdefault((number, (program, "")), []).append("a Bash library")
    if not wanted:
        return []
    reactor = Reactor()
    host = RunnerContext(reactor, image)
    requirements = ProgramRequirements(host)
    problems: dict[str, list[str]] = {}
    try:
        for (number, each), names in wanted.items():
            problem = answer(requirements, RequiredPrograms(number, each), reactor)
            if problem:
                problems.setdefault(problem, []).extend(names)
    finally:
        host.close()
    return [f"{some(names)}: {problem}" for problem, names in problems.items()]


def answer(requirements: ProgramRequirements, needs: RequiredPrograms, reactor: Reactor) -> str:
    """Return what is lacking, waiting for it."""
    answers: list[str] = []
    requirements.start(needs, answers.append)
    while not answers:
        reactor.turn()
    return answers[0]


def some(names: list[str]) -> str:
    """Return some names, and how many there are besides."""
    names = list(dict.fromkeys(names))
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def missing_interpreters(image: Image) -> list[str]:
    """Return the programs of the project whose interpreter is not on this machine."""
    problems = []
    seen = set()
    host = RunnerContext(Reactor(), image)
    for definition in definitions(image):
        file = definition.handler[0]
        if definition.contract == "executable" and file not in seen:
            seen.add(file)
            line = image.entry(f"handlers/{file}").partition(b"\n")[0]
            words = line.removeprefix(b"#!").split() if line.startswith(b"#!") else []
            lacking = interpreter_lacking(words, host.environment(definition.environment))
            problems += [f"{file}: {lacking} is not installed"] if lacking else []
    return problems


def interpreter_lacking(words: list[bytes], environment: Mapping[bytes, bytes]) -> str:
    """Return what of a first line is not here: the interpreter, or the program that `env` is to find."""
    if not words:
        return ""
    if not posix.access(words[0], posix.X_OK):
        return words[0].decode("utf-8", "replace")
    named = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    if words[0].rpartition(b"/")[2] == b"env" and named:
        program = named[0].decode("utf-8", "surrogateescape")
        return "" if b"/" in named[0] or find_program(program, environment) else f"{program} (on PATH)"
    return ""


def unfit_packages(image: Image) -> list[str]:
    """Return the carried packages that have native modules, and none for this machine."""
    if not facts(image).get("packages"):
        return []
    parcels = json.loads(image.entry("site/.layer.json"))["parcels"]
    unfit = [parcel for parcel in parcels if find_variant(parcel["variants"]) is None]
    return [f"{parcel['name']}: {unsupported_text(parcel['variants'])}" for parcel in unfit]


def broken_definitions(image: Image) -> list[str]:
    """Return the tools whose validators do not load."""
    found = []
    for entry in listed(image, "tools"):
        try:
            tool = image.tool(entry["name"])
            validators = () if tool is None else (tool.input, tool.output)
            for validator in validators:
                if validator is not None:
                    validator.errors({})
            if tool is None:
                found.append(f"{entry['name']} is listed but cannot be found")
        except (ValueError, TypeError, KeyError, EOFError, SyntaxError) as problem:
            found.append(f"{entry['name']}: {type(problem).__name__}: {problem}")
    return found


def broken_conversation(image: Image) -> list[str]:
    """Return what goes wrong in a handshake of every revision."""
    found = []
    for version in (*image.handshake_versions, *image.stateless_versions):
        reply = ask(image, *opening(image, version))
        if "result" not in reply:
            found.append(f"{version}: {reply}")
    return found


def unset_variables(image: Image) -> list[str]:
    """Return the variables that handlers are declared to find and that are not set here."""
    names = {name for _, declared in image.index["environments"] for name in declared}
    return [f"{name} is not set" for name in sorted(names) if not is_set(name.encode())]


def is_set(name: bytes) -> bool:
    """Tell whether a variable is set, or any whose name begins so."""
    if name.endswith(b"*"):
        return any(known.startswith(name[:-1]) for known in posix.environ)
    return name in posix.environ


def slower_ways(image: Image) -> list[str]:
    """Return the facilities of the system that are not here; a slower way is taken for each."""
    return [
        f"{name} is not available or is disabled: the server uses a slower fallback" for name in PROBES if not has(name)
    ]


CHECKS: tuple[tuple[str, Check], ...] = (
    ("every entry matches its checksum", changed_entries),
    ("required programs are installed", missing_programs),
    ("interpreters of bundled programs are installed", missing_interpreters),
    ("bundled packages match this machine", unfit_packages),
    ("every definition loads", broken_definitions),
    ("every protocol revision answers", broken_conversation),
)
HEALTHY = "the project's own health checks pass"


def checks_of(image: Image) -> tuple[tuple[str, Check], ...]:
    """Return what is looked at: what every server has, and what a project brought for itself."""
    checks = call_rows(image.hooks("self_check"), image)
    return (*CHECKS, *((HEALTHY, check) for check in checks if check is not None))


NOTES: tuple[tuple[str, Check], ...] = (
    ("variables of handlers are set", unset_variables),
    ("all optional system features are available", slower_ways),
)
CONTRACTS_NEED = {"mcbox": (("bash", "4.4"),)}
SHOWN = 5
"""So many handlers are named that lack the same."""
