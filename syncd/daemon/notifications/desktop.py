"""The desktop as a receiver: the notification service of a session, over D-Bus; sole importer of jeepney.

Source: Desktop Notifications Specification 1.2, org.freedesktop.Notifications.
"""

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from syncd.daemon.notifications.outbox import Delivery
from syncd.store.incidents import Notification

NAME = "desktop"
_SECONDS = 10.0
_PATH, _BUS = "/org/freedesktop/Notifications", "org.freedesktop.Notifications"
_URGENCY = {"failed": 2, "conflict": 1, "held": 1, "recovered": 0}
_BODY_MAX = 1000
_ICONS = {"failed": "dialog-error", "recovered": "dialog-information"}


@dataclass(frozen=True)
class DesktopTarget:
    """The desktop of the user that the service runs as. Shape: `address` of the session's bus, as D-Bus writes it."""

    address: str
    name: str = NAME

    def deliver(self, notification: Notification) -> Delivery:
        """Show a notification; without a session or a service that shows it, it is tried later."""
        from jeepney import DBusAddress, DBusErrorResponse, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        from jeepney.wrappers import unwrap_msg

        place = DBusAddress(_PATH, bus_name=_BUS, interface=_BUS)
        try:
            with open_dbus_connection(self.address) as bus:
                answer = bus.send_and_get_reply(new_method_call(place, "GetCapabilities"), timeout=_SECONDS)
                (abilities,) = unwrap_msg(answer)
                fields = build_fields(notification, can_mark_up="body-markup" in abilities)
                call = new_method_call(place, "Notify", "susssasa{sv}i", fields)
                unwrap_msg(bus.send_and_get_reply(call, timeout=_SECONDS))
        except (OSError, ValueError, LookupError) as error:
            return Delivery("later", f"the desktop cannot be reached: {error}")
        except DBusErrorResponse as error:
            return Delivery("later", f"the desktop shows nothing: {error.name}")
        return Delivery("sent")


def find_session_address(environ: Mapping[str, str]) -> str:
    """Return the address of the session's bus, or "" where there is no session, as for a service of the system."""
    if given := environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return given
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    return f"unix:path={runtime}/bus" if runtime and os.path.exists(f"{runtime}/bus") else ""


def build_fields(notification: Notification, *, can_mark_up: bool) -> tuple[Any, ...]:
    """Return the arguments of Notify; a service that reads markup gets none of what came from outside."""
    body = "\n".join(notification.lines)[:_BODY_MAX]
    urgency = ("y", _URGENCY.get(notification.event, 1))
    return (
        "syncd",
        0,
        _ICONS.get(notification.event, "dialog-warning"),
        notification.title,
        html.escape(body, quote=False) if can_mark_up else body,
        [],
        {"urgency": urgency, "desktop-entry": ("s", "syncd")},
        -1,
    )
