"""Python handlers."""
