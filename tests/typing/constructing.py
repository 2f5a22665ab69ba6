"""For type checkers: constructors take keywords with the types of the schema, and ask for what it requires."""

from __future__ import annotations

from types import ModuleType
from typing import Literal, assert_type

import dsh_protocol
from dsh_protocol import InitializeParams, SessionPromptParams, TextBlock, revision, v0_1_5, v0_2_1
from dsh_protocol.v0_1_5.content import ImageAttachmentRef
from dsh_protocol.v0_1_5.content import TextBlock as TextBlockOfItsModule
from dsh_protocol.v0_2_1.content import TextBlock as NewTextBlock

# The root has the names of the head; a subpackage has those of its revision

assert_type(TextBlock(text="hello"), TextBlockOfItsModule)
assert_type(v0_1_5.TextBlock(text="hello"), TextBlockOfItsModule)
assert_type(v0_2_1.TextBlock(text="hello"), NewTextBlock)
assert_type(dsh_protocol.REVISIONS, tuple[str, ...])
assert_type(revision("0.2.1"), ModuleType)

# What constructors take

block = TextBlock(text="hello")
assert_type(block.type, Literal["text"])
SessionPromptParams(session_id="s", content_blocks=[block])
SessionPromptParams(session_id="s", content_blocks=[block], extra={"x-new": 1})
ImageAttachmentRef(attachment_id="a", media_type="image/png", bytes_=1, width=1, height=1, name=None)

# What they refuse

TextBlock()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
TextBlock("hello")  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
TextBlock(text=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
TextBlock(text="hello", type="image")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
TextBlock(text="hello", txet="hello")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
InitializeParams(cwd="/", provider="p")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ImageAttachmentRef(attachment_id="a", media_type="image/bmp", bytes_=1, width=1, height=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
SessionPromptParams(session_id="s", content_blocks=[NewTextBlock(text="hello")])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
_ = block.missing  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
block.missing = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
block.type = "image"  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
