"""Bash: functions and problems of libraries and scripts, found by a lexer and by `bash -n`; nothing is run."""
