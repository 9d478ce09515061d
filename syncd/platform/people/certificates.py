"""X.509 certificates of identity providers: parsed, checked and normalised."""

import base64
import binascii
import importlib.util
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from syncd.platform.http.failures import Failure

if TYPE_CHECKING:
    from cryptography import x509

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Certificate:
    """A certificate as PEM, and when it expires."""

    pem: str
    expires_at: datetime


def read_certificate(text: str, now: datetime) -> Certificate:
    """Parse a certificate in PEM, or the base64 text within PEM.

    Raises: Failure 400 when it is not exactly one certificate that is valid now; 501 when the library that parses
    certificates is not installed.
    """
    if importlib.util.find_spec("cryptography") is None:
        needed = "`pip install 'cryptography>=48,<51'` lets it"
        raise Failure(501, f"This platform cannot read certificates; {needed}.")
    from cryptography.hazmat.primitives.serialization import Encoding

    found = _parse_certificate(_decode_certificate(text))
    if found.not_valid_after_utc <= now:
        raise Failure(400, f"certificate: it expired on {found.not_valid_after_utc:%Y-%m-%d}")
    if found.not_valid_before_utc > now:
        raise Failure(400, f"certificate: it is not valid before {found.not_valid_before_utc:%Y-%m-%d}")
    return Certificate(found.public_bytes(Encoding.PEM).decode(), found.not_valid_after_utc)


def _decode_certificate(text: str) -> bytes:
    inner = text.strip()
    if inner.startswith("-----"):
        if not inner.startswith(_BEGIN) or not inner.endswith(_END) or inner.count("-----BEGIN") != 1:
            raise Failure(400, "certificate: must be one certificate as PEM, or the base64 text within it")
        inner = inner.removeprefix(_BEGIN).removesuffix(_END)
    try:
        return base64.b64decode(_SPACE.sub("", inner), validate=True)
    except (binascii.Error, ValueError):
        raise Failure(400, "certificate: must be one certificate as PEM, or the base64 text within it") from None


def _parse_certificate(der: bytes) -> "x509.Certificate":
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        found = x509.load_der_x509_certificate(der)
        found.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm) as invalid:
        raise Failure(400, "certificate: cannot be read as an X.509 certificate") from invalid
    return found
