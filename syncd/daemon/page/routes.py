"""Which address of the status page shows what: requests in, responses out."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from syncd.daemon.page.reader import OPERATIONS_MAX, CachedValue, StatusReader, StatusVersions
from syncd.daemon.page.sessions import Sessions
from syncd.errors import StalePlan, SyncdError
from syncd.net.page_values import SAFE_METHODS, ChangeSource, EventStream, PageRequest, PageResponse, is_same_token
from syncd.web.status.pages import (
    render_conflict,
    render_message,
    render_operations,
    render_overview,
    render_plan,
    render_repository,
    render_space,
)
from syncd.web.status.values import Frame, Overview, RepositoryRow

COOKIE = "syncd_session"
_STATIC: Mapping[str, str] = {
    "/static/status.css": "text/css; charset=utf-8",
    "/static/status.js": "text/javascript; charset=utf-8",
}
COMMENT_CHARACTERS_MAX = 200


class SessionPages(ABC):
    """Answers the requests for pages that take a session; safe in any thread. What they show is a subclass's."""

    link_command = "syncd web"
    """The command that makes a link to a new session."""

    def __init__(self, sessions: Sessions, versions: ChangeSource) -> None:
        """Prepare to answer; pages are shown anew when their version is another."""
        self._sessions, self._versions = sessions, versions

    def answer(self, request: PageRequest) -> PageResponse | EventStream:
        """Return the answer to a request; without a session, that is how to get one."""
        if request.path in _STATIC:
            return PageResponse(_read_static(request.path), content_type=_STATIC[request.path])
        if request.path == "/sign-in":
            return self._sign_in(request)
        token = self._sessions.find_form_token(request.read_cookie(COOKIE))
        if not token:
            return render_signed_out(self.link_command)
        if request.method not in SAFE_METHODS:
            return self._handle_form(request, token)
        if request.path == "/events":
            return EventStream(self._versions, request.query.get("seen", "")[:64])
        try:
            return self.show_page(request, token)
        except SyncdError as error:
            return _show_error(error, token)

    @abstractmethod
    def show_page(self, request: PageRequest, token: str) -> PageResponse:
        """Return the page of a path for the session whose forms send this token. Raises: SyncdError."""

    @abstractmethod
    def approve_plan(self, digest: str, comment: str) -> None:
        """Approve the plan of just this digest. Raises: StalePlan, SyncdError."""

    def _sign_in(self, request: PageRequest) -> PageResponse:
        # HEAD is what a program sends that looks at links: it must not use one up.
        secret = self._sessions.begin_session(request.query.get("link", "")) if request.method == "GET" else ""
        if not secret:
            return render_signed_out(self.link_command, "This link was used already, or is older than a minute.")
        cookie = f"{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict"
        return PageResponse(status=303, headers=(("Location", "/"), ("Set-Cookie", cookie)), cache="no-store")

    def _handle_form(self, request: PageRequest, token: str) -> PageResponse:
        form = request.read_form()
        if not is_same_token(form.get("token", ""), token):
            return build_message("Not done", "The form is of another session.", "load the page again", token, 403)
        if request.path == "/sign-out":
            self._sessions.end_session(request.read_cookie(COOKIE))
            return PageResponse(status=303, headers=(("Location", "/"),), cache="no-store")
        section, digest, verb = [*request.path.strip("/").split("/"), "", "", ""][:3]
        if (section, verb) != ("plan", "approve") or form.get("digest") != digest:
            return build_message("Not found", "There is nothing to do here.", "", token, 404)
        try:
            self.approve_plan(digest, form.get("comment", "")[:COMMENT_CHARACTERS_MAX])
        except StalePlan as error:
            return build_message("Not approved", error.what, error.hint, token, 409)
        except SyncdError as error:
            return _show_error(error, token)
        return PageResponse(status=303, headers=(("Location", f"/plan/{digest}"),), cache="no-store")


