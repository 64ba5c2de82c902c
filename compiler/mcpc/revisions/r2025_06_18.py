"""2025-06-18: structured results, titles, resource links; batches are gone."""

from dataclasses import replace

from mcpc.revisions.r2025_03_26 import REVISION as PREVIOUS

REVISION = replace(
    PREVIOUS,
    version="2025-06-18",
    batches=False,
    structured="objects",
    content=(*PREVIOUS.content, "resource_link"),
    tool=(*PREVIOUS.tool, "title", "outputSchema", "_meta"),
    prompt=(*PREVIOUS.prompt, "title", "_meta"),
    prompt_argument=(*PREVIOUS.prompt_argument, "title"),
    resource=(*PREVIOUS.resource, "title", "_meta"),
    resource_template=(*PREVIOUS.resource_template, "title", "_meta"),
    implementation=(*PREVIOUS.implementation, "title"),
)
