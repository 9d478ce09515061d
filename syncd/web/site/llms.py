"""What language models read of a site: `llms.txt`, the list of its pages, and `llms-full.txt`, all their words."""

from collections.abc import Iterable

from syncd.web.site.spelling import spell_address, spell_markdown
from syncd.web.site.values import SiteChapter, SitePage

_UNTITLED = "Untitled"


def render_llms(title: str, description: str, chapters: Iterable[SiteChapter]) -> str:
    """Return `llms.txt`: each page with a link to its Markdown, by chapter. Source: llmstxt.org."""
    lines = [f"# {spell_markdown(title) or _UNTITLED}", ""]
    if description.strip():
        lines += [f"> {spell_markdown(description)}", ""]
    for chapter in chapters:
        if not chapter.pages:
            continue
        if chapter.title:
            lines += [f"## {spell_markdown(chapter.title)}", ""]
        lines += [*(_write_entry(page) for page in chapter.pages), ""]
    return "\n".join(lines)


def render_llms_page(page: SitePage, text: str) -> str:
    """Return a page as it stands in `llms-full.txt`: its title, its address and its words; pages follow one another.

    Shape: `text` is the page's Markdown below its title, without frontmatter.
    """
    head = f"# {spell_markdown(page.title) or _UNTITLED}\n\nSource: {spell_address(page.address)}\n\n"
    description = f"> {spell_markdown(page.description)}\n\n" if page.description.strip() else ""
    return f"{head}{description}{text.strip()}\n\n"


def render_markdown_page(title: str, description: str, text: str) -> str:
    """Return a page as Markdown for readers: its title, what it is about, and its words, without frontmatter."""
    lead = f"{spell_markdown(description)}\n\n" if description.strip() else ""
    return f"# {spell_markdown(title) or _UNTITLED}\n\n{lead}{text.strip()}\n"


def _write_entry(page: SitePage) -> str:
    link = f"- [{spell_markdown(page.title) or _UNTITLED}]({spell_address(page.markdown or page.address)})"
    return f"{link}: {spell_markdown(page.description)}" if page.description.strip() else link
