"""What a prompt is made of: text, content blocks, images (rules C27, S64)."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from dsh_protocol import encode

from .errors import LocalProtocolError

if TYPE_CHECKING:
    from dsh_protocol import SdkEncodedImageBlock

Prompt: TypeAlias = str | Iterable[Any]
"""A text, or content blocks: generated dataclasses of any revision, or JSON objects."""

_SIGNATURES: Final[tuple[tuple[str, Callable[[bytes], bool]], ...]] = (
    ("image/png", lambda data: data.startswith(b"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", lambda data: data.startswith(b"\xff\xd8\xff")),
    ("image/gif", lambda data: data.startswith((b"GIF87a", b"GIF89a"))),
    ("image/webp", lambda data: data.startswith(b"RIFF") and data[8:12] == b"WEBP"),
)


def content_blocks(prompt: Prompt) -> list[Any]:
    """The blocks of a prompt as JSON; a text becomes one block, blocks stay as they are (rule C27).

    Raises `LocalProtocolError` for what is neither.
    """
    if isinstance(prompt, str):
        return [{"type": "text", "text": prompt}]
    given: Any = prompt
    if isinstance(given, Mapping | bytes | bytearray) or not hasattr(given, "__iter__"):
        raise LocalProtocolError(f"a prompt is a text or a list of content blocks, not {prompt.__class__.__name__}")
    try:
        return [encode(block) for block in prompt]
    except TypeError as error:
        raise LocalProtocolError(f"a prompt holds content blocks only: {error}") from None


def image_block(image: bytes | str | os.PathLike[str], mime_type: str | None = None) -> SdkEncodedImageBlock:
    """A prompt's image, from its bytes or from the path of a file. Revisions 0.1.5 and later take it (rule S75).

    The media type is recognised by the first bytes (PNG, JPEG, GIF, WebP) unless it is given. Raises `LocalProtocolError` where
    neither is so, and `OSError` for a file that can't be read. The runtime checks the rest (rules S69 to S74).
    """
    from dsh_protocol import SdkEncodedImageBlock

    data = image if isinstance(image, bytes) else Path(image).read_bytes()
    found = mime_type or next((name for name, matches in _SIGNATURES if matches(data)), None)
    if found is None:
        raise LocalProtocolError("the image is no PNG, JPEG, GIF or WebP; if it is an image all the same, pass mime_type")
    return SdkEncodedImageBlock(data=base64.b64encode(data).decode("ascii"), mime_type=cast("Any", found))
