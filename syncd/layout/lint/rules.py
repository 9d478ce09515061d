"""The catalogue of rules: each code with its severity, what it means, and how to mend what it finds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Rule:
    """One rule; `is_whole_file` says that it is about a file as a whole, not one line of it.

    An error breaks the page or the sync; a warning is most likely a mistake, or something that the API cannot take; an
    info is good to know.
    """

    code: str
    severity: Literal["error", "warning", "info"]
    meaning: str
    remedy: str
    is_whole_file: bool = False


_ALL = (
    Rule(
        "link-broken",
        "error",
        "A link, image or entry of SUMMARY.md leads to a file that does not exist.",
        "Correct the address, or restore the file. An address that starts with /broken/ was written by the platform "
        "when the target of the link was deleted there.",
    ),
    Rule(
        "link-case",
        "error",
        "An address differs from the file's name only by upper and lower case, or by the way that Unicode writes it. "
        "It works on some computers and fails on the platform.",
        "Spell the address exactly as the file is named.",
    ),
    Rule(
        "link-anchor",
        "warning",
        "A link names a heading that the page does not have, or the page's title, which has no anchor, so it opens at "
        "the top of the page. Tabs, expandable parts, footnotes and operations have anchors like headings, also the "
        "headings in an operation's own description, and what a page includes gives it more.",
        "Use the anchor that the platform makes of the heading: lower-case words joined by hyphens. Give a heading an "
        'anchor of its own with <a href="#name" id="name"></a> behind its text.',
    ),
    Rule(
        "link-outside",
        "warning",
        "A relative link leaves the directory of the space. The platform cannot resolve it.",
        "Link to another space by its address, https://app.gitbook.com/s/SPACE/PATH, and to other files by their "
        "public address.",
    ),
    Rule(
        "link-absolute",
        "warning",
        "A link starts at the root (/page.md); the platform reads only relative links to pages.",
        "Write the address relative to the page.",
    ),
    Rule(
        "link-unlisted",
        "warning",
        "A link leads to a Markdown file that SUMMARY.md does not list. The file is not published, so readers cannot "
        "follow the link.",
        "List the file in SUMMARY.md, or link to something that is published.",
    ),
    Rule(
        "include-missing",
        "error",
        "An include names reusable content that does not exist.",
        "Correct the path: it is relative to the page, and leads to a file in .gitbook/includes.",
    ),
    Rule(
        "include-cycle",
        "error",
        "Reusable content includes itself, at once or by way of others. Where it would come again, it is said to be "
        "missing.",
        "Take out the include that leads back.",
    ),
    Rule(
        "openapi-invalid",
        "error",
        "An OpenAPI block shows a file of the space that cannot be read as a specification.",
        "Mend the file at the line and column that are told.",
    ),
    Rule(
        "openapi-unread",
        "warning",
        "An OpenAPI block shows a specification that syncd does not read: it uses aliases, anchors or tags of YAML, is "
        "larger than 4 MiB or nests deeper than 64. Previews and static sites say that the operation is missing.",
        "Bundle the specification into plain YAML or JSON.",
    ),
    Rule(
        "openapi-operation",
        "error",
        "An OpenAPI block names a path and method that its specification does not have.",
        "Correct the block, or add the operation to the specification.",
    ),
    Rule(
        "summary-invalid",
        "error",
        "SUMMARY.md cannot be read, so nothing of the space can be sent.",
        "Keep to headings and bullets with one link each; remove everything else.",
    ),
    Rule(
        "summary-missing",
        "error",
        "SUMMARY.md lists a file that does not exist.",
        "Correct the path, restore the file, or remove the entry.",
    ),
    Rule(
        "summary-outside",
        "error",
        "SUMMARY.md lists something outside of the space. The entry is passed over, and what is below it moves up.",
        "Link to a page of this space, or write the full address of a page of another one.",
    ),
    Rule(
        "summary-twice",
        "warning",
        "SUMMARY.md lists one file twice. Only the first entry is the page; the other becomes a link to it.",
        "Remove one of the entries, or copy the page under another name.",
    ),
    Rule(
        "summary-absent",
        "info",
        "There is no SUMMARY.md. The table of contents follows the folders, in the order of their names.",
        "Write a SUMMARY.md to decide titles and order.",
        is_whole_file=True,
    ),
    Rule(
        "page-unlisted",
        "warning",
        "SUMMARY.md does not list a Markdown file, so it is not published.",
        "List it in SUMMARY.md. A note or draft that shall stay unpublished can live in a hidden folder, or say so in "
        "an ignore comment.",
        is_whole_file=True,
    ),
    Rule(
        "page-empty",
        "warning",
        "A page has no text.",
        "Write it, or take it out of SUMMARY.md.",
        is_whole_file=True,
    ),
    Rule(
        "title-missing",
        "info",
        "A page does not start with a first-level heading. The platform puts the title of SUMMARY.md there, and moves "
        "other headings down where a first-level heading follows later.",
        "Start the text with `# Title`.",
    ),
    Rule(
        "title-differs",
        "info",
        "The first heading of a page is not its title in SUMMARY.md; the title in SUMMARY.md wins on the platform.",
        "Use the same words in both places.",
    ),
    Rule(
        "frontmatter-invalid",
        "error",
        "The frontmatter of a page is not YAML that can be read. The platform drops it without a word.",
        "Quote values that hold `: ` or ` #`; indent with spaces, never with tabs; close the block with `---`.",
    ),
    Rule(
        "frontmatter-type",
        "error",
        "A value of the frontmatter is of the wrong kind, such as text where true or false is needed.",
        "See the table of keys in the manual: reference/layout.",
    ),
    Rule(
        "frontmatter-comment",
        "warning",
        "An unquoted ` #` in the frontmatter starts a comment: what follows is not part of the value.",
        "Quote the whole value.",
    ),
    Rule(
        "description-long",
        "warning",
        "A description is longer than 200 characters; the platform cuts it off without a word.",
        "Shorten it.",
    ),
    Rule(
        "not-utf8",
        "error",
        "A text file is not UTF-8; what is not would be replaced.",
        "Save the file as UTF-8.",
    ),
    Rule(
        "nul-character",
        "error",
        "A text file holds the character NUL, which the platform refuses.",
        "Delete the character. A file full of them is UTF-16: save it as UTF-8.",
    ),
    Rule(
        "angle-text",
        "warning",
        "Words in angle brackets look like an HTML tag that does not exist. The platform deletes them.",
        "Put them in backticks, or write &lt; for the first bracket.",
    ),
    Rule(
        "block-unclosed",
        "error",
        "A block such as {% hint %} has no end, or an end has no block. The text after it is shown wrongly.",
        "Add the missing {% end… %}, or remove the stray one; blocks must nest.",
    ),
    Rule(
        "condition-inline",
        "error",
        "{% if %} stands within a line or an HTML element, or is written as {%- if; or there is {% else %}, "
        "{% elif %} or the like. It decides nothing on the platform: everybody reads what was meant for some. syncd "
        "shows it to nobody.",
        "Put {% if … %} and {% endif %} on lines of their own, with a block for each condition, or in backticks where "
        "readers shall see them.",
    ),
    Rule(
        "tag-lines",
        "error",
        "A tag of an integration, {% @name/block … %}, spans several lines. The platform shows it as text.",
        "Write the tag on one line.",
    ),
    Rule(
        "data-uri",
        "error",
        "An image or link holds its content in its address (data:). The platform drops it.",
        "Save the image in .gitbook/assets and link to it.",
    ),
    Rule(
        "conflict-marker",
        "error",
        "A file holds markers of a merge that was not settled. A push sends no such page.",
        "Settle the conflict: keep what is right and remove the markers.",
    ),
    Rule(
        "conflict-in-code",
        "warning",
        "A code block holds markers of a merge. They may be an example, or a conflict that was not settled.",
        "Settle the conflict; for an example, put an ignore comment before the block.",
    ),
    Rule(
        "variable-undefined",
        "error",
        "An expression uses a variable that is not defined, so readers see nothing.",
        "Define it in .gitbook/vars.yaml (space.vars) or in the frontmatter of the page (page.vars).",
    ),
    Rule(
        "variables-invalid",
        "error",
        ".gitbook/vars.yaml cannot be read.",
        "Write one `name: value` a line; values are text, numbers, true or false.",
    ),
    Rule(
        "tags-invalid",
        "error",
        ".gitbook/tags.yaml cannot be read.",
        "Write a list of tags, each with `tag` and `label`.",
    ),
    Rule(
        "settings-invalid",
        "error",
        ".gitbook.yaml cannot be read. The platform then uses defaults, and drops all redirects.",
        "Known keys are root, structure.readme, structure.summary and redirects.",
    ),
    Rule(
        "settings-unseen",
        "warning",
        ".gitbook.yaml has a key with a character that nobody sees, so the platform takes the default instead.",
        "Delete the key and type it anew; such characters come along when text is copied from a web page.",
    ),
    Rule(
        "redirects-empty",
        "warning",
        ".gitbook.yaml has `redirects:` without a value, which can block Git Sync of the platform itself.",
        "Write `redirects: {}`, or remove the key.",
    ),
    Rule(
        "redirect-missing",
        "error",
        "A redirect leads to a file that does not exist.",
        "Correct the path; it is relative to `root`, and a page with pages below it is folder/README.md.",
    ),
    Rule(
        "redirect-form",
        "warning",
        "A redirect starts with / or ./, which the platform does not understand.",
        "Write both sides without it: old/address: new/page.md",
    ),
    Rule(
        "redirect-shadowed",
        "warning",
        "A redirect starts at the address of an existing page, so it never takes effect.",
        "Remove the redirect, or the page.",
    ),
    Rule(
        "asset-duplicate",
        "warning",
        "Two files in .gitbook/assets have the same content.",
        "Keep one and link to it everywhere.",
        is_whole_file=True,
    ),
    Rule(
        "asset-unused",
        "warning",
        "No page links to a file in .gitbook/assets.",
        "Remove the file, or link to it.",
        is_whole_file=True,
    ),
    Rule(
        "asset-large",
        "warning",
        "A file is over 1 MB (1,000,000 bytes). It cannot be sent through the API.",
        "Make it smaller, or upload it on the platform by hand.",
        is_whole_file=True,
    ),
    Rule(
        "asset-huge",
        "error",
        "A file is over 100 MiB. The platform refuses it.",
        "Host it elsewhere and link to it.",
        is_whole_file=True,
    ),
    Rule(
        "page-long",
        "error",
        "A page has more than 1,000,000 characters. It cannot be sent through the API.",
        "Make two pages of it.",
        is_whole_file=True,
    ),
    Rule(
        "name-unsafe",
        "warning",
        "The name of a page, file or include cannot be used on every computer, or hides something.",
        "Rename it: letters, digits, hyphens and dots are always safe.",
        is_whole_file=True,
    ),
    Rule(
        "name-collision",
        "error",
        "Two names differ only by upper and lower case, or by the way that Unicode writes them. On many computers they "
        "are one file.",
        "Rename one of them.",
        is_whole_file=True,
    ),
    Rule(
        "lfs-pointer",
        "error",
        "A file is a pointer of Git LFS, not the content that it stands for. Readers would get the pointer.",
        "Run git lfs pull; or keep the file in Git itself.",
        is_whole_file=True,
    ),
    Rule(
        "ignore-unknown",
        "warning",
        "A comment `syncd-check: ignore` names no code that exists, so it does nothing.",
        "Correct the code; syncd explain all lists them.",
    ),
)

RULES: Mapping[str, Rule] = {rule.code: rule for rule in _ALL}
"""Every rule by its code; a code never changes its meaning."""


def find_codes(words: Iterable[str]) -> set[str]:
    """Return the codes that are given, or that begin with a given first word such as `link`.

    Raises: KeyError with the word that matches none.
    """
    found: set[str] = set()
    for word in words:
        codes = {code for code in RULES if code == word or code.startswith(f"{word}-")}
        if not codes:
            raise KeyError(word)
        found |= codes
    return found
