"""2024-11-05: the first revision."""

from mcpc.revisions.revision import Revision

REVISION = Revision(
    version="2024-11-05",
    stateless=False,
    batches=True,
    structured="none",
    content=("text", "image", "resource"),
    tool=("name", "description", "inputSchema"),
    prompt=("name", "description", "arguments"),
    prompt_argument=("name", "description", "required"),
    resource=("uri", "name", "description", "mimeType", "annotations", "size"),
    resource_template=("uriTemplate", "name", "description", "mimeType", "annotations"),
    implementation=("name", "version"),
)
