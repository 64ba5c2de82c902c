"""The Python code that judges values: two modules from one schema, one that is fast and one that is thorough."""
