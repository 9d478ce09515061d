"""What tests of conflicts look at: pages that are held, and what a change request says; and who acts in between."""

from typing import Any

from syncd.model.content_write import ContentWrite, Markdown, UpdatePage
from syncd.sync.outcome import Held


def held(results: Any) -> list[str]:
    """The pages in conflict; nothing else may have gone wrong."""
    wrong = [result for result in results if result.outcome.exit_code]
    assert {result.flow for result in wrong} <= {"conflict"}, wrong
    assert all(isinstance(result.outcome, Held) and result.outcome.exit_code == 6 for result in wrong)
    return [result.key for result in wrong]


def proposed(world: Any, number: str, slug: str) -> str:
    with world.client() as client:
        pages = client.change_request_content.get(world.space, number).pages
        found = [page for top in pages for page in (top, *top.pages) if page.slug == slug]
        return client.change_request_content.get_page(world.space, number, found[0].id).markdown or ""


def review(world: Any, number: str, slug: str, text: str) -> None:
    with world.client() as client:
        pages = client.change_request_content.get(world.space, number).pages
        (page,) = [page for top in pages for page in (top, *top.pages) if page.slug == slug]
        write = ContentWrite(changes=(UpdatePage(page=page.id, document=Markdown(markdown=text)),))
        client.change_requests.write_content(world.space, number, write)


class Stand:
    """Stands before a part of the client: what is named here answers in its place."""

    def __init__(self, behind: Any, **instead: Any) -> None:
        self._behind = behind
        self.__dict__.update(instead)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)
