"""Run a command that may not change its priority, nor may what it starts: a SystemCallFilter= without @resources.

Where the system has no such rule (macOS, other processors), the command runs without. Source: seccomp(2), prctl(2).
"""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SETPRIORITY = {"x86_64": 141, "aarch64": 140}
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


if __name__ == "__main__":
    number = SETPRIORITY.get(platform.machine())
    if sys.platform == "linux" and number is not None:
        steps = (
            (LOAD_NUMBER, 0, 0, 0),
            (JUMP_IF_EQUAL, 0, 1, number),
            (RETURN, 0, 0, REFUSE),
            (RETURN, 0, 0, ALLOW),
        )
        program = _Program(len(steps), b"".join(struct.pack("HBBI", *step) for step in steps))
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) == 0, ctypes.get_errno()
    os.execv(sys.argv[1], sys.argv[1:])
