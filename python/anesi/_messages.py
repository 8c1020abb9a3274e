"""What anesi tells while it works goes to the logger ``anesi``.

A program that configures logging gets it there. Without that, lines appear on standard error, as ``anesi: …``.
"""

from __future__ import annotations

import logging
import sys

from . import _partners

logger = logging.getLogger("anesi")


class _UnlessConfigured(logging.Handler):
    """Writes to standard error if the program has set up no handler of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            print(f"anesi: {record.getMessage()}", file=sys.stderr, flush=True)


if not logger.handlers:
    logger.addHandler(_UnlessConfigured())
if logger.level == logging.NOTSET:
    logger.setLevel(logging.INFO)


def say(line: str) -> None:
    """Of several processes only the first one says it."""
    if _partners.rank() == 0:
        logger.info(line)
