"""A writer in a clone, with Git and files alone; each deed is a commit unless it says otherwise."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from posixpath import basename, dirname, join, relpath

from tests.faults.twoway.awkward import choose_name, choose_title, escape_title
from tests.faults.twoway.clone_state import hash_clone
from tests.faults.twoway.links import find_wrong_links, link_sentence, mend_links
from tests.faults.twoway.pages import (
    MARK,
    NOTE,
    PICTURE,
    WORD,
    Entry,
    Page,
    View,
    below,
    edited,
    find_drafts,
    first_page,
    leaves,
    list_arrived,
    new_text,
    parents,
    picture_bytes,
    read_group,
    read_summary,
    repaired,
    split_sections,
    with_paragraph,
    with_path,
    words_shown,
    write_summary,
)
from tests.faults.twoway.schedule import Step
from tests.faults.twoway.world import Space, git, move_below_root, read_root

PLATFORM, ORIGIN = "platform/main", "origin/main"
MAIN = "main"
HEADS = "ref: refs/heads/"
MOVING = ("rename", "rename-awkwardly", "nest", "folder", "swap")
"""What moves pages to other paths."""
MARKERS = ("<<<<<<< ", "||||||| ", ">>>>>>> ")


class Writer:
    """A clone and its person.

    Shape: `told` gets what they did, as commands; `other` is the ref of the side that the clone is in step with:
    "origin/main" for somebody who has Git alone.
    """

    def __init__(self, name: str, path: Path, spaces: tuple[Space, ...], other: str = PLATFORM) -> None:
        self.name, self.path, self.spaces, self.other = name, path, spaces, other
        self.told: list[str] = []
        self.stashes = 0
        self.forgotten: set[str] = set()
        """The words of links to pages that the writer has moved without a thought of them."""
        self.drafts: set[str] = set()
        """The words of pages that the writer has taken out of the table of contents, and of reusable content; their
        files stay."""
        self.space = spaces[0]
        """The space that the present deed is about."""
        self._status: tuple[bytes, str] = (b"", "")
        """What a clone looks like to Git, and what `git status` said of that."""

    # What there is.

    def git(self, *words: str, check: bool = True) -> str:
        """Run Git in the clone and return what it printed."""
        return git(self.path, *words, check=check).stdout

    def view(self, space: Space | None = None) -> View:
        """Return the pages of the work tree, of one space or of all: every Markdown file but SUMMARY.md and drafts."""
        found = {}
        for one in [space] if space else self.spaces:
            folder = self._find_folder(one)
            top = self.path / folder
            entries = read_summary(_text(top / "SUMMARY.md"))
            titles = {entry.path: entry.title for entry in entries if entry.path}
            above = parents(entries)
            for group in filter(None, map(read_group, entries)):
                found[join(folder, group.place)] = replace(group, place=join(folder, group.place))
            for file in sorted(top.rglob("*.md")):
                path = file.relative_to(top).as_posix()
                text = _text(file)
                is_draft = path not in titles and bool(find_drafts(text))
                if path != "SUMMARY.md" and not path.startswith(".git") and not is_draft:
                    place = join(folder, path)
                    shown = words_shown(text, lambda name, top=top: _bytes(top / ".gitbook" / name))  # type: ignore[misc]
                    parent = join(folder, above.get(path) or "")
                    found[place] = Page(place, titles.get(path), text, parent, shown)
        return found

    def view_of(self, ref: str) -> View:
        """Return the pages of all spaces in a commit; none when there is no such ref."""
        listed = self.git("ls-tree", "-r", "-z", "--name-only", ref, check=False).split("\0")
        files = self._read_files(ref, [path for path in listed if path.endswith((".md", ".png", ".gitbook.yaml"))])
        folders = [one.find_folder(files.get(join(one.directory, ".gitbook.yaml"), "")) for one in self.spaces]
        texts = {path: text for path, text in files.items() if path.endswith(".md")}
        titles = {}
        for folder in folders:
            for entry in read_summary(texts.get(join(folder, "SUMMARY.md"), "")):
                if entry.path:
                    titles[join(folder, entry.path)] = entry.title
        found = {}
        for path, text in texts.items():
            if basename(path) != "SUMMARY.md" and not (path not in titles and find_drafts(text)):
                top = next((folder for folder in folders if folder and path.startswith(f"{folder}/")), "")
                shown = words_shown(text, lambda name, top=top: files.get(join(top, ".gitbook", name), "").encode())  # type: ignore[misc]
                found[path] = Page(path, titles.get(path), text, shown=shown)
        return found

    def find_drafts(self) -> set[str]:
        """Return the words of drafts in all Markdown files of the work tree, pages or not."""
        return {draft for file in self.path.rglob("*.md") for draft in find_drafts(_text(file))}

    def pictures_of(self, ref: str, paths: list[str]) -> View:
        """Return pictures of a commit, by their paths, each as if its words were its text."""
        listed = self.git("ls-tree", "-r", "-z", "--name-only", ref, check=False).split("\0")
        wanted = [path for path in listed if path in paths and path.endswith(".png")]
        return {path: Page(path, None, text) for path, text in self._read_files(ref, wanted).items()}

    def words_in_files(self) -> set[str]:
        """Return the words in all pictures of the work tree, shown or not."""
        files = [
            file for one in self.spaces for file in (self.path / self._find_folder(one) / ".gitbook").rglob("*.png")
        ]
        return {word for file in files for word in WORD.findall(_text(file))}

    def _read_files(self, ref: str, paths: list[str]) -> dict[str, str]:
        """Return the text of each path of a commit that is not empty."""
        asked = "".join(f"{ref}:{path}\n" for path in paths).encode()
        words = ["git", "cat-file", "--batch"]
        rest = subprocess.run(words, cwd=self.path, input=asked, capture_output=True, check=True).stdout
        texts = {}
        for path in paths:
            head, _, rest = rest.partition(b"\n")
            size = int(head.rsplit(b" ", 1)[1])
            texts[path], rest = rest[:size].decode(errors="replace"), rest[size + 1 :]
        return texts

    def status(self) -> str:
        """Return what `git status --porcelain` says; Git is asked again only when anything that it looks at differs."""
        if self._status[0] != hash_clone(self.path):
            said = self.git("status", "--porcelain")
            self._status = hash_clone(self.path), said  # Git writes times into the index when it is asked
        return self._status[1]

    def is_clean(self) -> bool:
        """Whether nothing is uncommitted."""
        return not self.status()

    def is_busy(self) -> bool:
        """Whether a rebase or merge is not finished."""
        names = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD")
        return any((self.path / ".git" / name).exists() for name in names)

    def branch(self) -> str:
        """Return the branch that the work tree shows; "" for a commit, as during a rebase."""
        head = (self.path / ".git" / "HEAD").read_text().strip()
        return head.removeprefix(HEADS) if head.startswith(HEADS) else ""

    def other_branches(self) -> list[str]:
        """Return the branches that the work tree does not show, but those that syncd makes."""
        names = self.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split()
        return [name for name in names if name != self.branch() and not name.startswith("syncd/")]

    def owns_tip(self) -> bool:
        """Whether the newest commit is one that the platform does not have, with one parent, by the writer."""
        platform = git(self.path, "merge-base", "--is-ancestor", "HEAD", self.other, check=False).returncode == 0
        parents = self.git("rev-list", "--parents", "-1", "HEAD").split()
        committer = self.git("log", "-1", "--format=%ce").strip()
        return not platform and len(parents) == 2 and committer.startswith("writer@")

    def count_own_commits(self) -> int:
        """Return how many of the newest commits are the writer's, have one parent, and are not in main content."""
        lines = self.git("log", "--first-parent", "--format=%ce %P", f"{self.other}..HEAD").splitlines()
        own = (line.startswith("writer@") and len(line.split()) == 2 for line in lines)
        return sum(1 for _ in takewhile(bool, own))

    # Deeds on pages.

    def write(self, step: Step) -> None:
        """Change pages or the table of contents, without a commit."""
        self.space = self.spaces[step.m % len(self.spaces)]
        before = self.view(self.space) if step.action in MOVING else {}
        deed: Callable[[Step], None] = getattr(self, f"_{step.action.replace('-', '_')}")
        deed(step)
        if before:
            self._mend_links(before, forgets=step.m % 4 == 0)

    def commit(self, message: str) -> None:
        """Commit all there is."""
        if not self.is_clean():
            self.git("add", "--all")
            self.git("commit", "--quiet", "--message", message)
            self.told.append(f"git add --all && git commit -m '{message}'")

    def _find_folder(self, space: Space) -> str:
        return space.find_folder(_text(self.path / space.directory / ".gitbook.yaml"))

    @property
    def _directory(self) -> str:
        return self._find_folder(self.space)

    def _top(self) -> Path:
        return self.path / self._directory

    def _entries(self) -> list[Entry]:
        return read_summary(_text(self._top() / "SUMMARY.md"))

    def _save_summary(self, entries: list[Entry]) -> None:
        self._save("SUMMARY.md", write_summary(entries))

    def _save(self, path: str, text: str) -> None:
        file = self._top() / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        self.told.append(f"write {join(self._directory, path)}")

    def _choose(self, step: Step, *, leaf: bool = False) -> Entry | None:
        """The n-th page that exists, which has a file."""
        entries = self._entries()
        choice = leaves(entries) if leaf else [entry for entry in entries if entry.path]
        choice = [entry for entry in choice if (self._top() / entry.path).is_file()]
        return choice[step.n % len(choice)] if choice else None

    def _edit(self, step: Step) -> None:
        if (entry := self._choose(step)) is None:
            return
        text = _text(self._top() / entry.path)
        self.told.append(f"# {step.action} w{step.id}a in {entry.path}")
        self._save(entry.path, edited(text, step.action, f"w{step.id}a", step.m))

    _replace = _contest = _drop = _describe = _block = _edit

    def _contest_arrived(self, step: Step) -> None:
        """A sentence of a page that came from another space is replaced."""
        for space in self.spaces:
            self.space = space
            entries = [one for one in self._entries() if one.path and (self._top() / one.path).is_file()]
            texts = [_text(self._top() / one.path) for one in entries]
            marks = [found[0] if (found := MARK.search(text)) else "" for text in texts]
            if arrived := list_arrived(marks):
                at = arrived[step.n % len(arrived)]
                self.told.append(f"# {step.action} w{step.id}a in {entries[at].path}")
                self._save(entries[at].path, edited(texts[at], step.action, f"w{step.id}a", step.m))
                return

    def _link(self, step: Step) -> None:
        """A sentence that leads to another page."""
        entry, target = self._choose(step), self._choose(Step(0, "", "", step.m))
        if entry is None or target is None:
            return
        path, page = join(self._directory, target.path), self.view(self.space)
        if not page[path].mark:
            return
        words = link_sentence(f"w{step.id}a", step.m, entry.path, page[path].mark, target.path)
        self.told.append(f"# {words} in {entry.path}")
        self._save(entry.path, with_paragraph(_text(self._top() / entry.path), words, step.m))

    def _mend_links(self, before: View, *, forgets: bool) -> None:
        """Let the links of pages follow those that have moved, as an editor of text does; or forget that."""
        after = self.view(self.space)
        if forgets:
            self.forgotten |= find_wrong_links(after).keys()
            return
        for place, text in mend_links(before, after):
            self._save(relpath(f"/{place}", f"/{self._directory}"), text)

    def _edit_two(self, step: Step) -> None:
        """Edit two pages in one commit, of two spaces where there are two."""
        for number, letter in ((step.n, "a"), (step.n + 1, "b")):
            self.space = self.spaces[(step.m + number) % len(self.spaces)]
            entry = self._choose(Step(step.id, step.actor, "edit", number))
            if entry is not None:
                text = _text(self._top() / entry.path)
                self._save(entry.path, edited(text, "edit", f"w{step.id}{letter}", step.m))

    def _new_page(self, step: Step) -> None:
        entries = self._entries()
        above = self._choose(step) if step.m % 3 == 0 else None
        is_below = above is not None and above.path != first_page(entries)
        is_awkward = step.action == "new-awkward-page"
        name = choose_name(step) if is_awkward else f"n{step.id}.md"
        path = below(above.path, name) if above is not None and is_below else name
        if (self._top() / path).exists():
            return
        title = escape_title(choose_title(step)) if is_awkward else f"Title t{step.id}"
        self._save(path, new_text(title, f"m{step.id}", [f"w{step.id}a", f"w{step.id}b"]))
        self._insert(entries, Entry(title, path), above.path if above is not None and is_below else "")

    _new_awkward_page = _new_page

    def _insert(self, entries: list[Entry], new: Entry, above: str) -> None:
        at = next((at for at, entry in enumerate(entries) if above and entry.path == above), None)
        if at is None:
            self._save_summary([*entries, new])
        else:
            depth = entries[at].depth + 1
            self._save_summary([*entries[: at + 1], Entry(new.title, new.path, depth), *entries[at + 1 :]])

    def _delete_page(self, step: Step) -> None:
        entry = self._choose(step, leaf=True)
        if entry is None or len(leaves(self._entries())) < 2:
            return
        self._remove(entry.path)
        self._save_summary([one for one in self._entries() if one.path != entry.path])

    def _unlist(self, step: Step) -> None:
        """A page is taken out of the table of contents, and its file is kept as a draft."""
        entry = self._choose(step, leaf=True)
        if entry is None or len(leaves(self._entries())) < 2:
            return
        text, draft = _text(self._top() / entry.path), f"d{step.id}"
        end = "\r\n" if "\r\n" in text else "\n"
        self._save(entry.path, f"{text.rstrip()}{end}{end}Draft {draft}.{end}")
        self._save_summary([one for one in self._entries() if one.path != entry.path])
        self.drafts.add(draft)

    def _note(self, step: Step) -> None:
        """A line is added to the reusable content of the space, which only a person can write on the platform."""
        parts, draft = _text(self._top() / NOTE).rstrip().split("\n\n"), f"d{step.id}"
        parts.insert(1 + step.n % len(parts), f"Draft {draft}.")
        self._save(NOTE, "\n\n".join(parts) + "\n")
        self.drafts.add(draft)

    def _remove(self, path: str) -> None:
        (self._top() / path).unlink()
        self.told.append(f"rm {join(self._directory, path)}")

    def _move(self, old: str, new: str) -> None:
        target = self._top() / new
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        (self._top() / old).rename(target)
        if ".gitbook/" in (text := _text(target)):
            lead = relpath("/.gitbook", f"/{dirname(new)}")
            target.write_bytes(re.sub(r"\]\([./]*\.gitbook/", f"]({lead}/", text).encode())
        self.told.append(f"mv {join(self._directory, old)} {join(self._directory, new)}")

    def _rename(self, step: Step) -> None:
        entry = self._choose(step, leaf=True)
        if entry is None:
            return
        name = choose_name(step) if step.action == "rename-awkwardly" else f"r{step.id}.md"
        new = join(dirname(entry.path), name)
        if (self._top() / new).exists():
            return
        self._move(entry.path, new)
        if step.m % 3 == 0:
            text = edited(_text(self._top() / new), "edit", f"w{step.id}a", step.m)
            self._save(new, text)
        self._save_summary(with_path(self._entries(), entry.path, new))

    _rename_awkwardly = _rename

    def _retitle(self, step: Step) -> None:
        entry = self._choose(step)
        title = escape_title(choose_title(step)) if step.action == "retitle-awkwardly" else f"Title t{step.id}"
        if entry is not None:
            self._save_summary([replace(one, title=title) if one == entry else one for one in self._entries()])

    _retitle_awkwardly = _retitle

    def _reorder(self, step: Step) -> None:
        entry = self._choose(step, leaf=True)
        if entry is not None:
            rest = [one for one in self._entries() if one.path != entry.path]
            self._save_summary([*rest, Entry(entry.title, entry.path)])

    def _shuffle(self, step: Step) -> None:
        """All pages that stand at the top, but the first, get another order, each with those below it."""
        blocks: list[list[Entry]] = []
        for entry in self._entries():
            if not entry.path:
                return
            blocks += [] if entry.depth and blocks else [[]]
            blocks[-1].append(entry)
        at = step.n % max(len(blocks) - 1, 1)
        turned = [*blocks[:1], *reversed([*blocks[1:][at:], *blocks[1:][:at]])]
        self._save_summary([entry for block in turned for entry in block])

    def _nest(self, step: Step) -> None:
        """Move a page below another one, in both the folders and the table of contents."""
        entry = self._choose(step, leaf=True)
        entries = self._entries()
        others = [one for one in entries if one.path and entry and one.path not in (entry.path, first_page(entries))]
        if entry is None or not others:
            return
        above = others[step.m % len(others)]
        new = below(above.path, basename(entry.path))
        if new == entry.path or (self._top() / new).exists():
            return
        self._move(entry.path, new)
        self._insert([one for one in entries if one.path != entry.path], Entry(entry.title, new), above.path)

    def _folder(self, step: Step) -> None:
        """A page becomes a folder with README.md."""
        entry = self._choose(step)
        if entry is None or entry.path.endswith("README.md"):
            return
        new = f"{entry.path.removesuffix('.md')}/README.md"
        self._move(entry.path, new)
        self._save_summary(with_path(self._entries(), entry.path, new))

    def _swap(self, step: Step) -> None:
        """Two pages exchange their file names; each keeps its title."""
        one, two = self._choose(step, leaf=True), self._choose(Step(0, "", "", step.n + 1), leaf=True)
        if one is None or two is None or one.path == two.path:
            return
        self._move(one.path, "swapping")
        self._move(two.path, one.path)
        self._move("swapping", two.path)
        entries = with_path(with_path(with_path(self._entries(), one.path, "."), two.path, one.path), ".", two.path)
        self._save_summary(entries)

    def _transfer(self, step: Step) -> None:
        """A page without pictures moves to the next space of the repository."""
        entry = self._choose(step, leaf=True)
        if entry is None or len(self.spaces) == 1 or PICTURE.search(_text(self._top() / entry.path)):
            return
        source, text = self._top() / entry.path, _text(self._top() / entry.path)
        self._save_summary([one for one in self._entries() if one.path != entry.path])
        self.space = self.spaces[(self.spaces.index(self.space) + 1) % len(self.spaces)]
        source.unlink()
        self._save(f"r{step.id}.md", text)
        self._save_summary([*self._entries(), Entry(entry.title, f"r{step.id}.md")])
        self.told.append(f"# {source.relative_to(self.path)} is {self._directory}/r{step.id}.md now")

    def _reroot(self, step: Step) -> None:
        """All pages move below another root."""
        former = read_root(_text(self.path / self.space.directory / ".gitbook.yaml"))
        root = "" if former else ("content", "text")[step.n % 2]
        move_below_root(self.path / self.space.directory, former, root)
        self.told.append(f"# the root of {self.space.directory or 'the space'} is ./{root} now")

    def _into_group(self, step: Step) -> None:
        """A page moves to the end of a group, or out of all of them; its file stays."""
        entry = self._choose(step, leaf=True)
        sections = split_sections([one for one in self._entries() if entry is None or one.path != entry.path])
        if entry is not None and len(sections) > 1:
            sections[step.m % len(sections)].append(Entry(entry.title, entry.path))
            self._save_summary([one for section in sections for one in section])

    def _crlf(self, step: Step) -> None:
        """A page gets the line ends of another system."""
        if (entry := self._choose(step)) is not None:
            text = _text(self._top() / entry.path).replace("\r\n", "\n").replace("\n", "\r\n")
            self._save(entry.path, text)

    def _asset(self, step: Step) -> None:
        """A picture, shown on a page."""
        if (entry := self._choose(step)) is None:
            return
        picture = f".gitbook/assets/a{step.id}.png"
        file = self._top() / picture
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(picture_bytes(f"w{step.id}p"))
        address = relpath(f"/{picture}", f"/{dirname(entry.path)}")
        text = _text(self._top() / entry.path)
        end = "\r\n" if "\r\n" in text else "\n"
        self._save(entry.path, f"{text}{end}Shown with w{step.id}a: ![picture]({address}){end}")

    def _choose_picture(self, step: Step) -> Path | None:
        """The n-th picture that there is."""
        found = sorted((self._top() / ".gitbook").rglob("*.png"))
        return found[step.n % len(found)] if found else None

    def _asset_replace(self, step: Step) -> None:
        """A picture gets other bytes, where it is."""
        if (file := self._choose_picture(step)) is not None:
            file.write_bytes(picture_bytes(f"w{step.id}p"))
            self.told.append(f"# other bytes, w{step.id}p, in {file.relative_to(self.path)}")

    def _asset_rename(self, step: Step) -> None:
        """A picture gets another name, and every page that shows it follows."""
        if (file := self._choose_picture(step)) is not None:
            file.rename(file.with_name(f"r{step.id}.png"))
            self.told.append(f"mv {file.relative_to(self.path)} r{step.id}.png")
            self._change_lines(file, lambda line: line.replace(file.name, f"r{step.id}.png"))

    def _asset_delete(self, step: Step) -> None:
        """A picture goes, and every line that shows it."""
        if (file := self._choose_picture(step)) is not None:
            file.unlink()
            self.told.append(f"rm {file.relative_to(self.path)}")
            self._change_lines(file, lambda line: "")

    def _change_lines(self, file: Path, change: Callable[[str], str]) -> None:
        """Change the lines that show a picture."""
        name = file.relative_to(self._top() / ".gitbook").as_posix()
        for page in sorted(self._top().rglob("*.md")):
            before = _text(page).splitlines(keepends=True)
            after = [change(line) if name in PICTURE.findall(line) else line for line in before]
            if after != before:
                self._save(page.relative_to(self._top()).as_posix(), "".join(after))

    # Conflicts of Git itself.

    def unmerged(self) -> dict[str, str]:
        """Return the paths in conflict, with what Git calls the conflict (such as "UU")."""
        lines = self.git("status", "--porcelain", "-z").split("\0")
        return {line[3:]: line[:2] for line in lines if line[:2] in ("UU", "AA", "DU", "UD", "AU", "UA", "DD")}

    def keep_both(self) -> tuple[list[str], list[str]] | None:
        """Settle a merge that Git stopped: keep the lines of both sides.

        Returns the paths, and the lines of the table of contents that were given up; None when it is none that a
        person settles so.
        """
        paths = self.unmerged()
        if set(paths.values()) - {"UU", "UD", "DU"} or any(PurePosixPath(p).suffix != ".md" for p in paths):
            return None
        given_up: list[str] = []
        for path, kind in paths.items():
            if kind == "UU" and basename(path) != "SUMMARY.md":
                lines = _text(self.path / path).split("\n")
                kept = [line for line in lines if line.rstrip("\r") != "=======" and not line.startswith(MARKERS)]
                (self.path / path).write_bytes("\n".join(kept).encode())
        for path in (path for path, kind in paths.items() if kind != "UU"):
            self._drop_double(path)
        for space in self.spaces:
            given_up += self.repair_summary(space)
        self.git("add", "--all")
        self.told.append(f"# keep both sides of {', '.join(paths)}; git add --all")
        return list(paths), given_up

    def _drop_double(self, path: str) -> None:
        """Remove a file that one side deleted when another file has all of it: Git did not see that it was moved."""
        view = self.view()
        page = view.get(path)
        if page and any(
            one.place != path and one.mark == page.mark and one.words >= page.words for one in view.values()
        ):
            (self.path / path).unlink()

    def repair_summary(self, space: Space) -> list[str]:
        """List every page once that has a file, as a person does after a merge; return the lines that went."""
        self.space = space
        before = [one for one in self._entries() if one.path or not one.title.startswith(("=======", *MARKERS))]
        top = self._top()
        files = [file.relative_to(top).as_posix() for file in sorted(top.rglob("*.md"))]
        pages = [path for path in files if path != "SUMMARY.md" and not path.startswith(".git")]
        after = repaired(before, pages)
        self._save_summary(after)
        return [one.title for one in before if (one.path or read_group(one)) and after.count(one) < before.count(one)]


def _text(file: Path) -> str:
    return _bytes(file).decode(errors="replace")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return b""
