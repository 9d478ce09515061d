"""Addresses to download files from: signed, for a limited time, so that no token has to travel with them."""

import hmac
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

VALID_S = 3600
"""Seconds for which an address works at least; the document does not say how long."""
_STEP_S = 1800
"""Addresses end at multiples of this, so that a list of files can be remembered for a while."""


@dataclass(frozen=True, slots=True)
class DownloadSigner:
    """Makes and checks addresses below `origin`. Units: `expires` in epoch seconds."""

    origin: str
    secret: bytes = field(repr=False)
    expires: int

    def sign_url(self, oid: str, *, name: str, content_type: str) -> str:
        """Given a file, return the address that its content can be read from without a token."""
        signature = compute_signature(self.secret, oid, name, content_type, self.expires)
        query = urlencode({"type": content_type, "expires": self.expires, "signature": signature})
        return f"{self.origin}/v1/downloads/{oid}/{quote(name, safe='')}?{query}"


def compute_expiry(now: float) -> int:
    """Given the present in epoch seconds, return when addresses made now end."""
    return (int(now) // _STEP_S + 1) * _STEP_S + VALID_S


def compute_signature(secret: bytes, oid: str, name: str, content_type: str, expires: int) -> str:
    """Given what an address promises, return the signature that only this platform can make."""
    message = "\0".join((oid, name, content_type, str(expires)))
    return hmac.new(secret, message.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
