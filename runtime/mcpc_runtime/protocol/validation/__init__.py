"""What compiled schemas call: formats and bounded patterns."""
