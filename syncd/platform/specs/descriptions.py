"""OpenAPI descriptions that are kept, parsed once for all who read them one after the other."""

from syncd.platform.cache import Cache
from syncd.platform.specs.operations import SpecContent
from syncd.platform.specs.parser import load_description
from syncd.platform.storage.storage import Storage

_REMEMBERED_BYTES = 16 * 1024 * 1024
_known: Cache[str, tuple[int, SpecContent]] = Cache(_REMEMBERED_BYTES, weigh=lambda found: found[0])


def read_description(storage: Storage, content: str) -> SpecContent:
    """Return the OpenAPI description in a blob, which nobody may change; an empty one for a text that is none."""
    known = _known.get(content)
    if known is None:
        data = storage.blobs.get(content)
        known = _known.put(content, (len(data) + 1, SpecContent(load_description(data))))
    return known[1]
