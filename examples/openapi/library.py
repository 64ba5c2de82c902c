"""The API of `openapi.yaml`, with three books in memory: python3 library.py, then call the built server."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

BOOKS = {
    1: {"id": 1, "title": "Middlemarch", "authors": ["George Eliot"], "available": True},
    2: {"id": 2, "title": "Emma", "authors": ["Jane Austen"], "available": False},
    3: {"id": 3, "title": "Persuasion", "authors": ["Jane Austen"], "available": True},
}


class Library(BaseHTTPRequestHandler):
    """Answers the four operations."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """List books, or return one."""
        parts = urlsplit(self.path)
        if parts.path == "/v2/books":
            query = parse_qs(parts.query)
            authors = query.get("author[]", [])
            books = [book for book in BOOKS.values() if not authors or {*authors} & {*book["authors"]}]
            if query.get("available") == ["true"]:
                books = [book for book in books if book["available"]]
            self.answer(200, sorted(books, key=lambda book: book["title"])[: int(query.get("limit", ["20"])[0])])
        else:
            book = BOOKS.get(self.number())
            self.answer(200, book) if book else self.answer(404, {"detail": "there is no such book"})

    def do_POST(self) -> None:
        """Add a book."""
        given = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if "X-Key" not in self.headers:
            self.answer(401, {"detail": "the header `X-Key` is missing"})
            return
        number = max(BOOKS, default=0) + 1
        BOOKS[number] = {"authors": [], "available": True, **given, "id": number}
        self.answer(201, BOOKS[number])

    def do_DELETE(self) -> None:
        """Remove a book."""
        BOOKS.pop(self.number(), None)
        self.answer(204, None)

    def number(self) -> int:
        """Return the number at the end of the path, 0 if there is none."""
        text = urlsplit(self.path).path.rpartition("/")[2]
        return int(text) if text.isdecimal() else 0

    def answer(self, status: int, value: object) -> None:
        """Send an answer."""
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8087), Library).serve_forever()
