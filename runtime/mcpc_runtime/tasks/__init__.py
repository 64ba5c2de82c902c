"""Tasks as they are kept: what keeps them (stores), the thread that does it, and what runs them."""
