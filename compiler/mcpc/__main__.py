"""`python -m mcpc`, and the `mcpc` command."""

import mcpc.sandbox.search_path  # noqa: F401 - before all else
from mcp_compiler import main

if __name__ == "__main__":
    main()
