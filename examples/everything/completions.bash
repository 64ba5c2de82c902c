#!/usr/bin/env bash
# The function behind completions.json: complete_NAME_ARGUMENT prints what may stand there, one value a line; those that
# do not begin with what was typed are left out for it.

complete_template_data_id() {
  printf '%s\n' 100 101 123 200
}
