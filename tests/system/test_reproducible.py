"""One project makes one file: whoever builds it, wherever, whenever, and whatever was built before."""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import pytest

from support.artifact import SOURCES, with_bytecode
from support.interpreters import VERSIONS, interpreters
from support.needs import ROOT, needs
from support.processes import run_program
from support.scale import FULL
from system import mixed

SHA256 = re.compile(r"^sha256 ([0-9a-f]{64})$", re.MULTILINE)
DEPENDENCIES = ("click", "jinja2", "markupsafe", "packaging", "pathspec")
"""What `mcpc build` imports besides the standard library; all of it is Python, or has a Python beside its C."""
NOT_ASCII = re.compile(rb"[\x80-\xff]+|\\u[0-9a-fA-F]{4}")

SHUFFLED = '''"""Makes every folder list its names backwards."""
import os

names, entries = os.listdir, os.scandir


class Backwards:
    def __init__(self, found):
        with found:
            self.found = iter(sorted(found, key=lambda entry: entry.name, reverse=True))

    def __iter__(self):
        return self.found

    def __next__(self):
        return next(self.found)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        pass

    close = __exit__


os.listdir = lambda *where: sorted(names(*where), reverse=True)
os.scandir = lambda *where: Backwards(entries(*where))
'''


@dataclass(frozen=True, slots=True)
class Way:
    """One way to come to the same file.  `argument`: how the project is named; `standing`: in which folder."""

    folder: str = "project"
    environment: Mapping[str, str] = field(default_factory=dict)
    umask: int = 0o022
    order: Callable[[Iterable[str]], Iterable[str]] = sorted
    mtime: int | None = None
    argument: str = "absolute"
    standing: str = "aside"
    options: tuple[str, ...] = ()
    startup: str = ""


def backwards(names: Iterable[str]) -> list[str]:
    return sorted(names, reverse=True)


