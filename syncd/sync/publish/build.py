"""Build a static site: the pages that changed, on as many cores as are allowed, and what all pages share."""

import hashlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from syncd import __version__
from syncd.errors import ConfigInvalid
from syncd.sync.publish.assets import Place, StaticContent, compute_digest, make_static
from syncd.sync.publish.content import FILES, READ_ERRORS, SiteContent
from syncd.sync.publish.dates import PageTimes, find_page_times
from syncd.sync.publish.output import (
    BuildManifest,
    BuildSummary,
    SiteOutput,
    open_output,
    read_manifest,
    write_manifest,
)
from syncd.sync.publish.places import SitePlaces, can_be_directory, find_home_markdown, select_placed
from syncd.sync.publish.shared_files import (
    build_diagram_files,
    build_lists,
    build_not_found,
    build_redirects,
    build_scopes,
    build_style_files,
    list_chapters,
    list_redirections,
)
from syncd.sync.publish.static_pages import ListedText, PageBuilder
from syncd.sync.publish.visible import check_visibility, may_be_indexed, select_visible
from syncd.web.pages.search_index import SearchablePage
from syncd.web.site import SitePage

PARALLEL_FROM = 200
"""Pages from which on several processes are faster than one."""
_CHUNK = 20


@dataclass(frozen=True)
class BuildOptions:
    """What a build is told.

    Shape: `base_url` is the address that the site will have, "" where nobody knows; `jobs` are the processes that
    render pages; a site that is not indexed asks search engines to stay away. With `is_public`, a site that is for
    visitors who sign in is built for everybody.
    """

    base_url: str = ""
    jobs: int = 1
    is_indexed: bool = True
    is_public: bool = False


def check_base_url(address: str) -> str:
    """Return the address of a site without a slash at its end. Raises: ConfigInvalid for what is none."""
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        is_plain = is_plain and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        is_plain = False
    if not is_plain or not address.isprintable() or " " in address:
        raise ConfigInvalid(f"{address[:200]!r} is no address of a site", hint="such as https://docs.example.com/guide")
    return address.rstrip("/")


def ignore_pulse() -> None:
    """Do nothing between two pages."""


def build_site(
    site: SiteContent, top: Path, options: BuildOptions, pulse: Callable[[], None] = ignore_pulse
) -> BuildSummary:
    """Build a site into a directory: what is there already as it should be is not written again.

    Shape: `pulse` is called between two pages, and may end the build by an exception; the next one goes on.
    Raises: AnotherRuns, ConfigInvalid, PathRefused; OSError when nothing can be written.
    """
    if not site.spaces:
        raise ConfigInvalid(f"there are no pages in {site.top}", hint="name a directory with Markdown files")
    if not options.is_public:
        check_visibility(site)
    visible = select_visible(site)
    options = replace(options, is_indexed=options.is_indexed and may_be_indexed(site))
    placed, misplaced = select_placed(visible.site)
    build = _Build(make_static(placed), options, pulse)
    build.summary.left_out |= visible.left_out | misplaced
    build.summary.conditional |= visible.conditional
    with open_output(top):
        return build.run(top)


