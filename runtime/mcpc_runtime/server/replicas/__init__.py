"""Data that servers with a common Redis or common keys exchange: changes, and signed tokens."""
