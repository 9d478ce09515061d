"""People of a trial: writers who push, editors and reviewers on the platform; and what each of them wrote when."""

import json
import random
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from tests.fleet.trial.world import PAGE, TrialRepository, TrialSpace, TrialWorld


@dataclass(frozen=True)
class Written:
    """A word that somebody wrote: where, and when it was there. Units: `at` in seconds since 1970."""

    word: str
    repository: str
    space: str
    at: float


@dataclass
class Diary:
    """What people did, in their order; threads share it."""

    written: list[Written] = field(default_factory=list)
    merged: list[tuple[str, int, float]] = field(default_factory=list)
    """Space, number of the change request, and when."""
    refused: int = 0
    """Merges that the platform refused, such as for a conflict."""
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make_word(self, side: str) -> str:
        """Return a new word of a side, `g` or `w`."""
        with self._lock:
            self._count += 1
            return f"kx{self._count:06d}{side}"

    def note(self, word: str, repository: str, space: str) -> None:
        """Note that a word has just arrived."""
        with self._lock:
            self.written.append(Written(word, repository, space, time.time()))


class Browser:
    """The platform as a person uses it: one connection, one token."""

    def __init__(self, url: str, token: str) -> None:
        """Sign in at the address of the API."""
        self._netloc, self._prefix = urlsplit(url).netloc, urlsplit(url).path
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._http = HTTPConnection(self._netloc, timeout=60)

    def close(self) -> None:
        """Sign out."""
        self._http.close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the answer's JSON. Raises: AssertionError when it is refused."""
        sent = None if body is None else json.dumps(body).encode()
        try:
            self._http.request(method, f"{self._prefix}{path}", sent, self._headers)
            answer = self._http.getresponse()
        except (HTTPException, ConnectionError):
            # An idle connection is closed after a while, and nothing of the request was read then.
            self._http.close()
            self._http.request(method, f"{self._prefix}{path}", sent, self._headers)
            answer = self._http.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise AssertionError(f"{method} {path}: {answer.status} {content.decode(errors='replace')[:400]}")
        return json.loads(content) if content else None

    def read_text(self, space: str, request: str = "") -> str:
        """Return the Markdown of the page that everybody edits."""
        at = f"/spaces/{space}/change-requests/{request}" if request else f"/spaces/{space}"
        pages = self.call("GET", f"{at}/content")["pages"]
        page = next(page for page in pages if page.get("path") == PAGE.removesuffix(".md"))
        return str(self.call("GET", f"{at}/content/page/{page['id']}?format=markdown").get("markdown") or "")

    def write_word(self, space: str, word: str) -> bool:
        """Add a line to the page by a change request that is merged at once, and return whether it was merged."""
        made = self.call("POST", f"/spaces/{space}/change-requests", {"subject": "Edit in the browser"})
        at = f"/spaces/{space}/change-requests/{made['id']}"
        pages = self.call("GET", f"{at}/content")["pages"]
        page = next(page for page in pages if page.get("path") == PAGE.removesuffix(".md"))
        text = self.call("GET", f"{at}/content/page/{page['id']}?format=markdown")["markdown"]
        change = {
            "operation": "update_page",
            "page": page["id"],
            "document": {"markdown": f"{text.rstrip()}\n* {word}\n"},
        }
        self.call("POST", f"{at}/content?compat=false", {"changes": [change]})
        if self.call("POST", f"{at}/merge")["result"] == "merge":
            return True
        self.call("PATCH", at, {"status": "archived"})
        return False

    def list_requests(self, space: str, *statuses: str) -> list[dict[str, Any]]:
        """Return the change requests of a space with one of some statuses."""
        found = []
        for status in statuses:
            found += self.call("GET", f"/spaces/{space}/change-requests?status={status}&limit=1000")["items"]
        return sorted(found, key=lambda one: int(one["number"]))


def is_ours(request: dict[str, Any]) -> bool:
    """Whether a change request was opened by syncd."""
    return bool(request["subject"] != "Edit in the browser")


class People:
    """Threads of people who write until they are stopped; a `with` block ends them."""

    def __init__(
        self, world: TrialWorld, url: str, diary: Diary, *, per_second: float, seed: int, may_push: Callable[[], bool]
    ) -> None:
        """Prepare people who do so many deeds a second together. Shape: `may_push` is False without a remote."""
        self._world, self._url, self._diary = world, url, diary
        self._seconds, self._seed, self._may_push = 1 / per_second, seed, may_push
        self._stopping = threading.Event()
        self.failures: list[str] = []
        self._threads = [
            threading.Thread(target=self._act, args=(number, deed, share), daemon=True)
            for number, (deed, share) in enumerate(((self._push, 0.5), (self._edit, 0.3), (self._merge, 0.2)))
        ]

    def __enter__(self) -> "People":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _act(
        self,
        number: int,
        deed: Callable[[Browser, random.Random, TrialRepository, TrialSpace], None],
        share: float,
    ) -> None:
        chance = random.Random(f"{self._seed} {number}")
        with closing(Browser(self._url, self._world.owner)) as browser:
            while not self._stopping.wait(chance.expovariate(share / self._seconds)):
                one = chance.choice(self._world.repositories)
                space = chance.choice(one.spaces)
                try:
                    deed(browser, chance, one, space)
                except (AssertionError, OSError) as error:
                    self.failures.append(str(error))

    def _push(self, browser: Browser, chance: random.Random, one: TrialRepository, space: TrialSpace) -> None:
        if self._may_push():
            word = self._diary.make_word("g")
            one.push_word(space, word)
            self._diary.note(word, one.name, space.id)

    def _edit(self, browser: Browser, chance: random.Random, one: TrialRepository, space: TrialSpace) -> None:
        word = self._diary.make_word("w")
        if browser.write_word(space.id, word):
            self._diary.note(word, one.name, space.id)
        else:
            self._diary.refused += 1

    def _merge(self, browser: Browser, chance: random.Random, one: TrialRepository, space: TrialSpace) -> None:
        """A reviewer looks for a space where something waits, and merges that."""
        for other in chance.sample(one.spaces, len(one.spaces)):
            for request in browser.list_requests(other.id, "open"):
                if is_ours(request):
                    answer = browser.call("POST", f"/spaces/{other.id}/change-requests/{request['id']}/merge")
                    if answer["result"] == "merge":
                        self._diary.merged.append((other.id, request["number"], time.time()))
                    else:
                        self._diary.refused += 1
                    return
