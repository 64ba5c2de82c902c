"""A package index over HTTP (PEP 691) of the wheels and sources of a folder, which counts what it is asked."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Index:
    """An index that serves; `asked` are the paths of the requests."""

    folder: Path
    address: str = ""
    asked: list[str] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        """Return the environment in which pip and uv use this index and no other, and every proxy is this, too."""
        page = f"{self.address}/simple"
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), self.address)
        return {
            **proxies, "NO_PROXY": "127.0.0.1", "PIP_CONFIG_FILE": "/dev/null", "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "", "PIP_INDEX_URL": page, "UV_DEFAULT_INDEX": page, "UV_INDEX": "", "UV_NO_CACHE": "1",
        }  # fmt: skip


@contextmanager
def simple_index(folder: Path) -> Iterator[Index]:
    """Serve the wheels and sources of a folder until the block ends."""
    index = Index(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            index.asked.append(self.path)
            body, kind = answer(folder, self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_CONNECT(self) -> None:
            index.asked.append(self.path)
            self.send_error(502)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        index.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()


def answer(folder: Path, path: str) -> tuple[bytes | None, str]:
    """Return the page of a package, or a file; None for anything else."""
    page = re.fullmatch(r"/simple/([\w-]+)/", path)
    if page is not None:
        stem = page[1].replace("-", "_")
        files = sorted((*folder.glob(f"{stem}-*.whl"), *folder.glob(f"{stem}-*.tar.gz")))
        rows = [
            {
                "filename": item.name,
                "url": f"/files/{item.name}",
                "size": item.stat().st_size,
                "hashes": {"sha256": digest(item)},
            }
            for item in files
        ]
        listing = {"meta": {"api-version": "1.1"}, "name": page[1], "versions": [], "files": rows}
        return json.dumps(listing).encode() if files else None, "application/vnd.pypi.simple.v1+json"
    file = folder / path.rpartition("/")[2]
    return (file.read_bytes() if path.startswith("/files/") and file.is_file() else None), "application/octet-stream"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
