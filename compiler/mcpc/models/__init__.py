"""Pydantic models of what tools take and return, generated from their schemas."""
