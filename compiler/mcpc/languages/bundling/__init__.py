"""JavaScript and TypeScript as self-contained modules: bundled during the build, by esbuild, in Node.

    files ─scan─▶ imported packages ─npm─▶ a cache folder ─bundle_modules─▶ modules ─describe_modules─▶ descriptions

Nothing here runs in a server: the bundler is installed by npm once, at the versions and hashes of `npm/`.
"""

from mcpc.languages.bundling.bundle import Bundle, BundleError, bundle_modules
from mcpc.languages.bundling.module_inspection import Description, describe_modules
from mcpc.languages.bundling.node import OLDEST_NODE, NodeError, build_inputs

__all__ = [
    "OLDEST_NODE",
    "Bundle",
    "BundleError",
    "Description",
    "NodeError",
    "build_inputs",
    "bundle_modules",
    "describe_modules",
]
