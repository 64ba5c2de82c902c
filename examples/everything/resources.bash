#!/usr/bin/env bash
# The function behind the template in resources.json: resource_NAME gets what the template's variables stand for, as
# JSON, and prints the resource.

resource_template_data() {
  jq -c '{id: .id, templateTest: true, data: "Data for ID: \(.id)"}' <<<"$1"
}
