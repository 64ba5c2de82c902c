"""2025-11-25: icons, descriptions of implementations, task support of tools."""

from dataclasses import replace

from mcpc.revisions.r2025_06_18 import REVISION as PREVIOUS

REVISION = replace(
    PREVIOUS,
    version="2025-11-25",
    tool=(*PREVIOUS.tool, "icons", "execution"),
    prompt=(*PREVIOUS.prompt, "icons"),
    implementation=(*PREVIOUS.implementation, "icons", "description", "websiteUrl"),
)
