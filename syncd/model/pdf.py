"""PDF: where content can be downloaded as a document to print."""

from syncd.model.base import Observed


class PDFLink(Observed):
    """An address that needs no token and is valid for a limited time."""

    url: str
