"""Images in prompts: headers, limits, refusals, and references in their place."""

from __future__ import annotations

import base64
import hashlib
import struct
from typing import Any, Final

import pytest

from dsh_runtime.embedded import EmbeddedHost
from dsh_runtime.server import ImageLimits, MemoryAttachmentStore, Upload
from dsh_runtime.server.images import read_header
from tests.runtime.server.peer import Peer, asynchronous, findings

PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 7, 9) + b"\x08\x02\x00\x00\x00"
GIF: Final = b"GIF89a" + struct.pack("<HH", 3, 4) + b"\x00\x00\x00"
JPEG: Final = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", 6, 5) + b"\x03"
WEBP_LOSSY: Final = b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 11, 12)
WEBP_LOSSLESS: Final = b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", 12 | 13 << 14)
WEBP_EXTENDED: Final = b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x0e\x00\x00\x0f\x00\x00"

HEADERS: Final = {
    "png": (PNG, "image/png", 7, 9),
    "gif": (GIF, "image/gif", 3, 4),
    "jpeg": (JPEG, "image/jpeg", 5, 6),
    "webp lossy": (WEBP_LOSSY, "image/webp", 11, 12),
    "webp lossless": (WEBP_LOSSLESS, "image/webp", 13, 14),
    "webp extended": (WEBP_EXTENDED, "image/webp", 15, 16),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_is_read_and_a_cut_one_is_none(name: str) -> None:
    data, media_type, width, height = HEADERS[name]
    header = read_header(data)
    assert header is not None
    assert (header.media_type, header.width, header.height) == (media_type, width, height)
    for length in range(len(data) - 5):
        cut = read_header(data[:length])
        assert cut is None or cut == header


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b"II*\x00", b"\xff\xd8\xff\xd9", b"\xff\xd8\x00", GIF[:6] + b"\x00" * 4, b"RIFF\x00\x00\x00\x00WEBPXXXX"],
)
def test_what_is_no_image(data: bytes) -> None:
    assert read_header(data) is None


def encoded(data: bytes | str, **members: Any) -> dict[str, Any]:
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    return {"type": "image", "data": text, "mimeType": "image/png", **members}


@asynchronous
async def test_s64_s65_references_take_the_place_of_images() -> None:
    async with Peer() as peer:
        await peer.initialize()
        text = {"type": "text", "text": "look"}
        blocks = [encoded(PNG, attachment={"any": 1}), text, encoded(GIF, mimeType="image/gif"), {"type": "image", "url": "x"}]
        await peer.request("session/prompt", {"sessionId": "s", "contentBlocks": blocks})
        await peer.until(lambda: peer.count("idle", "s"))
        content = peer.events("s", "user/message")[0]["data"]["content"]
        ident = f"sha256:{hashlib.sha256(PNG).hexdigest()}"
        attachment = {"attachmentId": ident, "mediaType": "image/png", "width": 7, "height": 9, "bytes": len(PNG)}
        assert content[0] == {"type": "image", "attachment": attachment}
        assert content[1] == text
        assert content[2]["attachment"]["mediaType"] == "image/gif"
        assert content[3] == {"type": "image", "url": "x"}
        assert await peer.host.attachments.read(ident) == PNG
        with pytest.raises(LookupError, match='no attachment "x"'):
            await peer.host.attachments.read("x")
        assert not findings(peer.notifications(), "0.1.5")


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (encoded(""), "Image upload is not canonical base64."),  # S69
        (encoded("!!!not base64!!!"), "Image upload is not canonical base64."),
        (encoded("aGVsbG8"), "Image upload is not canonical base64."),
        (encoded("aGVsbG9="), "Image upload is not canonical base64."),  # its last bits are not zero
        (encoded("aGVs\nbG8="), "Image upload is not canonical base64."),
        (encoded("-_-_"), "Image upload is not canonical base64."),
        (encoded("\u4f60"), "Image upload is not canonical base64."),
        ({"type": "image", "data": encoded(PNG)["data"]}, "Image type undefined is not accepted by this deployment."),  # S70
        (encoded(PNG, mimeType="image/tiff"), "Image type image/tiff is not accepted by this deployment."),
        (encoded(PNG, mimeType=None), "Image type null is not accepted by this deployment."),
        (encoded(PNG, mimeType="image/gif"), "Declared image type does not match its bytes."),  # S71
        (encoded(b"hello"), "Unsupported or malformed image data."),  # S72
        (
            {"type": "image", "data": 5, "mimeType": "image/png"},  # S73
            "The first argument must be of type string or an instance of Buffer. Received type number (5)",
        ),
    ],
)
def test_s66_s69_to_s73_a_refused_image_refuses_the_prompt(block: dict[str, Any], text: str) -> None:
    @asynchronous
    async def scenario() -> None:
        async with Peer() as peer:
            await peer.initialize()
            params = {"sessionId": "s", "contentBlocks": [encoded(PNG), block]}
            assert await peer.refusal("session/prompt", params) == text
            assert not peer.events("s", "agent/inbox/spliced")
            with pytest.raises(LookupError):
                await peer.host.attachments.read(f"sha256:{hashlib.sha256(PNG).hexdigest()}")  # all or none

    scenario()


@asynchronous
async def test_s68_a_host_without_a_store() -> None:
    host: Any = EmbeddedHost()
    host.attachments = None
    async with Peer(host) as peer:
        await peer.initialize()
        params = {"sessionId": "s", "contentBlocks": [encoded(PNG)]}
        assert await peer.refusal("session/prompt", params) == "SDK image prompt requires an attachment store"
        assert await peer.run("without an image")


@asynchronous
async def test_s75_the_older_revision_has_no_encoded_images() -> None:
    async with Peer(revision="2026-07-29") as peer:
        await peer.initialize()
        await peer.request("session/prompt", {"sessionId": "s", "contentBlocks": [encoded("!")]})
        assert peer.events("s", "user/message")[0]["data"]["content"] == [encoded("!")]


def test_s74_the_limits() -> None:
    assert MemoryAttachmentStore().limits == ImageLimits(20, 209715200, 20971520, 64_000_000, 8192)

    def big(width: int, height: int) -> bytes:
        return PNG[:16] + struct.pack(">II", width, height)

    @asynchronous
    async def scenario() -> None:
        store = MemoryAttachmentStore(ImageLimits(images=2, message_bytes=100, image_bytes=60, pixels=1000, side=100))
        for uploads, text in (
            ([PNG] * 3, "2 images at most"),
            ([PNG + b"x" * 30] * 2, "100 bytes at most"),
            ([PNG + b"x" * 60], "60 bytes at most"),
            ([big(101, 1)], "not 101 by 1"),
            ([big(100, 11)], "not 100 by 11"),
        ):
            with pytest.raises(ValueError, match=text):
                await store.admit([Upload(data, "image/png") for data in uploads])
        assert len(await store.admit([Upload(big(100, 10), "image/png")] * 2)) == 2

    scenario()
