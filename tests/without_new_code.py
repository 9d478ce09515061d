"""Run a command that may make no machine code, nor may what it starts: MemoryDenyWriteExecute= of systemd.

Where the system has no such rule (before Linux 6.3, and on macOS), the command runs without.
Source: prctl(2), PR_SET_MDWE.
"""

import ctypes
import os
import sys

PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1

if __name__ == "__main__":
    if hasattr(libc := ctypes.CDLL(None), "prctl"):
        libc.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)
    os.execv(sys.argv[1], sys.argv[1:])
