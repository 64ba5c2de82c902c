"""JavaScript and TypeScript as modules that need nothing beside them: made at the build, by esbuild, in Node.

    files ─scan─▶ packages that they import ─npm─▶ a folder of the cache ─bundle─▶ modules ─describe─▶ what they offer

Nothing here runs in a server: what is needed to bundle comes from npm, at the versions and hashes of `npm/`, once.
"""

from mcpc.bundling.bundle import Bundle, Fault, bundle
from mcpc.bundling.describing import Description, describe
from mcpc.bundling.node import OLDEST, NodeError, decisive

__all__ = ["OLDEST", "Bundle", "Description", "Fault", "NodeError", "bundle", "decisive", "describe"]
