"""The browser of the person at this machine, where there is a display to show one."""

import os
import sys
import webbrowser


def open_in_browser(address: str) -> bool:
    """Open an address in the person's browser; False where there is no display, or no browser.

    Shape: the browser gets it as an argument, which other users can list as it starts.
    """
    has_display = sys.platform == "darwin" or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    # Without a display, the module would start a browser in the terminal.
    return has_display and webbrowser.open(address)
