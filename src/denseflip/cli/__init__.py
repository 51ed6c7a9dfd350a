"""The command line: turns arguments into library calls and errors into messages."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the ``denseflip`` command."""
    from denseflip.cli.command_tree import app
    from denseflip.cli.common import run

    sys.exit(run(app))
