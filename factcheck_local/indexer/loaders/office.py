"""Guards, properties and names of Office Open XML files, which are zip archives of XML.

Every limit is checked on the archive's directory, before anything is decompressed. Then
each member is decompressed as far as the directory says, and must end there: zipfile,
which the libraries read with, decompresses all of a member and cuts it afterwards.
"""

from __future__ import annotations

import datetime
import io
import re
import struct
import zipfile
import zlib

from factcheck_local.core.errors import DocumentError
from factcheck_local.indexer.loaders.text import reading

#: Uncompressed size of all members together, in bytes.
MAX_SIZE = 200_000_000

#: How many times its compressed size a member may have, if it is not small.
MAX_RATIO = 200
SMALL_MEMBER = 10_000_000

#: Members of an archive; a large presentation has some thousands.
MAX_MEMBERS = 20_000

#: Bytes decompressed at a time.
PIECE = 1_048_576

#: A document type would have to stand in so much of an XML member, in bytes.
PROLOG = 65_536

#: Levels of a list.
MAX_LEVELS = 9

#: The namespace of what is offered in several ways.
OFFERS = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

#: What formulas are made of: text, what is raised, a fraction and its parts.
MATH_TEXT, RAISED, FRACTION = f"{_MATH}t", f"{_MATH}sup", f"{_MATH}f"
FRACTION_PARTS = (f"{_MATH}num", f"{_MATH}den")

_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_ENCRYPTED = 0x1  # flag bit of a member
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the only ones that Office writes
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)


def check(data: bytes, source: str, kind: str) -> None:
    """See that the bytes are an Office file that may be opened.

    Args:
        data: the file.
        source: what the file is called.
        kind: the extension without the dot, in capitals.

    Raises:
        DocumentError: if they are not a zip archive, or one that is encrypted,
            damaged, too large when decompressed, or with a document type in its XML.
    """
    if data.startswith(_COMPOUND_FILE):
        if _ENCRYPTED_PACKAGE in data:
            raise DocumentError(f"{source}: is encrypted, a password is needed")
        raise DocumentError(f"{source}: is in an old binary Office format, save it as {kind}")
    if not data.startswith(b"PK"):
        raise DocumentError(f"{source}: is not a {kind} (it is no zip archive)")
    with reading(source, kind), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if any(member.flag_bits & _ENCRYPTED for member in members):
            raise DocumentError(f"{source}: is encrypted, a password is needed")
        _check_sizes(members, source)
        if sum(member.compress_size for member in members) > len(data):
            raise DocumentError(f"{source}: its members overlap: a zip bomb?")
        if "[Content_Types].xml" not in archive.namelist():
            raise DocumentError(f"{source}: is not a {kind} (a zip archive of something else)")
        for member in members:
            with archive.open(member) as file:  # which checks its place
                if not _ends_where_it_says(data, member):
                    raise DocumentError(
                        f"{source}: {member.filename!r} is not as long as it says: a zip bomb?"
                    )
                if not member.filename.endswith((".xml", ".rels")):
                    continue
                prolog = file.read(PROLOG).replace(b"\x00", b"")  # it may be UTF-16
            if _DECLARATION.search(prolog):
                raise DocumentError(
                    f"{source}: declares XML entities or a document type in {member.filename!r}"
                )


def _ends_where_it_says(data: bytes, member: zipfile.ZipInfo) -> bool:
    """Whether a member, decompressed, has the length that the directory says.

    Raises:
        ValueError, zlib.error: if it cannot be decompressed.
    """
    if member.compress_type == zipfile.ZIP_STORED:
        return member.compress_size == member.file_size
    if member.compress_type not in _METHODS:
        raise ValueError(f"{member.filename!r} is compressed in a way that Office does not know")
    head = data[member.header_offset : member.header_offset + 30]
    start = member.header_offset + 30 + sum(struct.unpack("<2H", head[26:]))  # name, extra field
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    size = 0
    for at in range(start, start + member.compress_size, PIECE):
        rest = data[at : min(at + PIECE, start + member.compress_size)]
        while not inflate.eof and size <= member.file_size:
            said = inflate.decompress(rest, PIECE)
            rest = inflate.unconsumed_tail
            if not said:
                break  # more is needed
            size += len(said)
    return inflate.eof and size == member.file_size


def _check_sizes(members: list[zipfile.ZipInfo], source: str) -> None:
    """Refuse what would grow too large.

    Raises:
        DocumentError: if it would.
    """
    if len(members) > MAX_MEMBERS:
        raise DocumentError(f"{source}: has {len(members)} members, at most {MAX_MEMBERS} are read")
    size = sum(member.file_size for member in members)
    if size > MAX_SIZE:
        raise DocumentError(
            f"{source}: would be {size} bytes when decompressed, at most {MAX_SIZE} are read"
        )
    for member in members:
        large = member.file_size > SMALL_MEMBER
        if large and member.file_size > MAX_RATIO * member.compress_size:
            raise DocumentError(
                f"{source}: {member.filename!r} is compressed more than {MAX_RATIO} times:"
                " a zip bomb?"
            )


def is_on(stated: str | None, default: bool) -> bool:
    """What an attribute says that is on or off; the default where it is missing."""
    return default if stated is None else stated not in ("0", "false", "off")


def day(changed: datetime.datetime | None) -> str | None:
    """The day of a file's last change, where it names one."""
    return changed.date().isoformat() if changed is not None else None
