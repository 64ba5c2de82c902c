"""ECMA-262's regular expressions: their meaning, their form for `re`, and how long a search may take."""
