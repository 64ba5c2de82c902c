"""2025-03-26: tool annotations, audio, and batches that a server must take."""

from dataclasses import replace

from mcpc.revisions.r2024_11_05 import REVISION as PREVIOUS

REVISION = replace(
    PREVIOUS,
    version="2025-03-26",
    content=(*PREVIOUS.content, "audio"),
    tool=(*PREVIOUS.tool, "annotations"),
    progress_message=True,
    declares_completions=True,
)
