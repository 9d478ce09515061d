"""A static site of a thousand pages, beside mkdocs with Material on the same pages: CPU, weight of a page, and again.

mkdocs is the program that MKDOCS names; else it is installed into an environment of its own, and left out where it
cannot be had.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median as find_median

from tests.benchmarks.measure import Cost, Duel, Line, both, cost_of
from tests.benchmarks.pages import write_pages
from tests.benchmarks.stage import Stage

PAGES_MAX = 1_000
"""Pages that both build; mkdocs takes minutes for more, and hundreds of MB."""
CPU_AIM, AGAIN_AIM = 0.5, 0.35
PAGE_KB_AIM, REQUESTS_AIM = 60, 7
_INSTALL_SECONDS = 900


def measure(stage: Stage) -> Iterator[Line]:
    """Given a stage, measure and return the lines."""
    count, top = min(stage.pages, PAGES_MAX), stage.fresh("static-site")
    source = write_pages(top / "docs", count)
    out = top / "out"
    build = [sys.executable, "-m", "syncd", "site", "build", str(out), "--from", str(source)]
    first, again = (cost_of(partial(_run, build, top)) for _ in range(2))
    facts = f"{count} pages, {first.cpu / count * 1000:.1f} ms of CPU a page"
    yield Line("site build CPU", first.cpu, "s", facts=facts)
    yield Line(
        "site build again CPU", again.cpu / first.cpu, aim=AGAIN_AIM, facts=f"{again.cpu:.1f} s, nothing changed"
    )
    yield from _list_weights(out, count)
    program = _find_mkdocs(top)
    if program is None:
        yield Line("site build / mkdocs", 0, facts="left out: mkdocs-material cannot be installed here")
        return
    (top / "mkdocs.yml").write_text("site_name: Docs\ntheme: {name: material}\nplugins: [search]\n", encoding="utf-8")
    base: Cost = cost_of(partial(_run, [program, "build", "--quiet", "--site-dir", str(top / "mkdocs")], top))
    yield from both("site build / mkdocs", Duel((base,), (first,)), f"{base} against {first}", aim=CPU_AIM)
    yield Line(
        "page / that of mkdocs", _weigh(out) / _weigh(top / "mkdocs"), facts="HTML of the median page", aim=CPU_AIM
    )


def _list_weights(out: Path, count: int) -> Iterator[Line]:
    pages = sorted((path.stat().st_size, path) for path in out.rglob("index.html"))
    weight, page = pages[len(pages) // 2]
    head = page.read_text(encoding="utf-8").partition("</head>")[0]
    assets = [
        page.parent / address
        for address in re.findall(r'<(?:link rel="(?:icon|stylesheet)" href|script src)="([^"]+)"', head)
    ]
    shared = sum(path.stat().st_size for path in assets)
    facts = f"{weight / 1000:.0f} KB of HTML, {shared / 1000:.0f} KB that all pages share, uncompressed; {count} pages"
    yield Line("a page with its assets", (weight + shared) / 1000, "KB", aim=PAGE_KB_AIM, facts=facts)
    yield Line("requests of a page", 1 + len(assets), "requests", aim=REQUESTS_AIM, limit=REQUESTS_AIM)


def _weigh(top: Path) -> float:
    """Bytes of the median page of a site."""
    return find_median(path.stat().st_size for path in top.rglob("index.html"))


def _find_mkdocs(top: Path) -> str | None:
    """The program, installed where that is needed; None where it cannot be had."""
    if named := os.environ.get("MKDOCS"):
        return named
    place = top / "environment"
    try:
        _run([sys.executable, "-m", "venv", str(place)], top)
        _run([str(place / "bin/pip"), "install", "--quiet", "mkdocs-material"], top)
    except subprocess.SubprocessError:
        return None
    return str(place / "bin/mkdocs")


def _run(words: list[str], directory: Path) -> None:
    subprocess.run(words, cwd=directory, check=True, capture_output=True, timeout=_INSTALL_SECONDS)
