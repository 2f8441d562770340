# SPDX-License-Identifier: Apache-2.0
"""The `feedring` command that came with the package."""

from __future__ import annotations

import os
import sys


def command() -> str:
    """Path of the `feedring` command of this package: `subprocess.run([feedring.command(), "check", "photos/"])`."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "feedring")


def main() -> None:
    """Becomes the command, with this process's arguments. Does not return."""
    os.execv(command(), ["feedring", *sys.argv[1:]])
