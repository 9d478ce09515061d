"""Sites that `syncd site build` has written into a tree of sources: their pages are no sources."""

from collections.abc import Iterable

MANIFEST = ".syncd-site.json"
"""The file in a built site that says which of its files syncd made, and of what."""


def omit_built_sites(paths: Iterable[str]) -> list[str]:
    """Return the paths of a tree that lie in no built site below its top."""
    listed = list(paths)
    sites = tuple(path.removesuffix(MANIFEST) for path in listed if path.endswith(f"/{MANIFEST}"))
    return [path for path in listed if not path.startswith(sites)]
