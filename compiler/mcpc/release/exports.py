"""Deployment files for a built server, generated from its build facts, to be reviewed before use.

An export is a template in `templates/exports` and a function that selects its values.  A filter writes a value in the
template's language; without a filter it must be a word that all of them read as itself.  Settings are named, and their
values are not known here.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from mcpc import DISTRIBUTION, __version__
from mcpc.emit.templates import render
from mcpc.model.ir.project import variable_text
from mcpc.release.carriers.built_server import LINK, UnusableValueError, label_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mcpc.release.carriers import DeclaredSetting

# Labels of at most 63 characters, and 253 in all, as DNS has them.
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:@-]{0,254}")
UPSTREAM = re.compile(r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}")
PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,200}")
# Relative, and without `..`, so that it stays inside the repository.
FOLDER = re.compile(r"(?!.*\.\.)[A-Za-z0-9_.][A-Za-z0-9_./-]{0,200}")


@dataclass(frozen=True, slots=True)
class Deployment:
    """A server, and how it is to run.

    `upstreams` are the addresses of its replicas, where they are known; `base` is the base image of its container.
    `settings` are given by reference, never by value.  `url` is the address of the published file, `digest` its
    SHA-256, and `python` the minor version of Python for it.  `project`: its folder in the repository.
    """

    name: str
    version: str
    host: str = "mcp.example.com"
    image: str = ""
    base: str = "python:3.13-slim"
    path: str = "/mcp"
    replicas: int = 3
    port: int = 8000
    valkey: bool = False
    upstreams: tuple[str, ...] = ("127.0.0.1:8001", "127.0.0.1:8002")
    settings: tuple[DeclaredSetting, ...] = ()
    summary: str = ""
    homepage: str = ""
    license: str = ""
    url: str = ""
    digest: str = ""
    python: str = "3.13"
    project: str = "."

    @property
    def label(self) -> str:
        """The server's name as a valid label."""
        return label_of(self.name)

    def checked(self) -> Deployment:
        """Return this deployment, or raise UnusableValueError for an invalid value."""
        rows = [(self.host, HOST, "a host such as mcp.example.com"), (self.path, PATH, "a path such as /mcp")]
        rows += [(item, UPSTREAM, "HOST:PORT") for item in self.upstreams]
        rows += [(self.image, IMAGE, "an image such as registry.example.com/server:1")] if self.image else []
        rows += [(self.url, LINK, "the https address of a file")] if self.url else []
        rows += [(self.project, FOLDER, "a relative folder such as `servers/weather`")]
        for value, pattern, expected in rows:
            if not pattern.fullmatch(value):
                raise UnusableValueError(f"{value!r} cannot be used; expected {expected}")
        return self


GLIBC, MUSL = "slim", "alpine"
"""The variants of the official image that have each C library."""
LINUX = re.compile(r"(?P<libc>many|musl)?linux[0-9_]*_(?P<machine>x86_64|aarch64)")
MACHINES = {"x86_64": "linux/amd64", "aarch64": "linux/arm64"}
MIN_MINOR = 11
"""The minor version of the oldest supported Python: 3.11."""


def base_image(bytecode: str, platforms: Iterable[str]) -> str:
    """Return the image name for FROM, by the Python of the bytecode and the tags of the native modules.

    Raises UnusableValueError if no image supports the native modules.
    """
    minor = int(bytecode.split(".")[1])
    tags = [tag.split("-") for tag in platforms]
    if not tags:
        return f"python:3.{minor}-{GLIBC}"
    on_linux = [(python, abi, match) for python, abi, where in tags if (match := LINUX.fullmatch(where))]
    if not on_linux:
        named = ", ".join(sorted({where for *_, where in tags}))
        words = "build it with `--platform manylinux2014_x86_64`, or on the target platform"
        raise UnusableValueError(f"the packages in the file are for {named}, but containers run Linux: {words}")
    wanted = chosen_minor(minor, [(python, abi) for python, abi, _ in on_linux])
    machines = {MACHINES[match["machine"]] for *_, match in on_linux}
    variant = MUSL if all(match["libc"] == "musl" for *_, match in on_linux) else GLIBC
    platform = f"--platform={machines.pop()} " if len(machines) == 1 else ""
    return f"{platform}python:3.{wanted}-{variant}"