def by_digest(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


PLAIN = Way()
WAYS: dict[str, Way] = {
    "the same again": PLAIN,
    "a long path": Way(folder="/".join(["a-folder-with-quite-a-long-name"] * 5)),
    "a path of one letter": Way(folder="p"),
    "a path with spaces, quotes and other letters": Way(folder='it\'s "my" $HOME `x`/Ünïcödé 工程'),
    "a strict umask": Way(umask=0o077),
    "no umask": Way(umask=0),
    "another time zone": Way(environment={"TZ": "Pacific/Auckland"}),
    "universal time": Way(environment={"TZ": "UTC"}),
    "the C locale": Way(environment={"LC_ALL": "C", "LANG": "C"}),
    "the C locale in UTF-8": Way(environment={"LC_ALL": "C.UTF-8"}),
    "the C locale, taken literally": Way(
        environment={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii:replace"}
    ),
    "hash seed 0": Way(environment={"PYTHONHASHSEED": "0"}),
    "hash seed 1": Way(environment={"PYTHONHASHSEED": "1"}),
    "hash seed 12345": Way(environment={"PYTHONHASHSEED": "12345"}),
    "files of 2001": Way(mtime=1_000_000_000),
    "files of the future": Way(mtime=4_000_000_000),
    "files made backwards": Way(order=backwards),
    "files made in any order": Way(order=by_digest),
    "folders that list backwards": Way(startup=SHUFFLED),
    "another user": Way(environment={"HOME": "/nonexistent", "USER": "somebody", "LOGNAME": "somebody"}),
    "an epoch": Way(environment={"SOURCE_DATE_EPOCH": "1000000000"}),
    "another epoch": Way(environment={"SOURCE_DATE_EPOCH": "2000000000"}),
    "a relative path": Way(argument="relative"),
    "standing in the project": Way(argument="here", standing="inside"),
    "standing below the project": Way(argument="relative", standing="below"),
    "through a symlink": Way(argument="symlink"),
    "not tried": Way(options=("--no-smoke",)),
    "an optimizing Python": Way(environment={"PYTHONOPTIMIZE": "2"}),
    "a Python that checks itself": Way(environment={"PYTHONMALLOC": "debug", "PYTHONDONTWRITEBYTECODE": "1"}),
    "a Python without debug ranges": Way(environment={"PYTHONNODEBUGRANGES": "1"}),
    "no bytecode caches": Way(environment={"PYTHONPYCACHEPREFIX": "/nonexistent"}),
    "nothing of a terminal": Way(environment={"TERM": "dumb", "COLUMNS": "20", "NO_COLOR": "1"}),
}
"""Ways that differ from the plain one in one thing each."""


def together(ways: Mapping[str, Way]) -> dict[str, Way]:
    """Return ways that each differ in several things: none of them matters if one file is made with all of them."""
    if FULL:
        return dict(ways)
    found: list[tuple[str, Way]] = []
    for name, way in ways.items():
        others = (at for at, (_, other) in enumerate(found) if PLAIN not in (way, other) and not shared(way, other))
        if (at := next(others, None)) is None or way.options:
            found.append((name, way))
        else:
            found[at] = (f"{found[at][0]}; {name}", combined(found[at][1], way))
    return dict(found)


def shared(one: Way, other: Way) -> bool:
    """Tell whether two ways differ from the plain one in the same thing; what a build is told to do stands alone."""
    named = set(one.environment) & set(other.environment)
    return bool(named or one.options or other.options or changed_fields(one) & changed_fields(other))


def changed_fields(way: Way) -> set[str]:
    """Return the names of the fields that are not those of the plain way, less `environment`."""
    names = {one.name for one in fields(Way)} - {"environment"}
    return {name for name in names if getattr(way, name) != getattr(PLAIN, name)}


def combined(one: Way, other: Way) -> Way:
    """Return a way that differs in what each of two differs in."""
    more = {name: getattr(other, name) for name in changed_fields(other)}
    return replace(one, environment={**one.environment, **other.environment}, **more)


@dataclass(frozen=True, slots=True)
class Made:
    """A finished build: the file, what `mcpc build` said, and what it printed."""

    path: Path
    said: str
    printed: str = ""

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def make(base: Path, way: Way, *, cache: Path | None = None) -> Made:
    """Build the project in its own way, in a process of its own, below `base`."""
    base.mkdir(parents=True)
    project = mixed.write(base / way.folder, way.order)
    if way.mtime is not None:
        for path in project.rglob("*"):
            os.utime(path, (way.mtime, way.mtime))
    (base / "startup").mkdir()
    (base / "startup/sitecustomize.py").write_text(way.startup)
    (base / "aside").mkdir()
    (base / "link").symlink_to(project)
    places = {"aside": base / "aside", "inside": project, "below": project / "data/deeper"}
    standing = places[way.standing]
    names = {"absolute": project, "relative": os.path.relpath(project, standing), "here": ".", "symlink": base / "link"}
    target = base / "server.pyz"
    argv = [sys.executable, "-m", "mcpc", "build", names[way.argument], "-o", target, *way.options]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(base / "home"),
        "PYTHONPATH": os.pathsep.join((str(base / "startup"), SOURCES)),
        "MCPC_CACHE_DIR": str(cache or with_bytecode(base / "cache")),
        **way.environment,
    }
    done = run_program(list(map(str, argv)), cwd=standing, env=environment, umask=way.umask, text=False)
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, said
    return Made(target, said, done.stdout.decode())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    needs("bash")
    return make(tmp_path_factory.mktemp("reproducible") / "plain", PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("way", [pytest.param(way, id=name) for name, way in together(WAYS).items()])
def test_every_way_leads_to_the_same_file(way: Way, made: Made, tmp_path: Path) -> None:
    """Alone with TESTS_FULL=1; nothing is compiled before, so that what is compiled is compared as well."""
    other = make(tmp_path / "base", way, cache=tmp_path / "cache")
    assert differences(made.path, other.path) == []
    assert other.sha256 == made.sha256


def differences(one: Path, other: Path) -> list[str]:
    """Return the names of the entries in which two archives differ."""
    contents = []
    for path in (one, other):
        with zipfile.ZipFile(path) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    first, second = contents
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def test_a_changed_source_is_not_taken_from_the_cache(made: Made, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    make(tmp_path / "first", PLAIN, cache=cache)
    changed = make(tmp_path / "second", Way(options=("--dialect", "mcbox")), cache=cache)
    assert changed.sha256 != made.sha256
    assert len(list((cache / "builds").iterdir())) == 2


def test_nothing_of_the_machine_is_in_the_file(tmp_path: Path) -> None:
    marks = {"HOME": "/home/canary-home", "USER": "canary-user", "LOGNAME": "canary-user", "HOSTNAME": "canary-host"}
    path = make(tmp_path / "canary-base", Way(folder="canary-folder", environment=marks)).path
    told = [b"canary", str(tmp_path).encode(), str(ROOT).encode(), sys.prefix.encode(), sys.base_prefix.encode()]
    told += [
        str(Path(tmp_path).parent).encode(),
        os.uname().nodename.encode() if len(os.uname().nodename) > 3 else b"canary",
    ]
    with zipfile.ZipFile(path) as archive:
        everything = {"the file itself": path.read_bytes(), **{name: archive.read(name) for name in archive.namelist()}}
    found = [(name, mark) for name, data in everything.items() for mark in told if mark in data]
    assert found == []
    assert b"#!/bin/sh" in everything["the file itself"]
    absolute = re.compile(rb"/(?:home|root|tmp|work|Users|var|opt|srv|mnt)/")
    # The first lines look where package managers put Python, and the runtime where they put Bash.
    usual = re.compile(rb"/opt/(?:homebrew|local)/bin\b|/home/linuxbrew/\.linuxbrew/bin\b")
    everything = {name: usual.sub(b"", data) for name, data in everything.items()}
    assert [(name, hit[0]) for name, data in everything.items() if (hit := absolute.search(data))] == []


def test_any_sha256sum_can_check_the_manifest(made: Made, tmp_path: Path) -> None:
    needs("sha256sum")
    with zipfile.ZipFile(made.path) as archive:
        archive.extractall(tmp_path)
    command = ["sha256sum", "--check", "--strict", "--quiet", "META-INF/manifest.sha256"]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=60)


def test_the_printed_digests_can_be_computed_again(made: Made, tmp_path: Path) -> None:
    printed = SHA256.search(made.said)
    assert printed is not None, made.said
    assert printed[1] == made.sha256
    told = json.loads(make(tmp_path / "told", Way(options=("--format", "json"))).printed)["built"]
    assert told["sha256"] == made.sha256
    assert told["contentDigest"] == content_digest(made.path, lambda name: name != "META-INF/manifest.sha256")


def content_digest(path: Path, counts: Callable[[str], bool]) -> str:
    """Return the digest of `sha256sum` lines, as a person without mcpc would make it."""
    with zipfile.ZipFile(path) as archive:
        rows = [
            f"{hashlib.sha256(archive.read(name)).hexdigest()}  {name}\n"
            for name in sorted(archive.namelist())
            if counts(name)
        ]
    return hashlib.sha256("".join(rows).encode()).hexdigest()


def build_facts(path: Path) -> dict[str, object]:
    """Return META-INF/build.json."""
    with zipfile.ZipFile(path) as archive:
        facts: dict[str, object] = json.loads(archive.read("META-INF/build.json"))
    return facts


@pytest.mark.slow
def test_every_python_builds_from_the_same_sources(tmp_path: Path) -> None:
    """What differs between two interpreters' builds is bytecode, and what says whose bytecode it is."""
    if len(interpreters()) < 2:
        pytest.skip(f"of {', '.join(VERSIONS)} only {', '.join(interpreters())} are here")
    built = {version: built_by(version, tmp_path) for version in interpreters()}
    digests = {version: build_facts(path)["sourceDigest"] for version, path in built.items()}
    assert len(set(digests.values())) == 1, digests
    bills = set()
    for path in built.values():
        with zipfile.ZipFile(path) as archive:
            bills.add(archive.read("META-INF/sbom.cdx.json"))
    assert len(bills) == 1


def built_by(version: str, folder: Path) -> Path:
    """Return the project, in ASCII, as another Python builds it, with the pure-Python dependencies of this one.

    Other text is looked through for hidden characters with `regex`, which is none of those.
    """
    packages = folder / "packages"
    packages.mkdir(exist_ok=True)
    for name in DEPENDENCIES:
        found = importlib.util.find_spec(name)
        assert found.origin is not None
        if not (packages / name).exists():
            shutil.copytree(Path(found.origin).parent, packages / name, ignore=shutil.ignore_patterns("*.so", "*.pyc"))
    project = folder / "project"
    if not project.exists():
        for path in mixed.write(project).rglob("*"):
            if path.is_file():
                path.write_bytes(NOT_ASCII.sub(b"e", path.read_bytes()))
    target = folder / f"{version}.pyz"
    run_program(
        [interpreters()[version], "-m", "mcpc", "build", project, "-o", target],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join((SOURCES, str(packages))),
            "MCPC_CACHE_DIR": str(folder / "cache"),
        },
        status=0,
    )
    return target
