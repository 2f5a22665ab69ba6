"""What kind of image some bytes are and how large, read from their header alone: PNG, JPEG, GIF and WebP."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

MEDIA_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")

_FRAME_HEADERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH: Final = frozenset({0x01, *range(0xD0, 0xD8)})


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """A media type, and a size in pixels."""

    media_type: str
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader | None:
    """The header of an image; None if the bytes are none, or one without pixels."""
    try:
        header = _png(data) or _jpeg(data) or _gif(data) or _webp(data)
    except (IndexError, struct.error):  # cut off
        return None
    return header if header is not None and header.width > 0 and header.height > 0 else None


def _png(data: bytes) -> ImageHeader | None:
    if not data.startswith(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"):
        return None
    return ImageHeader("image/png", *struct.unpack_from(">II", data, 16))


def _gif(data: bytes) -> ImageHeader | None:
    if not data.startswith((b"GIF87a", b"GIF89a")):
        return None
    return ImageHeader("image/gif", *struct.unpack_from("<HH", data, 6))


def _jpeg(data: bytes) -> ImageHeader | None:
    if not data.startswith(b"\xff\xd8"):
        return None
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _FRAME_HEADERS:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return ImageHeader("image/jpeg", width, height)
        elif marker in _WITHOUT_LENGTH:
            at += 2
        elif marker in (0xD9, 0xDA):  # the end, or pixels, and no frame header before
            return None
        else:
            at += 2 + max(2, struct.unpack_from(">H", data, at + 2)[0])
    return None


def _webp(data: bytes) -> ImageHeader | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    match data[12:16]:
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            width, height = struct.unpack_from("<HH", data, 26)
            width, height = width & 0x3FFF, height & 0x3FFF
        case b"VP8L" if data[20] == 0x2F:
            bits = struct.unpack_from("<I", data, 21)[0]
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
            if len(data) < 30:
                return None
        case _:
            return None
    return ImageHeader("image/webp", width, height)
