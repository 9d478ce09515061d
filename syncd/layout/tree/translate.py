"""Translate addresses inside pages between the two places where a page can be: in Git, and on the platform."""

import re
from collections.abc import Mapping
from typing import Any

from syncd.layout.page.links import relative, resolve, rewrite
from syncd.layout.tree.placement import Placement

_BY_ID = re.compile(r"/(?:files|pages)/([A-Za-z0-9_-]+)(#.*)?")


class Translation:
    """Knows every page and file by id, by path in Git, and by the platform's own form of the path."""

    def __init__(self, placement: Placement) -> None:
        self._forms = placement.forms
        self._root = placement.root
        self._paths = {**placement.pages, **placement.files, **placement.includes}
        self._by_path = {path: id for id, path in self._paths.items()}
        self._same = all(self._forms[id] == path for id, path in self._paths.items())
        self._by_form = {} if self._same else {form: id for id, form in self._forms.items()}

    def learn(self, id: str, path: str) -> None:
        """Given a page or file that was just written, know it from now on."""
        self._paths[id] = path
        self._by_path[path] = id

    def id_at(self, path: str) -> str | None:
        """Given a path in Git, return the id of what is there."""
        return self._by_path.get(path)

    def address(self, reference: Mapping[str, Any], id: str) -> str | None:
        """Given a reference to a file, page or URL, return its address as seen from the page `id` in Git."""
        target = self._paths.get(str(reference.get("file") or reference.get("page") or ""))
        if target is not None:
            return relative(target, at=self._paths[id])
        url = reference.get("url")
        return url if isinstance(url, str) and url else None

    def incoming(self, body: bytes, id: str) -> bytes:
        """Given a page as the platform has it, return it with addresses that lead to the same things in Git."""
        if self._same and b"/files/" not in body and b"/pages/" not in body:
            return body
        path, form = self._paths[id], self._forms[id]
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return body
        return rewrite(text, lambda address: self._arriving(address, path, form)).encode()

    def outgoing(self, text: str, path: str) -> tuple[str, bool]:
        """Given a page of Git at `path`, return it with addresses that the platform resolves, and whether all did.

        Shape: files become `/files/<id>`; pages stay relative where that means the same on the platform, else become
        `/pages/<id>`; lines end with LF, and no byte order mark stands before them. Source: content-write, section 1,
        "Links in markdown"; gitsync §1.1.
        """
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        form = self._forms.get(self._by_path.get(path, ""))
        complete = True

        def leaving(address: str) -> str | None:
            nonlocal complete
            found = resolve(address, at=path, root=self._root)
            if found is None:
                return None
            target, anchor = found
            id = self._by_path.get(target)
            if id is None and address.startswith("/"):
                return None  # of the site, not of this space
            if id is None:
                complete = complete and not target.endswith(".md")
                return None
            if not target.endswith(".md"):
                return f"/files/{id}{anchor}"
            if form is not None and resolve(address, at=form) == (self._forms.get(id), anchor):
                return None
            return f"/pages/{id}{anchor}"

        return rewrite(text, leaving), complete

    def _arriving(self, address: str, path: str, form: str) -> str | None:
        by_id = _BY_ID.fullmatch(address)
        if by_id is not None:
            target = self._paths.get(by_id[1])
            return relative(target, at=path) + (by_id[2] or "") if target is not None else None
        if self._same:
            return None
        found = resolve(address, at=form)
        target = self._paths.get(self._by_form.get(found[0], "")) if found is not None else None
        if found is None or target is None or resolve(address, at=path) == (target, found[1]):
            return None
        return relative(target, at=path) + found[1]
