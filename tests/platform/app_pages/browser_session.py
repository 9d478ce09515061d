"""A person in a browser without a window: cookies, forms and their tokens, over the platform's own HTTP."""

import re
from html import unescape
from typing import Any

import httpx

from syncd.platform.app_pages.sessions import make_link
from tests.contract.world import World

ORIGIN = "http://127.0.0.1"
OWN = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
_TOKEN = re.compile(r'name="token" value="([0-9a-f]+)"')


class Person:
    """Somebody who signed in with a link."""

    def __init__(self, world: World, user: str, *, signs_in: bool = True) -> None:
        self.world, self.user = world, user
        self.client = httpx.Client(transport=world.target.client._transport, base_url=ORIGIN)
        self.token = ""
        if signs_in:
            link, _ = make_link(world.storage, user)
            self.answer = self.client.post("/app/sign-in", data={"link": link}, headers=OWN)
            assert self.answer.status_code == 303, self.answer.text

    def get(self, path: str, **query: str) -> httpx.Response:
        """Load a page, and note the token of its forms."""
        answer = self.client.get(path, params=query or None)
        if found := _TOKEN.search(answer.text):
            self.token = found[1]
        return answer

    def post(self, path: str, *, headers: Any = None, **fields: Any) -> httpx.Response:
        """Send a form, with the token of the last page unless another one is among the fields."""
        if not self.token:
            self.get("/app")
            self.get(self.client.get("/app").headers.get("location", "/app"))
        return self.client.post(path, data={"token": self.token, **fields}, headers=OWN if headers is None else headers)


def read_words(answer: httpx.Response) -> str:
    """Return the text of a page as a person reads it."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())
