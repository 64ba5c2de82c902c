"""The built file as the server reads it."""
