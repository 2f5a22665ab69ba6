from __future__ import annotations

import base64
from pathlib import Path

import pytest

import dsh_protocol
from dsh_protocol import encode
from dsh_runtime import LocalProtocolError
from dsh_runtime.content import content_blocks, image_block


def test_a_text_becomes_one_block() -> None:
    # rule C27
    assert content_blocks("hi") == [{"type": "text", "text": "hi"}]
    assert content_blocks("") == [{"type": "text", "text": ""}]


def test_blocks_stay_as_they_are() -> None:
    # rules C27, S54
    odd = {"type": "bogus", "x": [1]}
    newer = dsh_protocol.revision("0.2.1").TextBlock(text="b")
    assert content_blocks([dsh_protocol.TextBlock(text="a"), newer, odd, "bare"]) == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        odd,
        "bare",
    ]
    assert content_blocks(iter([])) == []


@pytest.mark.parametrize("prompt", [{"type": "text", "text": "x"}, b"bytes", 5, None, [object()]])
def test_anything_else_is_refused(prompt: object) -> None:
    with pytest.raises(LocalProtocolError, match="content blocks"):
        content_blocks(prompt)  # type: ignore[arg-type]


IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n....",
    "image/jpeg": b"\xff\xd8\xff\xe0....",
    "image/gif": b"GIF89a....",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBPVP8 ",
}


@pytest.mark.parametrize("mime_type", IMAGES)
def test_an_image_is_recognised_by_its_first_bytes(mime_type: str, tmp_path: Path) -> None:
    # rules S64, S69, S71
    data = IMAGES[mime_type]
    path = tmp_path / "picture"
    path.write_bytes(data)
    expected = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime_type}
    assert encode(image_block(data)) == encode(image_block(path)) == encode(image_block(str(path))) == expected


def test_an_unknown_image_needs_its_type() -> None:
    with pytest.raises(LocalProtocolError, match="mime_type"):
        image_block(b"RIFF....AVI ")
    assert image_block(b"RIFF....AVI ", "image/webp").mime_type == "image/webp"
    with pytest.raises(FileNotFoundError):
        image_block("/nowhere/x.png")
