"""2025-11-25: icons, descriptions of implementations."""

from dataclasses import replace

from mcpc.revisions.r2025_06_18 import REVISION as PREVIOUS

REVISION = replace(
    PREVIOUS,
    version="2025-11-25",
    tool=(*PREVIOUS.tool, "icons"),
    prompt=(*PREVIOUS.prompt, "icons"),
    resource=(*PREVIOUS.resource, "icons"),
    resource_template=(*PREVIOUS.resource_template, "icons"),
    implementation=(*PREVIOUS.implementation, "icons", "description", "websiteUrl"),
)
