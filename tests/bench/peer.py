"""The peer that all contenders talk to: fast, and the same for all. A script of its own; it imports nothing of the project.

    peer.py FRAMING [FRAME COUNT SIZE]

FRAMING is `lines` or `headers` (Content-Length). Each request is answered with an empty object. A FRAME is sent once before the
first answer, for everybody to warm up, and COUNT times before the second. Then `@` in it becomes about SIZE bytes: of prose up
to a page, of one letter beyond that, as in the base64 that long lines are made of.
"""

from __future__ import annotations

import os
import re
import sys

READ_SIZE = 64 * 1024
BATCH = 64 * 1024
PAGE = 4096
PROSE = r"Mostly words, a \"quote\" and a line\n; 一些中文 🎉 "
ID = re.compile(rb'"id": ?("[^"]*"|\d+)')
LENGTH = re.compile(rb"Content-Length: (\d+)\r\n", re.IGNORECASE)


def main() -> None:
    framing, *flood = sys.argv[1:]
    split, pack = (split_lines, pack_line) if framing == "lines" else (split_messages, pack_message)
    rest, requests = b"", 0
    while data := os.read(0, READ_SIZE):
        messages, rest = split(rest + data)
        answers = []
        for message in messages:
            ident = ID.search(message)
            if ident is None:
                continue
            requests += 1
            if requests <= 2 and flood:
                frame, count, size = (flood[0], 1, 0) if requests == 1 else (flood[0], int(flood[1]), int(flood[2]))
                text = "x" * size if size > PAGE else PROSE * (size // len(PROSE.encode()))
                send(pack(frame.replace("@", text).encode()), count)
            answers.append(pack(b'{"jsonrpc":"2.0","id":%s,"result":{}}' % ident[1]))
        write(b"".join(answers))


def send(frame: bytes, count: int) -> None:
    """Write the frame that many times, many at once."""
    per_write = max(1, BATCH // len(frame))
    batch = frame * per_write
    for _ in range(count // per_write):
        write(batch)
    write(frame * (count % per_write))


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def split_lines(data: bytes) -> tuple[list[bytes], bytes]:
    *lines, rest = data.split(b"\n")
    return lines, rest


def pack_line(message: bytes) -> bytes:
    return message + b"\n"


def split_messages(data: bytes) -> tuple[list[bytes], bytes]:
    messages = []
    while (end := data.find(b"\r\n\r\n")) >= 0:
        length = LENGTH.search(data, 0, end + 2)
        assert length is not None
        whole = end + 4 + int(length[1])
        if len(data) < whole:
            break
        messages.append(data[end + 4 : whole])
        data = data[whole:]
    return messages, data


def pack_message(message: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(message) + message


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the contender has seen enough
        os._exit(0)
