"""The beginning of a server for a Python whose bytecode is not that of `__main__`: selects its code.

It is in the file, in the cache of this user, or compiled from the sources
(`mcpc_runtime.artifact.bytecode_compilation`).

This file is read by any Python there is: what is too old is told so, in words.
"""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "this server needs Python 3.11 or newer; %s is Python %d.%d\n"
        % ((sys.executable or "this",) + tuple(sys.version_info[:2]))
    )
    sys.exit(8)

import marshal

loader = globals().get("z") or __loader__
try:
    start = marshal.loads(loader.get_data("__main__.pyc.%s" % sys.implementation.cache_tag)[16:])
except (OSError, EOFError, ValueError, TypeError):
    facts = marshal.loads(loader.get_data("mcpc_runtime/other_pythons"))
    names = {}
    exec(facts["cache"].get(sys.platform) or facts["cache"][""], names)
    start = names["read_cached"](facts["digest"], "start")
    if start:
        start = marshal.loads(start)
    else:
        exec(facts["compilation"], names)
        start = names["compile_start"](loader, facts, names)
exec(start)
