"""`python -m mcpc`, and the `mcpc` command."""

from mcpc.cli import main

if __name__ == "__main__":
    main()
