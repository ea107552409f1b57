"""What a notebook may come as: UTF-8, UTF-16 or Latin-1, or a zip of one."""

import codecs
import io
import zipfile
from pathlib import PurePosixPath

from coursework.collect.platforms import DEBRIS

MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ENTRY = b"PK\x01\x02"  # begins each entry of a zip's directory
ENTRIES = 100
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def decoded(content: bytes) -> str:
    """Return the text of a file; raise `UnicodeDecodeError` if it is in another encoding.

    What may be JSON is read as Latin-1 if it isn't UTF-8: an editor of Windows has saved it, or one
    byte is damaged, and the code in it reads the same.
    """
    try:
        return content.decode("utf-16" if content.startswith(MARKS) else "utf-8-sig")
    except UnicodeDecodeError:
        if b"\0" in content or not content.lstrip().startswith(b"{"):
            raise
        return content.decode("latin-1")


def only_notebook(content: bytes, most: int) -> bytes | None:
    """Return the notebook in a zip that holds exactly one, of at most this size; None otherwise."""
    if not content.startswith(b"PK") or content.count(ENTRY) > ENTRIES:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = [entry for entry in archive.infolist() if _is_notebook(entry.filename)]
            if len(found) != 1 or found[0].compress_type not in METHODS:
                return None
            with archive.open(found[0]) as file:
                notebook = file.read(most + 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, ValueError, EOFError):
        return None
    return notebook if len(notebook) <= most else None


def _is_notebook(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return path.suffix.lower() == ".ipynb" and DEBRIS.isdisjoint(path.parts)
