#!/usr/bin/env bash
# The function behind completions.json: complete_NAME_ARGUMENT prints what may stand there, one value a line, and selects
# by what was typed if it wants to.

complete_template_data_id() {
  printf '%s\n' 100 101 123 200
}
