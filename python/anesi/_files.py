"""Files that somebody gave us, for reading."""

from __future__ import annotations

import io
import os
import stat

LARGEST_TEXT = 1 << 26  # bytes
LARGEST_ARRAYS = 1 << 36


def open_regular(path: str | os.PathLike[str], largest: int) -> io.FileIO:
    """Opens a regular file of at most so many bytes.

    A FIFO would let us wait for ever and a device may never end, so neither is opened; a larger file is refused before
    it is read. Raises :class:`OSError` where the system cannot open it, else :class:`ValueError`.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    about = os.fstat(descriptor)
    complaint = None
    if not stat.S_ISREG(about.st_mode):
        complaint = "cannot read: it is no regular file"
    elif about.st_size > largest:
        complaint = f"{about.st_size:,} bytes; files of at most {largest:,} are read"
    if complaint is not None:
        os.close(descriptor)
        raise ValueError(f"{os.fspath(path)}: {complaint}")
    return io.FileIO(descriptor, "r")


def read_text(path: str | os.PathLike[str]) -> str:
    """All of a text file, a program say. Raises as :func:`open_regular` does, and where it is not UTF-8."""
    with open_regular(path, LARGEST_TEXT) as file:
        contents = file.read(LARGEST_TEXT)
    try:
        return contents.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)}: no text: byte {error.start:,} is not UTF-8") from None
