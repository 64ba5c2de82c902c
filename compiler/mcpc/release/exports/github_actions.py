"""A workflow of GitHub Actions: compare with the base of each pull request, and release each tag with attestations.

Values of events reach a shell as variables only.  The shell steps run anywhere that has mcpc.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from mcpc import DISTRIBUTION, __version__
from mcpc.release.exports.yaml_text import yaml_text

if TYPE_CHECKING:
    from mcpc.release.exports.deployment import Deployment

CHECKOUT, SETUP = "actions/checkout@v4", "actions/setup-python@v5"
ATTEST = "actions/attest@v4"


def github_actions(target: Deployment) -> str:
    """Return the workflow."""
    project = shlex.quote(target.project)
    workflow: dict[str, Any] = {
        "name": "mcp-server",
        "on": {"pull_request": {}, "push": {"tags": ["v*"]}},
        "permissions": {"contents": "read"},
        "jobs": {
            "compare": {
                "if": "github.event_name == 'pull_request'",
                "runs-on": "ubuntu-latest",
                "steps": [
                    {"uses": CHECKOUT, "with": {"fetch-depth": 0, "persist-credentials": False}},
                    *prepare(target),
                    {
                        "name": "Compare with the base",
                        "env": {"BASE": "${{ github.event.pull_request.base.sha }}"},
                        "run": f'git worktree add ../base "$BASE"\n'
                        f"mcpc diff ../base/{project} {project} --fail-on breaking --format github\n",
                    },
                ],
            },
            "release": {
                "if": "github.ref_type == 'tag'",
                "runs-on": "ubuntu-latest",
                "permissions": {
                    "contents": "write",
                    "id-token": "write",
                    "attestations": "write",
                    "artifact-metadata": "write",
                },
                "steps": [
                    {"uses": CHECKOUT, "with": {"fetch-depth": 0, "persist-credentials": False}},
                    *prepare(target),
                    {"name": "Make the release", "run": f"mcpc release {project} --dist dist"},
                    {"uses": ATTEST, "with": {"subject-checksums": "dist/SHA256SUMS"}},
                    {
                        "name": "Publish the files",
                        "env": {"GH_TOKEN": "${{ github.token }}", "TAG": "${{ github.ref_name }}"},
                        "run": 'gh release create "$TAG" --verify-tag --generate-notes dist/*',
                    },
                ],
            },
        },
    }
    text = yaml_text(workflow)
    return "# Written by `mcpc ship github-actions`: a file for .github/workflows.\n" + text


def prepare(target: Deployment) -> list[dict[str, Any]]:
    """Return the steps that install mcpc, at the version that wrote the workflow."""
    return [
        {"uses": SETUP, "with": {"python-version": target.python}},
        {"name": "Install mcpc", "run": f"python -m pip install {DISTRIBUTION}=={__version__}"},
    ]
