"""The adapter for Windows: overlapped named pipes, a completion port, and job objects in place of a supervisor.

A module that can be imported on Windows only says so by its first assertion; what has none is plain data and functions.
"""
