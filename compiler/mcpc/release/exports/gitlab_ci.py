"""A pipeline of GitLab: compare with the target of each merge request, and release each tag."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from mcpc import DISTRIBUTION, __version__
from mcpc.release.exports.yaml_text import yaml_text

if TYPE_CHECKING:
    from mcpc.release.exports.deployment import Deployment


def gitlab_ci(target: Deployment) -> str:
    """Return the pipeline."""
    project = shlex.quote(target.project)
    pipeline: dict[str, Any] = {
        "stages": ["compare", "release"],
        "default": {
            "image": f"python:{target.python}",
            "before_script": [f"python -m pip install {DISTRIBUTION}=={__version__}"],
        },
        "variables": {"GIT_DEPTH": "0"},
        "compare": {
            "stage": "compare",
            "rules": [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}],
            "script": [
                'git worktree add ../base "$CI_MERGE_REQUEST_DIFF_BASE_SHA"',
                f"mcpc diff ../base/{project} {project} --fail-on breaking",
            ],
        },
        "release": {
            "stage": "release",
            "rules": [{"if": "$CI_COMMIT_TAG"}],
            "script": [f"mcpc release {project} --dist dist"],
            "artifacts": {"paths": ["dist/"], "expire_in": "never"},
        },
    }
    text = yaml_text(pipeline)
    return "# Written by `mcpc ship gitlab-ci`: .gitlab-ci.yml, or a file to include.\n" + text
