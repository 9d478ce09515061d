"""The first form of the site file, for redirects only, becomes the form of today; nothing else of the text changes."""

from syncd.layout.site.read.shape import PRUNES
from syncd.layout.site.write.patch import Patch, apply_patches
from syncd.layout.yaml.compose import compose_tree


def migrate_site_file(text: str, *, path: str) -> tuple[str, tuple[str, ...]]:
    """Return a site file in today's form, and a sentence for each change; () when nothing was changed.

    Raises: FileInvalid when the file cannot be read.
    """
    root = compose_tree(text, at=path).root
    policy = root.value.get("policy") if root is not None and isinstance(root.value, dict) else None
    prune = policy.value.get("prune") if policy is not None and isinstance(policy.value, dict) else None
    if prune is None or prune.value not in PRUNES:
        return text, ()
    wanted = {"redirects": prune.value}
    said = f"policy.prune: {prune.value} is now said for redirects alone"
    return apply_patches(text, path, [Patch("set", ("policy", "prune"), wanted)]), (said,)
