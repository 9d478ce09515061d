"""The frame around a document: header, table of contents, outline, pager and footer, as one HTML page."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from markupsafe import Markup

from syncd.model.customization import ContentLink, SiteCustomizationSettings
from syncd.web.blocks.context import OutlineEntry
from syncd.web.blocks.inline.icons import write_sign
from syncd.web.pages.contents import ContentsEntry, ContentsLine
from syncd.web.pages.cover import PageCover
from syncd.web.pages.customization import find_locale, is_safe_address
from syncd.web.pages.diagrams import has_diagrams
from syncd.web.pages.wording import find_text_direction, find_words, is_right_to_left
from syncd.web.rendering import render_template

OUTLINE_LEVEL_MAX = 3
MORE_BLOCKS = re.compile(
    r"<dl|<figure(?! class)|<math"
    r"|\bb-(?:added|api|back|button|card|cell-image|change|column|condition|cover|deleted|diagram|footnote|foreign|formula"
    r"|frame|inserted|integration|line|link-|member|mention|method|missing|note|numbered|option|prompt|rating|removed|response"
    r"|schema|share|side|size-[lo]|status|step|tab\b|tab-|tabs|tag|task|text|tick|unknown|update)"
)
"""What a page has whose blocks look as `more_blocks.css` says; most pages need no more than `blocks.css`."""
_NETWORKS = {
    "twitter": ("X", "https://x.com/{}"),
    "x": ("X", "https://x.com/{}"),
    "instagram": ("Instagram", "https://www.instagram.com/{}"),
    "facebook": ("Facebook", "https://www.facebook.com/{}"),
    "linkedin": ("LinkedIn", "https://www.linkedin.com/{}"),
    "github": ("GitHub", "https://github.com/{}"),
    "discord": ("Discord", "https://discord.gg/{}"),
    "slack": ("Slack", "https://{}.slack.com"),
    "youtube": ("YouTube", "https://www.youtube.com/{}"),
    "tiktok": ("TikTok", "https://www.tiktok.com/@{}"),
    "reddit": ("Reddit", "https://www.reddit.com/{}"),
    "bluesky": ("Bluesky", "https://bsky.app/profile/{}"),
    "mastodon": ("Mastodon", "https://mastodon.social/{}"),
    "threads": ("Threads", "https://www.threads.net/@{}"),
    "medium": ("Medium", "https://medium.com/{}"),
}


@dataclass(frozen=True)
class SiteLink:
    """A link of the site; `is_current` says that it leads to where the reader is. `links` make a menu of it.

    Shape: `icon` is the name of an icon that stands before the title, "" for none.
    """

    title: str
    address: str = ""
    is_current: bool = False
    style: str = "link"
    links: tuple["SiteLink", ...] = ()
    icon: str = ""

    @property
    def sign(self) -> Markup:
        """What stands before its title."""
        return write_sign("", self.icon)


@dataclass(frozen=True)
class SiteFrame:
    """What all pages of a site have in common.

    Shape: `home` is the address of the start page, `files` that of the site's own files, without a slash at its end,
    `theme` that of its style sheet.
    `version` is "" for a site that does not change while it is read. `relate` returns an address as a page has it, and
    `root` is what addresses in the files that all pages share begin with; both are for pages that stand below any path.
    `names` has the names of files of the site that are not called as usual, and `listing` is that of all pages.
    `search` is the address of a page that searches the site; without one, the script of a page searches an index,
    and with `has_words` in the files of all words beside it; with `has_other_spaces`, then in that of the whole site.
    """

    title: str
    settings: SiteCustomizationSettings
    home: str = "/"
    files: str = "/~syncd"
    theme: str = "/~syncd/theme.css"
    sections: tuple[SiteLink, ...] = ()
    variants: tuple[SiteLink, ...] = ()
    version: str = ""
    root: str = ""
    listing: str = "contents"
    search: str = ""
    has_words: bool = False
    has_other_spaces: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    relate: Callable[[str], str] = str

    def locate_file(self, name: str) -> str:
        """Return the address of one of the site's own files, such as `site.css`."""
        return self.relate(f"{self.files}/{self.names.get(name, name)}")

    @property
    def locale(self) -> str:
        """The language of the site, such as `en`."""
        return find_locale(self.settings)


@dataclass(frozen=True)
class PageLayout:
    """Which parts of a page are shown."""

    title: bool = True
    description: bool = True
    table_of_contents: bool = True
    outline: bool = True
    pagination: bool = True
    metadata: bool = True
    is_wide: bool = False


@dataclass(frozen=True)
class PageView:
    """One page as it is put into the frame; `body` is HTML, `strip` what stands above all, `notices` above the body.

    Shape: `head` is HTML for machines; `pdf` and `feedback` are the addresses of the page's PDF and of its form that
    asks whether it helped, "" for none; `scope` is the address of the files that belong to the page's own table of
    contents.
    """

    title: str
    body: Markup
    description: str = ""
    emoji: str = ""
    icon: str = ""
    cover: PageCover | None = None
    outline: Sequence[OutlineEntry] = ()
    contents: ContentsLine | None = None
    scope: str = ""
    breadcrumbs: Sequence[ContentsEntry] = ()
    before: ContentsEntry | None = None
    after: ContentsEntry | None = None
    edit: str = ""
    pdf: str = ""
    feedback: str = ""
    last_change: str = ""
    head: Markup = field(default_factory=Markup)
    strip: Markup = field(default_factory=Markup)
    notices: Markup = field(default_factory=Markup)
    layout: PageLayout = field(default_factory=PageLayout)
    is_indexed: bool = True


