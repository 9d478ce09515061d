"""A server on the loopback that answers each HTTP request by a function of the test."""

import http.client
import http.server
import threading
from collections.abc import Callable

import httpx

AnswerRequest = Callable[[http.server.BaseHTTPRequestHandler], object]


class AnsweringServer:
    """Answers until it is closed; a client that goes away in the middle is no fault of the test."""

    def __init__(self, answer: AnswerRequest) -> None:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(answer))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def send_answer(request: http.server.BaseHTTPRequestHandler, status: int, kind: str, body: bytes) -> None:
    """Answer a request with a body of a content type."""
    request.send_response(status)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def forward(request: http.server.BaseHTTPRequestHandler, url: str, content: bytes) -> None:
    """Answer a request, whose body was read, as the server of the API at another address does."""
    sent = {"Authorization": request.headers["Authorization"], "Content-Type": "application/json"}
    there = httpx.request(request.command, url + request.path, content=content, headers=sent)
    send_answer(request, there.status_code, "application/json", there.content)


def _make_handler(answer_request: AnswerRequest) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except (ConnectionError, http.client.HTTPException):  # syncd was killed
                self.close_connection = True

        def answer(self) -> None:
            answer_request(self)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
