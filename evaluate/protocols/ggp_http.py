"""HTTP server of a player of General Game Playing (GGP): each POST request is a message."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from typing import Any

from ludoteca.envs.gdl.parse import MAX_BYTES
from ludoteca.evaluate.protocols.ggp import GGPPlayer
from ludoteca.evaluate.protocols.ggp_messages import MessageError
from ludoteca.evaluate.protocols.line_server import one_line

MAX_REQUEST = MAX_BYTES + (1 << 16)  # bytes: the rules of a game and the rest of a message
MAX_CONNECTIONS = 16  # at a time; further ones are closed
READ_SECONDS = 20.0  # for reading a request


class GGPServer(ThreadingHTTPServer):
    """Server of a player, with a thread for each connection."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], player: GGPPlayer):
        """Open the port.

        Args:
            address: host and port; with port 0 the system chooses a free port.
            player: the player.

        Raises:
            OSError: if the port cannot be opened.
        """
        self.player = player
        self._free_connections = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(address, GGPHandler)

    @property
    def url(self) -> str:
        """The address of the player."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a request in a thread, or close it if there are too many."""
        if self._free_connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_connections.release()

    def handle_error(self, request: socket | Any, client_address: Any) -> None:
        """Ignore broken connections: other errors of a request have become its answer."""
        return


class GGPHandler(BaseHTTPRequestHandler):
    """Handler of one request."""

    server: GGPServer
    server_version, sys_version = "Ludoteca", ""
    timeout = READ_SECONDS

    def do_POST(self) -> None:
        """Answer a message."""
        # Web pages in a browser send their origin, game managers do not.
        if self.headers.get("Origin") is not None:
            self._answer(403, "expected a request of a game manager, got one of a web page")
            return
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit() and len(length) <= 12):
            self._answer(411, "expected a Content-Length, a number of bytes")
            return
        if int(length) > MAX_REQUEST:
            self._answer(413, f"expected at most {MAX_REQUEST:,} bytes, got {int(length):,}")
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):  # the client has closed the connection
            return
        try:
            self._answer(200, self.server.player.respond(body.decode(errors="replace")))
        except MessageError as error:
            self._answer(400, f"error: {error}")

    def do_GET(self) -> None:
        """Refuse a request without a message."""
        self._answer(405, "this is a player of General Game Playing: expected a POST request")

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""
        return

    def _answer(self, status: int, text: str) -> None:
        """Send an HTTP response with a status code and one line of text."""
        data = one_line(text).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/acl")  # as GGP-Base does
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
