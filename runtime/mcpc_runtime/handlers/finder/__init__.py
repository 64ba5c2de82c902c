"""Tools that find and describe operations, which are not listed."""
