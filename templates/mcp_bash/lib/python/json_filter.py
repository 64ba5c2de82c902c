"""Answers a filter of jq's language on the JSON that comes in, as `jq -rc FILTER` does: json_filter.py FILTER.

Its law: status 2, what came in is no JSON; 3, the filter is not understood, and nothing is answered; 5, an error in a
value, and the answers before it are there.
"""

import sys

from json_filters import Parser
from json_values import UnknownError, WrongValueError, plain, read, say


def main(source):
    _, values = read()
    if values is None:
        return 2
    try:
        run = Parser(source).whole()
        for value in values:
            for one in run(value):
                say(plain(one))
    except (UnknownError, RecursionError):
        return 3
    except WrongValueError:
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