def chosen_minor(minor: int, tags: list[tuple[str, str]]) -> int:
    """Return a minor version that can load modules with these tags: the bytecode's own, if possible."""
    exact = {int(python[3:]) for python, abi in tags if abi.startswith("cp") and python[3:].isdigit()}
    # A module for the stable ABI (`cp311-abi3`) can be loaded by its Python and by later ones.
    least = max((int(python[3:]) for python, abi in tags if abi == "abi3" and python[3:].isdigit()), default=MIN_MINOR)
    if exact:
        return minor if minor in exact else max(exact)
    return max(minor, least)


def systemd(target: Deployment) -> str:
    """Return a unit of which each instance is a replica with a separate user, which writes nothing but its state."""
    return export_text(
        "systemd.service.j2",
        target,
        description=f"{target.label}: {target.summary}" if target.summary else f"{target.label}, an MCP server",
        reads_paths=any(setting.type in ("file", "directory") for setting in target.settings),
    )


def compose(target: Deployment) -> str:
    """Return a compose file: secrets are files, other settings variables of `.env`."""
    return export_text("compose.yaml.j2", target, image=target.image or f"{target.label}:{image_tag(target.version)}")


def compose_variable(setting: DeclaredSetting) -> str:
    """Return the value of a setting: that of `.env`, else its default; a required one without either is an error."""
    if setting.default is not None:
        default = variable_text(setting.default)
        # What Compose reads as syntax cannot be inside `${NAME:-…}`: such a default is fixed in the file.
        simple = re.fullmatch(r"[^${}\\]*", default)
        return f"${{{setting.name}:-{default}}}" if simple else default.replace("$", "$$")
    return f"${{{setting.name}:?set it in .env}}" if setting.required else f"${{{setting.name}:-}}"


def image_tag(version: str) -> str:
    # A tag has at most 128 characters.
    return re.sub(r"[^A-Za-z0-9._-]", "-", version)[:128].strip("-.") or "latest"


def kubernetes(target: Deployment) -> str:
    """Return manifests: replicas that share only keys and, if there are tasks, Valkey."""
    # The value of a label of Kubernetes has at most 63 characters, and a letter or digit at each end.
    version = re.sub(r"[^A-Za-z0-9._-]", "-", target.version)[:63].strip("-._") or "unknown"
    selector = {"app.kubernetes.io/name": target.label, "app.kubernetes.io/component": "server"}
    valkey_selector = {**selector, "app.kubernetes.io/component": "valkey"}
    return export_text(
        "kubernetes.yaml.j2",
        target,
        selector=selector,
        labels={**selector, "app.kubernetes.io/version": version},
        image=target.image or f"{target.label}:{version}",
        max_replicas=max(10, 3 * target.replicas),
        config=f"{target.label}-settings",
        # A server takes an empty text as not set.
        config_data={
            setting.name: "" if setting.default is None else variable_text(setting.default)
            for setting in target.settings
            if not setting.secret
        },
        valkey_label=f"{target.label}-valkey",
        valkey_selector=valkey_selector,
        valkey_labels={**valkey_selector, "app.kubernetes.io/version": version},
        valkey_address=f"redis://:$(VALKEY_PASSWORD)@{target.label}-valkey:6379/0",
    )


def nginx(target: Deployment) -> str:
    """Return a site in front of replicas."""
    return export_text("nginx.conf.j2", target)


def github_actions(target: Deployment) -> str:
    """Return a workflow: check pull requests and tags, and release each tag with attestations."""
    return export_text("github-actions.yaml.j2", target, mcpc=f"{DISTRIBUTION}=={__version__}")


def gitlab_ci(target: Deployment) -> str:
    """Return a pipeline: check merge requests and tags, and release each tag."""
    return export_text("gitlab-ci.yaml.j2", target, mcpc=f"{DISTRIBUTION}=={__version__}")


