"""Other systems whose projects are served: one folder each, reached through tables of hooks and contracts only."""
