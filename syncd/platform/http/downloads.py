"""Signed download addresses, valid for a limited time, which need no token."""

import hmac
import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

VALID_S = 3600
"""Seconds for which an address works at least; the document does not say how long."""
_STEP_S = 1800
"""Expiry times are multiples of this, so that a rendered list of files can be cached for a while."""
_LINE_BREAKS = re.compile(r"[\r\n]")


@dataclass(frozen=True, slots=True)
class DownloadSigner:
    """Creates download addresses below `origin`. Units: `expires` in epoch seconds."""

    origin: str
    secret: bytes = field(repr=False)
    expires: int

    def sign_url(self, oid: str, *, name: str, content_type: str) -> str:
        """Return the address from which the content of a file can be downloaded without a token."""
        name = _LINE_BREAKS.sub("_", name)  # no route matches these
        signature = compute_signature(self.secret, oid, name, content_type, self.expires)
        query = urlencode({"type": content_type, "expires": self.expires, "signature": signature})
        return f"{self.origin}/v1/downloads/{oid}/{quote(name, safe='')}?{query}"


def compute_expiry(now: float) -> int:
    """Return when addresses that are created at `now` expire; both in epoch seconds."""
    return (int(now) // _STEP_S + 1) * _STEP_S + VALID_S


def compute_signature(secret: bytes, oid: str, name: str, content_type: str, expires: int) -> str:
    """Return the signature of a download address, which only this platform can compute."""
    message = "\0".join((oid, name, content_type, str(expires)))
    return hmac.new(secret, message.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
