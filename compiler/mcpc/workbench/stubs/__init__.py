"""Typed clients for the tools of a server, as source text: `mcpc stubs`.

    ServerLists ─client_types─▶ ClientTypes ─LANGUAGES─▶ source

A client is one module without dependencies: it calls whatever has the SDKs' method for calling a tool.  Types accept
every value that the schema accepts; what a type cannot express is `object` or `unknown`.
"""

from mcpc.workbench.stubs.client_types import client_types
from mcpc.workbench.stubs.python import python_client
from mcpc.workbench.stubs.texts import MARKS
from mcpc.workbench.stubs.typescript import typescript_client

LANGUAGES = {"python": python_client, "typescript": typescript_client}
"""The function of each language, from ClientTypes to the text of a module."""

__all__ = ["LANGUAGES", "MARKS", "client_types"]
