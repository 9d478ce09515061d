"""What people do on the platform: editors of main content, and reviewers of change requests."""

import base64

from syncd.model.change_request import ChangeRequest
from syncd.model.content_write import DeletePage, InsertFiles, InsertPage, NewFile, UpdatePage
from tests.sync.stage import Stage, mark_of, written


class Editors(Stage):
    """Deeds of editors and reviewers."""

    def editor_edits(self) -> None:
        """An editor changes main content by a change request of their own."""
        self._edit_there(None)

    def reviewer_edits(self) -> None:
        """A reviewer changes the content of a change request that stands for a branch."""
        with self.world.client() as client:
            requests = self.requests_of(client)
        if requests:
            self._edit_there(self.chance.choice(requests))
        else:
            self.editor_edits()

    def _edit_there(self, request: ChangeRequest | None) -> None:
        with self.world.client() as client, self._editing(client, request) as write:
            pages = self.content(client, request)
            mark = self.chance.choice(sorted(pages))
            page, text = pages[mark]
            self.log.append(
                f"{'editor' if request is None else f'reviewer of #{request.number}'}: edit {page.path} {mark}"
            )
            write(UpdatePage.model_validate({"page": page.id, "document": {"markdown": self._edited(text)}}))

    def editor_adds_page(self) -> None:
        """An editor adds a page."""
        with self.world.client() as client, self._editing(client) as write:
            pages = sorted(self.content(client).items())
            above = self.chance.choice([None, *(page.id for _, (page, _) in pages)])
            number = self.ledger.number()
            text = written(self.ledger, f"Theirs {number}")
            self.log.append(f"editor: add theirs-{number} {mark_of(text)}")
            into = {"into": above} if above is not None else {}
            write(InsertPage.model_validate({"document": {"markdown": text}, "slug": f"theirs-{number}", **into}))

    def editor_deletes_page(self) -> None:
        """An editor deletes a page that has none below it."""
        with self.world.client() as client, self._editing(client) as write:
            pages = self.content(client)
            home = client.content.get(self.world.space).pages[0].id
            leaves = [mark for mark, (page, _) in sorted(pages.items()) if not page.pages and page.id != home]
            if len(leaves) < 4:
                return
            mark = self.chance.choice(leaves)
            page, text = pages[mark]
            self.log.append(f"editor: delete {page.path} {mark}")
            self.ledger.delete_page(mark, text, self._others(mark, but=None))
            write(DeletePage(page=page.id))

    def editor_moves_page(self) -> None:
        """An editor moves a page without pages below it to another parent or place, or gives it another slug."""
        with self.world.client() as client, self._editing(client) as write:
            pages = self.content(client)
            home = client.content.get(self.world.space).pages[0].id
            leaves = [page for _, (page, _) in sorted(pages.items()) if not page.pages and page.id != home]
            page = self.chance.choice(leaves)
            others = [other.id for _, (other, _) in sorted(pages.items()) if other.id not in (page.id, home)]
            self.log.append(f"editor: move {page.path}")
            into = self.chance.choice([None, *others])
            slug = {"slug": f"slug-{self.ledger.number()}"}
            write(UpdatePage.model_validate({"page": page.id, "into": into} | slug))

    def editor_adds_file(self) -> None:
        """An editor uploads an image and shows it on a page."""
        with self.world.client() as client, self._editing(client) as write:
            pages = self.content(client)
            mark = self.chance.choice(sorted(pages))
            page, text = pages[mark]
            name = f"theirs-{self.ledger.number()}.png"
            data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + name.encode()).decode()
            self.log.append(f"editor: add image {name}")
            self.ledger.touch(mark)
            file = NewFile(name=name, base64=data, content_type="image/png", ref="picture")
            shown = f"{text}\nShown with {self.ledger.word()}: ![picture](./picture)\n"
            write(
                InsertFiles(files=(file,)),
                UpdatePage.model_validate({"page": page.id, "document": {"markdown": shown}}),
            )
