"""A receiver over HTTP: one signed POST for each notification, to an address that the operator chose and that is
checked like every other.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from syncd import __version__
from syncd.daemon.notifications.messages import render_slack
from syncd.daemon.notifications.outbox import Delivery
from syncd.net.exchange import NetworkError, Refused, open_stream
from syncd.net.signatures import sign_webhook
from syncd.store.incidents import Notification

TIMEOUT_SECONDS = 10.0
_LATER = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses after which another try may do better."""


@dataclass(frozen=True)
class HttpTarget:
    """An address that takes notifications.

    Shape: without a secret nothing is signed; `private` as for `open_stream`.
    """

    name: str
    url: str = field(repr=False)
    secret: str = field(default="", repr=False)
    private: bool = False
    now: Callable[[], float] = time.time

    def deliver(self, notification: Notification) -> Delivery:
        """Send a notification once."""
        body = render_slack(notification)
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": f"syncd/{__version__}",
            "X-Syncd-Event": notification.event,
            "X-Syncd-Repository": notification.repository,
            "X-Syncd-Delivery": notification.id,
        }
        if self.secret:
            headers["X-Syncd-Signature"] = sign_webhook(self.secret, int(self.now()), body)
        try:
            # The answer's body does not matter; a redirect is an answer like any other, since it would lose the body.
            with open_stream(
                "POST",
                self.url,
                headers=headers,
                body=body,
                timeout=TIMEOUT_SECONDS,
                private=self.private,
                redirects=0,
            ) as answer:
                status = answer.status
        except Refused as refused:
            return Delivery("refused", f"not sent: {refused}")
        except NetworkError as failed:
            return Delivery("later", f"no answer: {failed}")
        if 200 <= status < 300:
            return Delivery("sent")
        return Delivery("later" if status in _LATER else "refused", f"the receiver answers {status}")
