"""A store that speaks S3, on the loopback interface, and what reaches it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def store(bucket: str) -> Iterator[Any]:
    """A bucket in a store, as a file system. Processes that are started meanwhile find it by s3:// URLs too."""
    server = pytest.importorskip("moto.server", reason="moto, the store, is not installed")
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    shop = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    shop.start()
    host, port = shop.get_host_and_port()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
            patch.setenv("AWS_ACCESS_KEY_ID", "anybody")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setenv("NO_PROXY", "127.0.0.1")
            s3fs.S3FileSystem.clear_instance_cache()
            files = s3fs.S3FileSystem()
            files.mkdir(bucket)
            yield files
            s3fs.S3FileSystem.clear_instance_cache()
    finally:
        shop.stop()
