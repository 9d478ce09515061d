"""The baseline of a server: one route that reads a row and answers a prepared body; prints its address.

`python -m tests.benchmarks.bare_route DATABASE [html]`: the database has one table, `bodies(id TEXT PRIMARY KEY, body
BLOB)`. FastAPI answers JSON at `/bodies/<id>`; with `html`, Starlette answers pages whose ids are their paths.
"""

import socket
import sqlite3
import sys

import uvicorn
from fastapi import FastAPI, Response
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route


def create_app(database: str) -> FastAPI:
    """Given a database, return the application."""
    app = FastAPI(docs_url=None, redoc_url=None)
    connection = sqlite3.connect(database, check_same_thread=False)

    @app.get("/bodies/{id}")
    async def body(id: str) -> Response:
        row = connection.execute("SELECT body FROM bodies WHERE id = ?", (id,)).fetchone()
        return Response(row[0], media_type="application/json")

    return app


def create_page_app(database: str) -> Starlette:
    """Given a database of pages, return the application."""
    connection = sqlite3.connect(database, check_same_thread=False)

    async def page(request: Request) -> HTMLResponse:
        row = connection.execute("SELECT body FROM bodies WHERE id = ?", (request.url.path,)).fetchone()
        return HTMLResponse(row[0])

    return Starlette(routes=[Route("/{path:path}", page)])


def main() -> None:
    """Serve until the process is ended."""
    # The protocol is named because asyncio turns Nagle's delay off only where it sees it: 40 ms a request.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    create = create_page_app if sys.argv[2:] == ["html"] else create_app
    config = uvicorn.Config(create(sys.argv[1]), http="httptools", access_log=False, log_level="warning")
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
