"""Each module of the protocol: what its functions return, and what sessions that need it answer (`*.txt`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcpc_runtime.protocol import (
    batches,
    calls,
    capabilities,
    completion,
    contents,
    display,
    dynamic_resource_list,
    effects,
    filtered_tool_list,
    handler_errors,
    image,
    jsonrpc,
    media,
    notifications,
    prompts,
    resources,
    run_time_lists,
    session,
    static_results,
    subscriptions,
    tasks,
    tool_choice,
    traces,
    union_errors,
    uri_matching,
    validation_errors,
    values,
)
from mcpc_runtime.protocol.client_requests import eras, handler_requests, messages
from support import protocol_servers
from support.dialogues import Dialogue, displayed
from support.expressions import check_expressions
from support.images import MODERN
from support.needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

GOLDEN = ROOT / "tests" / "golden" / "runtime" / "protocol"
NAMES = {"Dialogue": Dialogue, "displayed": displayed, "MODERN": MODERN, "json": json}
MODULES = [
    *(batches, calls, capabilities, completion, contents, handler_requests, display, dynamic_resource_list),
    *(effects, eras, filtered_tool_list, tool_choice, handler_errors, handler_requests, eras, image, jsonrpc, media),
    *(notifications, messages, prompts, eras, contents, resources, messages, run_time_lists),
    *(session, eras, static_results, subscriptions, validation_errors, tasks, tasks, traces, union_errors),
    *(uri_matching, validation_errors, values),
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_values(golden: Callable[[Path, str], None], module: ModuleType) -> None:
    path = GOLDEN / f"{module.__name__.rpartition('.')[2]}.txt"
    check_expressions(golden, path, protocol_servers, effects, module, **NAMES)
