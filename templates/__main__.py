"""`python3 server.pyz`."""
import mcpc_start  # noqa: F401