def render_page(frame: SiteFrame, view: PageView) -> str:
    """Return a whole page as HTML, which needs no script to be read and loads nothing from another host."""
    settings, words = frame.settings, find_words(frame.locale)
    outline = [entry for entry in view.outline if entry.level <= OUTLINE_LEVEL_MAX and entry.title]
    has_pagination = view.layout.pagination and (settings.pagination is None or settings.pagination.enabled)
    return render_template(
        "pages/page.html",
        frame=frame,
        link=frame.relate,
        view=view,
        sign=write_sign(view.emoji, view.icon),
        words=words,
        settings=settings,
        direction="rtl" if is_right_to_left(frame.locale) else "ltr",
        text_direction=find_text_direction(frame.locale, view.body),
        outline=outline if view.layout.outline and len(outline) > 1 else [],
        has_pagination=has_pagination and (view.before or view.after),
        header_links=_list_header_links(settings),
        footer_groups=_list_footer_groups(settings),
        accounts=_list_accounts(settings),
        announcement=_find_announcement(settings),
        classes=_list_classes(settings),
        theme=find_theme(settings),
        privacy=_find_privacy(settings),
        # What a preview shows may have any block a moment later.
        has_diagrams=bool(frame.version) or has_diagrams(view.body),
        has_more_blocks=bool(frame.version) or MORE_BLOCKS.search(view.body) is not None,
        can_switch_theme=settings.themes is None or settings.themes.toggeable is not False,
    )


def _make_link(link: ContentLink, locale: str, style: str = "link") -> SiteLink:
    address = (link.to.url or "") if link.to is not None else ""
    title = (link.localized_title or {}).get(locale.partition("-")[0]) or link.title
    return SiteLink(title, address if is_safe_address(address) else "", style=style)


def _list_header_links(settings: SiteCustomizationSettings) -> list[SiteLink]:
    locale = find_locale(settings)
    found = []
    for link in settings.header.links if settings.header is not None else ():
        inner = tuple(_make_link(one, locale) for one in link.links)
        style = link.style if link.style in ("button-primary", "button-secondary") else "link"
        base = ContentLink(title=link.title, localized_title=link.localized_title, to=link.to)
        made = _make_link(base, locale, style)
        found.append(SiteLink(made.title, made.address, style=style, links=inner))
    return [link for link in found if link.address or link.links]


def _list_footer_groups(settings: SiteCustomizationSettings) -> list[SiteLink]:
    locale = find_locale(settings)
    groups = settings.footer.groups if settings.footer is not None else ()
    titles = [(group.localized_title or {}).get(locale) or group.title for group in groups]
    links = [tuple(_make_link(link, locale) for link in group.links) for group in groups]
    found = [SiteLink(title, links=inner) for title, inner in zip(titles, links, strict=True)]
    return [group for group in found if any(link.address for link in group.links)]


def _list_accounts(settings: SiteCustomizationSettings) -> list[SiteLink]:
    found = []
    for account in settings.social_accounts or ():
        name, pattern = _NETWORKS.get(account.platform.lower(), ("", ""))
        address = pattern.format(account.handle.lstrip("@"))
        if name and is_safe_address(address):
            found.append(SiteLink(name, address))
    return found


@dataclass(frozen=True)
class _Announcement:
    """A banner above the page; `key` is another one once it says something else."""

    style: str
    message: str
    link: SiteLink | None

    @property
    def key(self) -> str:
        return f"{crc32(repr((self.style, self.message, self.link)).encode(errors='surrogatepass')):08x}"


def _find_announcement(settings: SiteCustomizationSettings) -> _Announcement | None:
    """The announcement; None when there is none."""
    found = settings.announcement
    if found is None or not found.enabled or not found.message:
        return None
    style = found.style if found.style in ("info", "success", "warning", "danger") else "info"
    link = _make_link(found.link, find_locale(settings)) if found.link is not None else None
    return _Announcement(style, found.message, link if link is not None and link.address else None)


def _list_classes(settings: SiteCustomizationSettings) -> str:
    """The classes of the page for what a customization chooses among; only words of ours are in them."""
    styling = settings.styling
    if styling is None:
        return ""
    sidebar = styling.sidebar
    chosen = [
        ("theme", styling.theme, ("clean", "muted", "bold", "gradient")),
        ("links", styling.links, ("accent",)),
        ("search", styling.search, ("prominent",)),
        ("sidebar", sidebar.background if sidebar is not None else None, ("filled",)),
        ("list", sidebar.list if sidebar is not None else None, ("pill", "line")),
        ("corners", styling.corners, ("straight", "rounded", "circular")),
    ]
    return " ".join(f"{name}-{value}" for name, value, known in chosen if value in known)


def find_theme(settings: SiteCustomizationSettings) -> str:
    """Return the theme that a site has whatever its reader's system says: `light` or `dark`, "" for neither."""
    theme = settings.themes.default if settings.themes is not None else None
    return theme if theme in ("light", "dark") else ""


def _find_privacy(settings: SiteCustomizationSettings) -> str:
    address = settings.privacy_policy.url if settings.privacy_policy is not None else None
    return address if address is not None and is_safe_address(address) else ""
