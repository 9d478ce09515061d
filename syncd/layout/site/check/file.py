"""Check a site file by itself: every rule that needs no platform, without what its comments silence."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from syncd.layout.lint.finding import Finding
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.graph import Host, list_own_hosts
from syncd.layout.site.check.conditions import check_conditions
from syncd.layout.site.check.policy import check_policy, check_silence
from syncd.layout.site.check.redirects import check_redirects
from syncd.layout.site.check.structure import check_repeated, check_structure
from syncd.layout.site.check.texts import check_texts
from syncd.layout.site.check.values import check_values
from syncd.layout.site.read.customization import check_customization
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.visitors import check_claims


def check_site(file: SiteFile, *, hosts: Iterable[Host] = ()) -> tuple[Finding, ...]:
    """Return all findings about a site file, by place; `hosts` are the site's own addresses, as far as they are known.

    Shape: linear in the size of the file. Source: syncd/manual/reference/site-file.md.
    """
    site = SiteMap(file, hosts=list_own_hosts(file, hosts))
    found = chain(
        check_texts(file),
        check_values(file),
        check_structure(file),
        check_repeated(file),
        check_redirects(file, site),
        check_policy(file),
        check_silence(file),
        check_claims(file),
        check_conditions(file),
        _check_settings(file),
    )
    return remove_silenced(file, found)


def remove_silenced(file: SiteFile, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings about a site file by place, without the warnings that a comment silences."""
    heard = (one for one in set(found) if not _is_silenced(file, one))
    return tuple(sorted(_remove_silenced_below(file, one) for one in heard))


def _remove_silenced_below(file: SiteFile, one: Finding) -> Finding:
    if not one.covered:
        return one
    return replace(one, covered=tuple(each for each in one.covered if not _is_silenced(file, each)))


def _is_silenced(file: SiteFile, one: Finding) -> bool:
    return one.severity != "error" and one.code in file.silenced.get((one.path, one.line), ())


def _check_settings(file: SiteFile) -> Iterator[Finding]:
    for item in file.of("customization", "override"):
        yield from check_customization(item)
