"""Typed clients for the tools of a server, as Python source: `mcpc generate client`.

    ServerLists ─client_types─▶ ClientTypes ─python_client─▶ source

A client is one module without dependencies: it calls whatever has the SDKs' method for calling a tool.  Types accept
every value that the schema accepts; what a type cannot express is `object`.
"""

from mcpc.workbench.stubs.client_module import MARK, client_types, python_client

__all__ = ["MARK", "client_types", "python_client"]