class StatusPage(SessionPages):
    """The status page of a service."""

    def __init__(
        self,
        sessions: Sessions,
        reader: StatusReader,
        versions: StatusVersions,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Prepare to answer. Units: `now` in epoch seconds."""
        super().__init__(sessions, versions)
        self._reader, self._now, self._find_version = reader, now, versions.find_version
        self._overview = CachedValue(lambda: reader.read_overview(versions.find_version()))
        self._operations = CachedValue(lambda: (versions.find_version(), reader.read_operations()))

    def approve_plan(self, digest: str, comment: str) -> None:
        """Approve the plan of just this digest, and wake the service. Raises: StalePlan, SyncdError."""
        self._reader.approve_plan(digest, comment)
        self._overview.discard()

    def show_page(self, request: PageRequest, token: str) -> PageResponse:
        """Return the page of a path. Raises: SyncdError."""
        # A page has the version of before it was read: what changes meanwhile is shown once more, and never missed.
        match request.path.strip("/").split("/"):
            case [""]:
                overview = self._overview.read()
                return build_response(
                    render_overview(overview, Frame("Overview", token=token, version=overview.version))
                )
            case ["operations"]:
                version, operations = self._operations.read()
                frame = Frame("Operations", "operations", token, version)
                return build_response(render_operations(operations[:OPERATIONS_MAX], self._now(), frame))
            case ["repository", *words]:
                return self._show_repository("/".join(words), token)
            case ["space", *words, name] if words:
                return self._show_space("/".join(words), name, token)
            case ["conflict"]:
                return self._show_conflict(request.query, token, self._find_version())
            case ["plan", digest]:
                return self._show_plan(digest, token, self._find_version())
            case _:
                return build_not_found(token)

    def _show_repository(self, name: str, token: str) -> PageResponse:
        overview = self._overview.read()
        repository = _find_repository(overview, name)
        if repository is None:
            return build_not_found(token)
        frame = Frame(name, "", token, overview.version, trail=(("Overview", "/"),))
        return build_response(render_repository(overview, repository, frame))

    def _show_space(self, repository_name: str, name: str, token: str) -> PageResponse:
        overview = self._overview.read()
        repository = _find_repository(overview, repository_name)
        spaces = [space for space in repository.spaces if space.name == name] if repository is not None else []
        if repository is None or not spaces:
            return build_not_found(token)
        frame = Frame(name, "", token, overview.version, trail=build_trail(repository_name))
        return build_response(render_space(overview, repository, spaces[0], frame))

    def _show_conflict(self, query: Mapping[str, str], token: str, version: str) -> PageResponse:
        words = [query.get(key, "") for key in ("repository", "path", "branch")]
        conflict = self._reader.read_conflict(*words) if all(words) else None
        if conflict is None:
            what = "No such page is in conflict now: it was settled, or moved."
            return build_message("Not in conflict", what, "", token, 404, "syncd resolve")
        frame = Frame(conflict.path, "", token, version, trail=build_trail(conflict.repository))
        return build_response(render_conflict(conflict, self._now(), frame))

    def _show_plan(self, digest: str, token: str, version: str) -> PageResponse:
        plan = self._reader.read_plan(digest)
        if plan is None:
            what = f"No plan {digest} waits: it was applied, or things have changed since."
            return build_message("No such plan", what, "", token, 404, "syncd site plan")
        frame = Frame(f"Plan {digest}", "", token, version, trail=build_trail(plan.row.repository))
        return build_response(render_plan(plan, self._now(), frame))


def render_signed_out(command: str, why: str = "") -> PageResponse:
    """Return the page of somebody without a session: it says by which command to get one."""
    what = why or "This page needs a session, and there is none: it ended, or syncd was restarted."
    hint = "type this where the service runs, as its user, and open the link within a minute"
    return build_message("Signed out", what, hint, "", 401, command)


def build_trail(repository: str) -> tuple[tuple[str, str], ...]:
    """Return the way back from what is below a repository."""
    return (("Overview", "/"), (repository, quote(f"/repository/{repository}")))


def _find_repository(overview: Overview, name: str) -> RepositoryRow | None:
    return next((repository for repository in overview.repositories if repository.name == name), None)


def _show_error(error: SyncdError, token: str) -> PageResponse:
    return build_message("Not readable", error.what, error.hint, token, 500)


def build_not_found(token: str) -> PageResponse:
    """Return the page for a path that has none."""
    return build_message(
        "Not found", "There is no such page; a repository or a space may have another name now.", "", token, 404
    )


def build_message(title: str, what: str, hint: str, token: str, status: int, command: str = "") -> PageResponse:
    """Return a page that says one sentence, what to do, and the command for that."""
    return build_response(render_message(Frame(title, token=token), what, hint, command), status)


def build_response(text: str, status: int = 200) -> PageResponse:
    """Return a rendered page as an answer."""
    return PageResponse(text.encode(), status, cache="private, no-cache" if status == 200 else "no-store")


@cache
def _read_static(path: str) -> bytes:
    return files("syncd.web").joinpath("static", path.rpartition("/")[2]).read_bytes()