class _Build:
    """One build of one site."""

    def __init__(self, site: StaticContent, options: BuildOptions, pulse: Callable[[], None]) -> None:
        base = check_base_url(options.base_url)
        self.site, self.options, self.summary, self.pulse = site, options, BuildSummary(), pulse
        names, self.looks = build_style_files(site)
        drawing, self.drawing = build_diagram_files()
        self.names = names | drawing
        for name in site.spaces:
            site.read_contents(name)
        self.linked: set[Place] = set(site.notes.take()[1])
        """Files that tables of contents link to."""
        addresses = {
            site.find_page_address(name, file).rstrip("/")
            for name, space in site.spaces.items()
            for file in space.paths
        }
        home_markdown = find_home_markdown(addresses)
        self.redirects = tuple(one for one in list_redirections(site) if can_be_directory(one.source))
        addresses |= {one.source.rstrip("/") for one in self.redirects}
        places = SitePlaces(frozenset(addresses), home_markdown)
        self.builder = PageBuilder(site, places, self.names, base, options.is_indexed)
        self.tasks = [(name, file) for name, space in site.spaces.items() for file in space.paths]

    def run(self, top: Path) -> BuildSummary:
        """Render, write and remove what differs, and record what is there in the end."""
        before = read_manifest(top)
        structure = self._compute_structure()
        output = SiteOutput(top, dict(before.files), before.structure)
        kept = self._find_kept(output, before) if before.structure == structure else {}
        due = [task for task in self.tasks if _make_key(task) not in kept]
        output.claim(path for task in due for path in self.builder.list_paths(*task))
        pages: dict[str, Any] = dict(kept)
        texts: dict[Place, ListedText] = {}
        for row in self._render(due, output):
            pages[_make_key(row.place)] = row.record
            texts[row.place] = row.text
            self.summary.written += row.written
            self.summary.unchanged += len(row.record["files"]) - row.written
        made = {path: digest for page in pages.values() for path, digest in page["files"].items()}
        self.summary.unchanged += sum(len(page["files"]) for page in kept.values())
        times, dates = self._find_times(before)
        entries = self._list_entries(pages, dates)
        linked = self.linked | {(one[0], one[1]) for page in pages.values() for one in page["linked"]}
        self._read_other_texts(entries, texts)
        shared = list(self._build_shared(entries, made, texts))
        if any(page["has_diagrams"] for page in pages.values()):
            shared += self.drawing.items()
        names = {path for path, _ in shared} | {self._name_linked(place) for place in linked}
        output.claim(path for path in sorted(names) if path not in output.own)
        for path, data in chain(shared, self._read_linked(linked)):
            made[path] = compute_digest(data)
            is_written = output.write(path, data)
            self.summary.written += is_written
            self.summary.unchanged += not is_written
        for path in sorted(set(output.own) - set(made)):
            self.summary.removed += output.remove(path)
        self.summary.pages, self.summary.rendered = len(pages), len(due)
        write_manifest(top, BuildManifest(made, pages, structure, times))
        return self.summary

    def _find_kept(self, output: SiteOutput, before: BuildManifest) -> dict[str, Any]:
        """The pages that are made of what they were made of, and whose files are all there."""
        found = {}
        for task in self.tasks:
            page = before.pages.get(_make_key(task))
            if (
                isinstance(page, dict)
                and page["made_of"] == self._compute_inputs(page["read"], page["linked"])
                and all(output.has_file(path, digest) for path, digest in page["files"].items())
            ):
                found[_make_key(task)] = page
        return found

    def _compute_inputs(self, read: Iterable[Sequence[str]], linked: Iterable[Sequence[str]]) -> str:
        places = [(one[0], one[1]) for one in (*read, *linked)]
        known = [name in self.site.spaces and self.site.find_digest(name, path) for name, path in places]
        return compute_digest(repr((places, known)).encode(errors="surrogatepass"))

    def _compute_structure(self) -> str:
        """A digest of all that every page depends on: program, options, looks, files by name, tables of contents."""
        site, digest = self.site, hashlib.blake2b(digest_size=20)
        facts: list[object] = [__version__, self.builder.base, self.options.is_indexed, sorted(self.names.items())]
        facts += [
            sorted(self.builder.places.directories),
            self.builder.places.home_markdown,
            site.title,
            _compute_templates(),
        ]
        for name, space in site.spaces.items():
            frame = replace(self.builder.make_frame(name, ""), relate=str)
            settings = [path for path in space.files.items if path.startswith(".gitbook") and _is_setting(path)]
            contents = site.read_contents(name)
            facts += [name, repr(frame), sorted(space.files.items), contents.entries]
            facts += [site.find_signs(name, file) for file in contents.numbers_by_path]
            facts += [(file, sorted(members)) for file, members in sorted(space.closed.items())]
            facts += [(path, site.find_digest(name, path)) for path in sorted(settings)]
        digest.update(repr(facts).encode(errors="surrogatepass"))
        return digest.hexdigest()

    def _render(self, due: Sequence[Place], output: SiteOutput) -> "Iterator[_RenderedRow]":
        """Render pages, in processes of their own where that is faster."""
        global _job
        _job = _RenderJob(self, output)
        jobs = min(self.options.jobs, len(due) // PARALLEL_FROM + 1)
        if jobs < 2 or "fork" not in multiprocessing.get_all_start_methods():
            rows = [_render_task(task) for task in due]
        else:
            with multiprocessing.get_context("fork").Pool(jobs, _prepare_process) as pool:
                rows = list(pool.imap(_render_task, due, _CHUNK))
        for task, row in zip(due, rows, strict=True):
            if isinstance(row, str):
                self.summary.left_out[self.site.spaces[task[0]].locate(task[1])] = row
            else:
                yield row

    def render_task(self, task: Place, output: SiteOutput) -> "_RenderedRow | str":
        """Render and write one page, and return what there is to record, or why it could not be read."""
        self.pulse()
        try:
            page = self.builder.build_page(*task)
        except READ_ERRORS as error:
            return f"it cannot be read: {error}"
        written = sum(output.write(path, data) for path, data in page.files.items())
        read, linked = ([list(one) for one in places] for places in (page.read, page.linked))
        return _RenderedRow(
            task,
            written,
            page.text,
            {
                "files": {path: compute_digest(data) for path, data in page.files.items()},
                "read": read,
                "linked": linked,
                "made_of": self._compute_inputs(read, linked),
                "has_diagrams": page.has_diagrams,
                "title": page.title,
                "description": page.description,
            },
        )

    def _find_times(self, before: BuildManifest) -> tuple[PageTimes, dict[Place, str]]:
        """When pages changed, as far as the site says so anywhere."""
        if not self.builder.has_sitemap:
            return PageTimes(), {}
        return find_page_times(self.site, self.tasks, before.times)

    def _list_entries(self, pages: Mapping[str, Any], dates: Mapping[Place, str]) -> dict[Place, SitePage]:
        """The pages that lists of the site name: none that navigation hides."""
        found = {}
        for task in self.tasks:
            if (page := pages.get(_make_key(task))) is not None and self.builder.is_listed(*task):
                entry = self.builder.make_entry(*task, page["title"], page["description"])
                found[task] = replace(entry, changed=dates.get(task, ""))
        return found

    def _read_other_texts(self, entries: Mapping[Place, SitePage], texts: dict[Place, ListedText]) -> None:
        """Add the texts of pages that were not rendered."""
        for task in self.tasks:
            if task in texts:
                continue
            self.pulse()
            try:
                texts[task] = self.builder.read_listed_text(entries.get(task), *task)
            except READ_ERRORS:
                texts[task] = ListedText(searched=SearchablePage())

    def _build_shared(
        self, entries: Mapping[Place, SitePage], made: Mapping[str, str], listed: Mapping[Place, ListedText]
    ) -> Iterator[tuple[str, bytes]]:
        builder = self.builder
        yield from self.looks.items()
        chapters = list_chapters(builder, entries)
        top = f"{urlsplit(builder.base).path}/" if builder.base else "/"
        texts = [*build_scopes(builder, listed), *build_lists(builder, chapters, entries)]
        texts += [("404.html", build_not_found(builder, top)), (".nojekyll", "")]
        texts += [(path, text) for path, text in build_redirects(builder, self.redirects) if path not in made]
        yield from ((path, text.encode(errors="replace")) for path, text in texts)
        yield "llms-full.txt", b"".join(listed[task].full for task in self.tasks if task in entries)

    def _name_linked(self, place: Place) -> str:
        return f"{FILES.strip('/')}/files/{self.site.make_file_name(*place)}"

    def _read_linked(self, linked: Iterable[Place]) -> Iterator[tuple[str, bytes]]:
        """The files that pages link to, each content once."""
        seen = set()
        for name, path in sorted(linked):
            file = self._name_linked((name, path))
            if file in seen:
                continue
            seen.add(file)
            try:
                yield file, self.site.spaces[name].files.items[path].read()
            except READ_ERRORS as error:
                self.summary.left_out[self.site.spaces[name].locate(path)] = f"it cannot be read: {error}"


@dataclass(frozen=True)
class _RenderedRow:
    """What there is to record of a page, and how many of its files were written."""

    place: Place
    written: int
    text: ListedText
    record: dict[str, Any]


@dataclass(frozen=True)
class _RenderJob:
    """What the processes of one build share: they are forked, so that nothing of it is copied."""

    build: _Build
    output: SiteOutput


_job: _RenderJob | None = None


def _prepare_process() -> None:
    """Leave it to the process that builds to say that it was stopped."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _render_task(task: Place) -> _RenderedRow | str:
    assert _job is not None
    return _job.build.render_task(task, _job.output)


def _make_key(task: Place) -> str:
    return f"{task[0]}:{task[1]}"


def _is_setting(path: str) -> bool:
    return path.endswith((".yaml", ".yml", ".json"))


@cache
def _compute_templates() -> str:
    """A digest of the templates, which may change while the version of syncd does not."""
    found = sorted(Path(str(files("syncd.web").joinpath("templates"))).rglob("*.html"))
    return compute_digest(b"".join(path.read_bytes() for path in found))
