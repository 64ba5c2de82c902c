"""Which provider has what a uri names, and what it is asked for.

A script of the project wins over what the server does itself.  A path is decoded once; what leads upward, hides a
separator or lies below none of the folders is outside, whatever else there may be.
"""

from __future__ import annotations

from mcpc_runtime.commands import Command
from mcpc_runtime.protocol.matching import HIDDEN, decoded
from mcpc_runtime.providers import surroundings
from mcpc_runtime.providers.surroundings import number, said
from mcpc_runtime.providers.wanted import FAILED, INVALID, OUTSIDE, Brought, File, Page, Repository, Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.image import Image

    Wanted = File | Page | Repository | Script | Brought

SCHEMES = {"git+https": "git"}
"""The provider of a scheme that has not the scheme's name."""
YES = ("true", "1", "yes", "on")
MOST_SECONDS = 60
GIT_SECONDS, HTTPS_SECONDS = 30, 15
MOST_PAGE, LARGEST_PAGE = 10 << 20, 20 << 20
REFUSED = "git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)"


def provider_of(image: Image, uri: str) -> str:
    """Return the provider for a uri that says nothing else, nothing if there is none."""
    scheme = uri.partition(":")[0].lower()
    name = SCHEMES.get(scheme, scheme)
    return name if name in PROVIDERS or name in own(image) else ""


def own(image: Image) -> tuple[str, ...]:
    """Return the names of the providers that the project brings."""
    return tuple(surroundings.built(image).get("providers", ()))


def wanted(image: Image, provider: str, uri: str, file: str = "") -> Wanted:
    """Return what a provider is asked for; `file`: the project's own file that the uri is listed for."""
    if provider in own(image):
        return script(image, provider, uri)
    row = PROVIDERS.get(provider)
    return row(image, uri, file) if row is not None else Brought(FAILED, words="Unsupported resource provider")


def script(image: Image, provider: str, uri: str) -> Script:
    """Return the call of a project's own provider."""
    folder = surroundings.home(image)
    return Script(command(image, provider, f"{folder}/providers/{provider}.sh", uri))


def command(image: Image, provider: str, path: str, *words: str) -> Command:
    """Return the command that starts a provider's script, with what it finds around it."""
    folder = surroundings.home(image)
    more = {"MCP_RESOURCES_ROOTS": ":".join(surroundings.roots(image)), "MCPBASH_PROVIDERS_DIR": f"{folder}/providers"}
    made = Command([*surroundings.words(path), *words], 0, {})
    made.exact = surroundings.curated(image, provider, more)
    made.told = b""
    made.directory = folder
    return made


def local_file(image: Image, uri: str, file: str) -> Wanted:
    """Return the file that a uri names; a path that does not begin at the root begins at the project's folder."""
    folder = surroundings.home(image)
    path = f"{folder}/{file}" if file else path_of(uri, folder)
    if path is None:
        return Brought(OUTSIDE, words=f"{uri} leads out of its folder")
    return File(path, surroundings.roots(image), surroundings.most_bytes())


def path_of(uri: str, folder: str) -> str | None:
    """Return the path that a `file:` uri names, None if it is one that may not be."""
    rest = uri.partition(":")[2].removeprefix("//")
    try:
        path = decoded(rest)
    except UnicodeDecodeError:
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if HIDDEN.search(uri) or "\\" in path or "\0" in path or ".." in parts or not parts:
        return None
    return "/" + "/".join(parts) if path.startswith("/") else f"{folder}/{'/'.join(parts)}"


def page(image: Image, uri: str, file: str) -> Wanted:
    """Return the page that a uri names, if it may be asked for at all."""
    seconds = number("MCPBASH_HTTPS_TIMEOUT", HTTPS_SECONDS, MOST_SECONDS)
    made = Page(uri, seconds or HTTPS_SECONDS, number("MCPBASH_HTTPS_MAX_BYTES", MOST_PAGE, LARGEST_PAGE))
    made.agent = said("MCPBASH_HTTPS_USER_AGENT")
    return admitted(made, "HTTPS", said("MCPBASH_HTTPS_ALLOW_ALL") in YES)


def repository(image: Image, uri: str, file: str) -> Wanted:
    """Return the file of a repository that a uri names, if it may be asked for at all."""
    if said("MCPBASH_ENABLE_GIT_PROVIDER") != "true":
        return Brought(INVALID, words=REFUSED)
    path = f"{surroundings.home(image)}/{surroundings.FRAMEWORK}/providers/git.sh"
    seconds = number("MCPBASH_GIT_TIMEOUT", GIT_SECONDS, MOST_SECONDS)
    made = Repository(uri, seconds or GIT_SECONDS, 0, command(image, "git", path, uri))
    return admitted(made, "GIT", said("MCPBASH_GIT_ALLOW_ALL") == "true")


def admitted(made: Page | Repository, name: str, everywhere: bool) -> Wanted:
    """Return what is wanted of the network with the hosts that may be asked; refuse if nobody said which."""
    made.allowed, made.denied = hosts(f"MCPBASH_{name}_ALLOW_HOSTS"), hosts(f"MCPBASH_{name}_DENY_HOSTS")
    made.everywhere = everywhere and not made.allowed
    if made.allowed or made.everywhere:
        return made
    variable = f"MCPBASH_{name}_ALLOW_HOSTS"
    return Brought(INVALID, words=f"{variable} does not say which hosts may be asked")


def hosts(variable: str) -> frozenset[str]:
    """Return the hosts that a variable lists."""
    return frozenset(host.strip("[]").lower() for host in said(variable).replace(",", " ").split())


def echo(image: Image, uri: str, file: str) -> Wanted:
    """Return what the uri itself says."""
    scheme, _, text = uri.partition("://")
    if scheme.lower() != "echo":
        return Brought(INVALID, words="echo provider requires echo://TEXT")
    try:
        return Brought(data=decoded(text).encode("utf-8", "surrogateescape"))
    except UnicodeDecodeError:
        return Brought(INVALID, words="the escapes of the uri are not UTF-8")


PROVIDERS: dict[str, Callable[[Image, str, str], Wanted]] = {
    "echo": echo,
    "file": local_file,
    "git": repository,
    "https": page,
}
