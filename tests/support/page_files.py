"""A folder of the page over HTTP on the loopback, with the page's content security policy and an empty document."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import mcpc_runtime

PAGE = Path(mcpc_runtime.__file__).parent / "tools/page"
ARGUMENTS = PAGE / "arguments"
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'"
DOCUMENT = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Arguments</title><link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/style.css"><link rel="stylesheet" href="/arguments/arguments.css"><link rel="stylesheet" href="/document.css"></head>
<body><main><h1>Arguments</h1></main></body></html>
"""
STYLE = b"""
body { display: block; overflow: visible; }
main { max-width: 60rem; margin: auto; padding: 1rem; }
"""
ICON = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
OWN = {"/icon.svg": (ICON, "image/svg+xml"), "/": (DOCUMENT, "text/html"), "/document.css": (STYLE, "text/css")}


class FileHandler(SimpleHTTPRequestHandler):
    """Answers with the files of a folder, and with an empty document."""

    extensions_map = {".js": "text/javascript", ".css": "text/css"}  # noqa: RUF012 - as the base class has it

    def do_GET(self) -> None:
        body, kind = OWN.get(self.path, (b"", ""))
        if not kind:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """Yield the address at which the files of `folder` are served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(FileHandler, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
