"""The files of a published site beside its pages, from values alone: what crawlers, agents, feeds and servers read.

Shape: addresses are whole ones wherever the site's own address is known. What comes from outside (titles, descriptions,
addresses, dates) is escaped for the format it stands in: a title cannot end a line, an element or a link.
"""

from syncd.web.site.crawlers import render_robots, render_sitemap, render_sitemaps
from syncd.web.site.feed import FeedItem, format_feed_date, list_updates, render_feed
from syncd.web.site.head import STATIC_POLICY, PageHead, render_head
from syncd.web.site.llms import render_llms, render_llms_page, render_markdown_page
from syncd.web.site.redirects import (
    SiteRedirection,
    render_nginx_map,
    render_redirect_page,
    select_safe,
)
from syncd.web.site.values import SiteChapter, SitePage

__all__ = [
    "STATIC_POLICY",
    "FeedItem",
    "PageHead",
    "SiteChapter",
    "SitePage",
    "SiteRedirection",
    "format_feed_date",
    "list_updates",
    "render_feed",
    "render_head",
    "render_llms",
    "render_llms_page",
    "render_markdown_page",
    "render_nginx_map",
    "render_redirect_page",
    "render_robots",
    "render_sitemap",
    "render_sitemaps",
    "select_safe",
]
