"""Images of prompts: encoded blocks go into a store, and references take their place (rules S64-S74)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .images import MEDIA_TYPES, read_header
from .values import ABSENT, received, text_of

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """An image to be stored: its bytes, and whatever was declared to be its media type."""

    data: bytes
    media_type: object


class AttachmentStore(Protocol):
    """Where images go."""

    async def admit(self, uploads: Sequence[Upload]) -> list[dict[str, Any]]:
        """Store the images of one message, all or none, and return their `ImageAttachmentRef` objects in order.

        Raises with the texts of rules S70-S72.
        """
        ...

    async def read(self, attachment_id: str) -> bytes:
        """The bytes of a stored image. Raises `LookupError`."""
        ...


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What a store takes (rule S74). Bytes, pixels, and pixels per side."""

    images: int = 20
    message_bytes: int = 200 * MIB
    image_bytes: int = 20 * MIB
    pixels: int = 64_000_000
    side: int = 8192


class MemoryAttachmentStore:
    """Keeps images in memory, by the hash of their bytes: the same image is kept once."""

    def __init__(self, limits: ImageLimits | None = None) -> None:
        self.limits = limits or ImageLimits()
        self._images: dict[str, bytes] = {}

    async def admit(self, uploads: Sequence[Upload]) -> list[dict[str, Any]]:
        """See `AttachmentStore.admit`."""
        limits = self.limits
        if len(uploads) > limits.images:
            raise ValueError(f"A message may have {limits.images} images at most, not {len(uploads)}.")
        if sum(len(upload.data) for upload in uploads) > limits.message_bytes:
            raise ValueError(f"The images of a message may have {limits.message_bytes} bytes at most.")
        refs = [self._describe(upload) for upload in uploads]
        for upload, ref in zip(uploads, refs, strict=True):
            self._images[ref["attachmentId"]] = upload.data
        return refs

    async def read(self, attachment_id: str) -> bytes:
        """See `AttachmentStore.read`."""
        if attachment_id not in self._images:
            raise LookupError(f'no attachment "{attachment_id}"')
        return self._images[attachment_id]

    def _describe(self, upload: Upload) -> dict[str, Any]:
        if upload.media_type not in MEDIA_TYPES:
            raise ValueError(f"Image type {text_of(upload.media_type)} is not accepted by this deployment.")
        if len(upload.data) > self.limits.image_bytes:
            raise ValueError(f"An image may have {self.limits.image_bytes} bytes at most.")
        header = read_header(upload.data)
        if header is None:
            raise ValueError("Unsupported or malformed image data.")
        if header.media_type != upload.media_type:
            raise ValueError("Declared image type does not match its bytes.")
        if max(header.width, header.height) > self.limits.side or header.width * header.height > self.limits.pixels:
            raise ValueError(
                f"An image may have {self.limits.side} pixels a side and {self.limits.pixels} in all,"
                f" not {header.width} by {header.height}."
            )
        return {
            "attachmentId": f"sha256:{hashlib.sha256(upload.data).hexdigest()}",
            "mediaType": header.media_type,
            "width": header.width,
            "height": header.height,
            "bytes": len(upload.data),
        }


async def admit_images(blocks: list[Any], store: AttachmentStore | None) -> list[Any]:
    """The blocks with every encoded image replaced by a reference to it, the rest as it is (rules S64, S65).

    Raises for the first image that is refused; then nothing is stored (rule S66).
    """
    places = [at for at, block in enumerate(blocks) if _is_encoded_image(block)]
    if not places:
        return blocks
    if store is None:
        raise ValueError("SDK image prompt requires an attachment store")
    uploads = [Upload(_decode(blocks[at]["data"]), blocks[at].get("mimeType", ABSENT)) for at in places]
    admitted = list(blocks)
    for at, ref in zip(places, await store.admit(uploads), strict=True):
        admitted[at] = {"type": "image", "attachment": ref}
    return admitted


def _is_encoded_image(block: Any) -> bool:
    match block:
        case None:
            raise TypeError("Cannot read properties of null (reading 'type')")  # rule S60
        case {"type": "image", "data": _}:
            return True
        case _:
            return False


def _decode(data: object) -> bytes:
    if not isinstance(data, str):
        raise TypeError(f"The first argument must be of type string or an instance of Buffer. Received {received(data)}")
    try:
        image = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        image = b""
    if not image or base64.b64encode(image).decode("ascii") != data:
        raise ValueError("Image upload is not canonical base64.")
    return image
