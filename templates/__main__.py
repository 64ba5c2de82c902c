"""The beginning of a server for a Python whose bytecode is not that of `__main__`: selects its code, or the source.

This file is read by any Python there is: what is too old is told so, in words.
"""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "this server needs Python 3.11 or newer; %s is Python %d.%d\n"
        % ((sys.executable or "this",) + tuple(sys.version_info[:2]))
    )
    sys.exit(8)

loader = globals().get("z") or __loader__
try:
    import marshal

    start = marshal.loads(loader.get_data("__main__.pyc.%s" % sys.implementation.cache_tag)[16:])
except (OSError, EOFError, ValueError, TypeError):
    start = compile(loader.get_data("__start__.py"), "server.pyz/__start__.py", "exec")
exec(start)