def homebrew(target: Deployment) -> str:
    """Return a formula: the published file with the Python of its bytecode."""
    if not target.url:
        raise UnusableValueError("a formula needs the address of the published file: use `--url https://…/server.pyz`")
    if not target.homepage:
        raise UnusableValueError("a formula needs a homepage: write `urls = {Homepage = …}` in `[project]`")
    return export_text(
        "homebrew.rb.j2",
        target,
        class_name=class_name(target.label),
        description=one_sentence(target.summary or f"MCP server {target.label}"),
        license=target.license if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", target.license) else "",  # SPDX
    )


def one_sentence(text: str) -> str:
    """Return a description as Homebrew wants it: at most 80 characters, without a full stop."""
    line = " ".join(text.split())
    if len(line) > 80:
        line = line[:79].rsplit(" ", 1)[0] + "…"
    return line.rstrip(".")


def class_name(label: str) -> str:
    """Return the name of the class: that of the file in camel case; Homebrew finds the class by it."""
    name = "".join(part.capitalize() for part in label.split("-"))
    return name if name[:1].isalpha() else f"Mcp{name}"


EXPORTS = {
    "systemd": systemd,
    "compose": compose,
    "kubernetes": kubernetes,
    "nginx": nginx,
    "github-actions": github_actions,
    "gitlab-ci": gitlab_ci,
    "homebrew": homebrew,
}
OVER_HTTP = frozenset({"systemd", "compose", "kubernetes", "nginx"})
"""The exports of servers that serve over HTTP."""


def export_text(template: str, target: Deployment, **values: object) -> str:
    """Return a template with the values of a deployment, its label, and others."""
    values = {**{name: getattr(target, name) for name in target.__slots__}, "label": target.label, **values}
    return render(f"exports/{template}", finalize=quoted_or_word, filters=FILTERS, **values).decode()


class QuotedText(str):
    """A text in the language of a template."""

    __slots__ = ()


def quoted_or_word(value: object) -> str:
    """Return a value that a filter has quoted, or one that needs no quotes in any language."""
    if isinstance(value, QuotedText) or re.fullmatch(r"[A-Za-z0-9._~/:@\[\]-]+", str(value)):
        return str(value)
    raise UnusableValueError(f"{value!r} has characters that cannot be in a deployment file")


def yaml_scalar(value: str | float) -> QuotedText:
    # On one line in any case, because a template knows the indentation of its first line only.
    style = '"' if isinstance(value, str) and "\n" in value else None
    text: str = yaml.safe_dump([value], default_style=style, default_flow_style=False, width=1 << 30)
    return QuotedText(text.removeprefix("- ").removesuffix("\n"))


def yaml_mapping(values: Mapping[str, str], indent: int) -> QuotedText:
    """Return a mapping of YAML below its key."""
    items = (f"{yaml_scalar(key)}: {yaml_scalar(value)}" for key, value in values.items())
    return QuotedText("".join(f"\n{' ' * indent}{item}" for item in items))


def comment_text(text: str) -> QuotedText:
    """Return a text for a line of a comment; a backslash at its end would continue a comment of systemd."""
    line = "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))
    return QuotedText(line[:500].rstrip("\\"))


def unit_text(text: str) -> QuotedText:
    """Return a text for a line of a unit: printable, `%` twice, and no backslash, which would continue the line."""
    return QuotedText(comment_text(printable(" ".join(text.split()))).replace("\\", "/").replace("%", "%%"))


def shell_text(text: str) -> QuotedText:
    """Return a word of a shell on one line."""
    return QuotedText(shlex.quote(printable(text)))


def ruby_text(text: str) -> QuotedText:
    """Return a string of Ruby: JSON's escapes are Ruby's, and `#` is escaped, so that nothing is interpolated."""
    return QuotedText(json.dumps(printable(text), ensure_ascii=False).replace("#", "\\#"))


def printable(text: str) -> str:
    """Return a text, or raise UnusableValueError if it has control characters or line breaks."""
    if not text.isprintable():
        raise UnusableValueError(f"{text!r} has characters that cannot be in a deployment file")
    return text


FILTERS: dict[str, Callable[..., str]] = {
    "yaml": yaml_scalar,
    "yaml_mapping": yaml_mapping,
    "compose_variable": compose_variable,
    "comment": comment_text,
    "unit": unit_text,
    "shell": shell_text,
    "ruby": ruby_text,
}
"""The filters of templates; each returns a text that cannot leave its place, but `compose_variable`, before `yaml`."""
