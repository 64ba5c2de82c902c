"""The table of providers: which one serves a uri, and the request to it.

A script of the project takes precedence over a built-in provider.  A path is decoded once; a path with `..`, an encoded
separator, or outside the allowed folders is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.handlers.invocations import Command
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.uri_matching import ESCAPED_SEPARATOR, decode_escapes
from mcpc_runtime.systems.mcp_bash.environment import FRAMEWORK_FOLDER
from mcpc_runtime.systems.mcp_bash.providers import environment as provider_environment
from mcpc_runtime.systems.mcp_bash.providers.environment import variable_number, variable_text
from mcpc_runtime.systems.mcp_bash.providers.requests import (
    FAILED,
    INVALID,
    OUTSIDE,
    FileRequest,
    GitRequest,
    HttpsRequest,
    ProviderResult,
    ProviderScript,
)
from mcpc_runtime.systems.mcp_bash.settings import TRUE_VALUES, settings_of
from mcpc_runtime.transports.platforms.scripts import joined_paths, local_path

ProviderRequest = FileRequest | HttpsRequest | GitRequest | ProviderScript | ProviderResult


SCHEMES = {"git+https": "git"}
"""The provider of a scheme, where its name differs."""
MAX_SECONDS = 60
GIT_SECONDS, HTTPS_SECONDS = 30, 15
DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES = 10 << 20, 20 << 20
GIT_DISABLED = "git provider is disabled (set MCPBASH_ENABLE_GIT_PROVIDER=true to enable)"


def provider_of(image: Image, uri: str) -> str:
    """Return the name of the provider for a uri, by its scheme, or an empty string."""
    scheme = uri.partition(":")[0].lower()
    name = SCHEMES.get(scheme, scheme)
    return name if name in PROVIDERS or name in project_providers(image) else ""


def project_providers(image: Image) -> tuple[str, ...]:
    """Return the names of the project's own providers."""
    return tuple(settings_of(image).built.get("providers", ()))


def build_provider_request(image: Image, provider: str, uri: str, file: str = "") -> ProviderRequest:
    """Return the request to a provider; `file`: the project's file for which the uri is listed."""
    if provider in project_providers(image):
        return script_request(image, provider, uri)
    row = PROVIDERS.get(provider)
    return row(image, uri, file) if row is not None else ProviderResult(FAILED, message="Unsupported resource provider")


def script_request(image: Image, provider: str, uri: str) -> ProviderScript:
    """Return the request to a project's own provider."""
    folder = provider_environment.project_folder(image)
    return ProviderScript(provider_command(image, provider, f"{folder}/providers/{provider}.sh", uri))


def provider_command(image: Image, provider: str, path: str, *arguments: str) -> Command:
    """Return the command of a provider's script, with its environment."""
    folder = provider_environment.project_folder(image)
    start = provider_environment.script_start(path)
    more = {
        "MCP_RESOURCES_ROOTS": joined_paths(provider_environment.resource_roots(image), start.write_path),
        "MCPBASH_PROVIDERS_DIR": start.write_path(f"{folder}/providers"),
    }
    command = Command([*start.argv, *arguments], 0, {})
    command.exact = provider_environment.build_environment(image, provider, more, start.write_path)
    command.stdin = b""
    command.directory = folder
    return command


def file_request(image: Image, uri: str, file: str) -> ProviderRequest:
    """Return the request for the file of a uri; a relative path is below the project's folder."""
    folder = provider_environment.project_folder(image)
    path = f"{folder}/{file}" if file else requested_path(uri, folder)
    if path is None:
        return ProviderResult(OUTSIDE, message=f"{uri} leads out of its folder")
    return FileRequest(path, provider_environment.resource_roots(image), provider_environment.max_resource_bytes())


def requested_path(uri: str, folder: str) -> str | None:
    """Return the path of a `file:` uri, None if it is not allowed."""
    rest = uri.partition(":")[2].removeprefix("//")
    try:
        path = decode_escapes(rest)
    except UnicodeDecodeError:
        return None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    # An escaped separator is looked for in the uri: once decoded, it is a separator like any other.
    if ESCAPED_SEPARATOR.search(uri) or "\\" in path or "\0" in path or ".." in parts or not parts:
        return None
    return local_path("/" + "/".join(parts)) if path.startswith("/") else f"{folder}/{'/'.join(parts)}"


def https_request(image: Image, uri: str, file: str) -> ProviderRequest:
    """Return the request for a web page, or why it is not allowed."""
    seconds = variable_number("MCPBASH_HTTPS_TIMEOUT", HTTPS_SECONDS, MAX_SECONDS)
    request = HttpsRequest(
        uri, seconds or HTTPS_SECONDS, variable_number("MCPBASH_HTTPS_MAX_BYTES", DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES)
    )
    request.agent = variable_text("MCPBASH_HTTPS_USER_AGENT")
    return with_allowed_hosts(request, "HTTPS", variable_text("MCPBASH_HTTPS_ALLOW_ALL") in TRUE_VALUES)


def git_request(image: Image, uri: str, file: str) -> ProviderRequest:
    """Return the request for a file of a Git repository, or why it is not allowed."""
    if variable_text("MCPBASH_ENABLE_GIT_PROVIDER") != "true":
        return ProviderResult(INVALID, message=GIT_DISABLED)
    path = f"{provider_environment.project_folder(image)}/{FRAMEWORK_FOLDER}/providers/git.sh"
    seconds = variable_number("MCPBASH_GIT_TIMEOUT", GIT_SECONDS, MAX_SECONDS)
    request = GitRequest(uri, seconds or GIT_SECONDS, 0, provider_command(image, "git", path, uri))
    return with_allowed_hosts(request, "GIT", variable_text("MCPBASH_GIT_ALLOW_ALL") == "true")


def with_allowed_hosts(request: HttpsRequest | GitRequest, name: str, everywhere: bool) -> ProviderRequest:
    """Return a network request with its allowed hosts; refuse it if none are configured."""
    request.allowed, request.denied = host_list(f"MCPBASH_{name}_ALLOW_HOSTS"), host_list(f"MCPBASH_{name}_DENY_HOSTS")
    # A list of hosts is narrower than the permission for all, and wins.
    request.everywhere = everywhere and not request.allowed
    if request.allowed or request.everywhere:
        return request
    variable = f"MCPBASH_{name}_ALLOW_HOSTS"
    return ProviderResult(INVALID, message=f"{variable} does not allow any hosts")


def host_list(variable: str) -> frozenset[str]:
    """Return the hosts that a variable lists."""
    # An IPv6 address may be listed in brackets, as in a uri; hosts are compared without them.
    return frozenset(host.strip("[]").lower() for host in variable_text(variable).replace(",", " ").split())


def echo_result(image: Image, uri: str, file: str) -> ProviderRequest:
    """Return the text in the uri itself."""
    scheme, _, text = uri.partition("://")
    if scheme.lower() != "echo":
        return ProviderResult(INVALID, message="echo provider requires echo://TEXT")
    try:
        return ProviderResult(data=decode_escapes(text).encode("utf-8", "surrogateescape"))
    except UnicodeDecodeError:
        return ProviderResult(INVALID, message="the percent-escapes of the URI are not UTF-8")


PROVIDERS: dict[str, Callable[[Image, str, str], ProviderRequest]] = {
    "echo": echo_result,
    "file": file_request,
    "git": git_request,
    "https": https_request,
}
