"""The one table in a zip archive."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from taxonomist.errors import FormatError, some

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

__all__ = ["ZIP_MARKS", "is_workbook", "only_table"]

ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a zip archive, and of one without files."""
WORKBOOK_PARTS = {"[Content_Types].xml", "mimetype"}
"""Files that make a zip archive an Excel or OpenDocument workbook."""
ENCRYPTED = 0x1


def is_workbook(archive: ZipFile) -> bool:
    """Return whether an archive is a workbook and not a folder of files."""
    return not WORKBOOK_PARTS.isdisjoint(archive.namelist())


def only_table(name: str, archive: ZipFile) -> ZipInfo:
    """Return the only file of an archive, ignoring hidden ones.

    Parameters
    ----------
    name
        Name of the archive in messages.
    archive
        The archive.

    Raises
    ------
    FormatError
        If there is no file, or more than one, or it is encrypted.
    """
    found = [member for member in archive.infolist() if not _is_hidden(member)]
    if len(found) != 1:
        listed = f": {some([member.filename for member in found])}" if found else ""
        raise FormatError(
            f"{name} must hold exactly one table, but holds {len(found)} files{listed}. Unpack it "
            "and pass one of them."
        )
    if found[0].flag_bits & ENCRYPTED:
        raise FormatError(f"{name} is encrypted. Unpack it, and pass the table.")
    return found[0]


def _is_hidden(member: ZipInfo) -> bool:
    """Return whether a member is a folder, or a file that systems add on their own."""
    parts = PurePosixPath(member.filename).parts
    return member.is_dir() or "__MACOSX" in parts or any(part.startswith(".") for part in parts)
