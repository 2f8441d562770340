# SPDX-License-Identifier: Apache-2.0
"""`python -m feedring` is the command."""

from ._command import main

main()
