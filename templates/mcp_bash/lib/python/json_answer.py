"""JSON for scripts where Bash would take too long; it comes on standard input.

    json_answer.py compact                how many values there are, then each in a line
    json_answer.py success MOST           a tool's result of one value; its text says less where it had more bytes
    json_answer.py truncate MOST [PATH]   as much of an array as fits into MOST bytes

Its law: the standard library only.  Status 2: what came in is no JSON; 1: it is, but not one value.
"""

import re
import sys

from json_values import dump, plain, read, say


def compact(values):
    say(len(values), *map(dump, values))


def success(values, most):
    envelope = dump({"success": True, "result": values[0]})
    text = envelope if len(envelope.encode()) <= int(most) else summary(values[0])
    say(f'{{"content":[{{"type":"text","text":{dump(text)}}}],"structuredContent":{envelope},"isError":false}}')


def summary(value):
    """Say in a few words what a value is."""
    if isinstance(value, list):
        return f"Success: array with {len(value)} items"
    if isinstance(value, dict):
        return f"Success: object with {len(value)} keys"
    return f"Success: {plain(value)[:100]}"


def failure(kind_of_error, message, **more):
    say(dump({"result": None, "truncated": False, "error": {"type": kind_of_error, "message": message, **more}}))


def truncate(values, most, path=""):
    """Print as many items as fit: of the array at a path, of the value itself, or of its `results`."""
    value, most = values[0], int(most)
    text = dump(value)
    size = len(text.encode())
    if path:
        place = found_array(value, path)
        if place is not None:
            cut(value, place, most, size)
    elif size <= most:
        say(f'{{"result":{text},"truncated":false}}')
    elif isinstance(value, list):
        cut_list(value, most, size)
    elif isinstance(value, dict) and isinstance(value.get("results"), list):
        cut(value, (value, "results"), most, size)
    else:
        failure("output_too_large", f"{size} bytes are too many, and there is no array to take items from")


def found_array(value, path):
    """Return what holds the array at a path, and by which name; if there is none, say why, and return None."""
    if not re.fullmatch(r"(\.[A-Za-z_][A-Za-z0-9_]*)+", path):
        failure("invalid_path_syntax", f"{path!r} is no path: they are written .name or .name.name")
        return None
    names = path[1:].split(".")
    holder = value
    for name in names[:-1]:
        holder = holder.get(name) if isinstance(holder, dict) else holder
    if not isinstance(holder, (dict, type(None))):
        failure("invalid_path", f"There is nothing that could have members on the way of {path}")
    elif holder is None or holder.get(names[-1]) is None:
        failure("path_not_found", f"There is nothing at {path}")
    elif not isinstance(holder[names[-1]], list):
        failure("invalid_array_path", f"There is no array at {path}")
    else:
        return holder, names[-1]
    return None


def fitting(items, most, size):
    """Return how many of the items may stay where all of them make so many bytes, and how many bytes are left."""
    kept = len(items)
    while kept and size > most:
        kept -= 1
        size -= len(dump(items[kept]).encode()) + (kept > 0)
    return kept, size


def cut(value, place, most, size):
    """Print an object with as many items of one of its arrays as fit."""
    holder, name = place
    items = holder[name]
    kept, rest = fitting(items, most, size)
    if rest > most:
        failure("output_too_large", f"{rest} bytes are too many, even without an item")
        return
    holder[name] = items[:kept]
    say(dump({"result": value, "truncated": kept < len(items), "kept": kept, "total": len(items)}))


def cut_list(value, most, size):
    """Print as many items as fit."""
    kept, _ = fitting(value, most, size)
    more = {} if kept else {"_warning": "individual items exceed max_bytes"}
    say(dump({"result": value[:kept], "truncated": True, "kept": kept, "total": len(value), **more}))


COMMANDS = {"compact": compact, "success": success, "truncate": truncate}


def main(words):
    text, values = read()
    if values is None and words[0] == "truncate":
        failure("invalid_json", "This is not JSON", raw=text.rstrip("\n"))
    elif values is None:
        return 2
    elif len(values) != 1 and words[0] == "truncate":
        message = f"One JSON value is wanted, and there are {len(values)}"
        failure("invalid_json", message, raw=text.rstrip("\n"))
    elif len(values) != 1 and words[0] == "success":
        return 1
    else:
        COMMANDS[words[0]](values, *words[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
