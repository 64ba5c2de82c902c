"""The same contract in Python."""

from mcpc import call_tool_handler

NUMBER = {"type": "number"}
schema = {"description": "Add.", "type": "object", "properties": {"a": NUMBER, "b": NUMBER}}


def default(request):
    a, b = (request["params"]["arguments"][name] for name in "ab")
    if a < 0:
        raise ValueError('no "less" than nothing')
    greeting = call_tool_handler({"params": {"name": "hello_world", "arguments": {"name": f"{a + b}"}}}, "py_add_1")
    return {"content": [{"type": "text", "text": greeting["content"][0]["text"]}]}


def destroy():
    print("py_add is destroyed")
