"""Tasks: their stores, the thread that calls a store, and the manager that runs them."""
