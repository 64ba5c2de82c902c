"""Each module of the protocol: what its functions return, and what sessions that need it answer (`*.txt`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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

GOLDEN = ROOT / "tests" / "golden" / "runtime" / "protocol"


def asked(call: Any, number: int, requests: dict[str, Any], signer: Any) -> Any:
    """Return what a call that sends client requests is answered."""
    questions, refusal = handler_requests.checked_requests(call, requests)
    return refusal or eras.ask_client(call, number, questions, signer)


NAMES = {"Dialogue": Dialogue, "displayed": displayed, "MODERN": MODERN, "json": json, "asked": asked}
SUBJECTS = {
    **{
        module.__name__.rpartition(".")[2]: module for module in (
            *(batches, calls, capabilities, completion, display, dynamic_resource_list, effects, eras),
            *(filtered_tool_list, handler_errors, handler_requests, image, jsonrpc, media, notifications, prompts),
            *(resources, run_time_lists, session, static_results, subscriptions, tasks, traces, union_errors),
            *(uri_matching, validation_errors, values),
        )
    },
    "content_compatibility": contents, "definitions": handler_requests, "globs": tool_choice, "handshake": eras,
    "params": messages, "recorded_answers": eras, "resource_contents": contents, "responses": messages,
    "stateless": eras, "suggestions": validation_errors, "task_state": tasks,
}  # fmt: skip
"""Files of expressions, by the modules that they are about."""


@pytest.mark.parametrize("subject", SUBJECTS)
def test_values(golden: Callable[[Path, str], None], subject: str) -> None:
    check_expressions(golden, GOLDEN / f"{subject}.txt", protocol_servers, effects, SUBJECTS[subject], **NAMES)


def test_each_file_of_expressions_has_a_module() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {*SUBJECTS}
