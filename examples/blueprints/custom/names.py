"""Features that are programs: the name of the mark is the id that a feature file lists."""

from mcpc import tool

SHORT = {"btn": "button", "cfg": "configuration", "msg": "message", "tmp": "temporary"}


@tool(name="check_name", readOnlyHint=True)
def check(name: str) -> str:
    """Say what is wrong with a name."""
    found = [f"`{part}` is short for `{SHORT[part]}`" for part in name.lower().split("_") if part in SHORT]
    return "; ".join(found) or f"`{name}` is fine"
