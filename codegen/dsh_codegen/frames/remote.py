"""Files of other machines by their URL, as far as fsspec knows them: s3://, gs://, abfs://, https://, sftp://, ..."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from ..markup.text import harmless
from .arguments import PACKED, SUFFIXES, Opener, natural
from .heads import InputError
from .ranges import Ranges, Stored, as_os_error

_ENDINGS: Final = tuple(suffix + packed for suffix in SUFFIXES for packed in PACKED)
_MAGIC: Final = re.compile(r"[*?\[]")
_NEEDED: Final = "reading from a URL needs the extra: pip install 'dsh-protocol[dask]'"


def opener() -> Opener:
    """What opens URLs. It can be pickled: every process connects by itself. Raises `InputError` if fsspec is missing."""
    try:
        importlib.import_module("fsspec")
    except ImportError as error:
        raise InputError(_NEEDED) from error
    return _Remote()


class _Remote:
    """Remembers the sizes that came with lists of files."""

    def __init__(self) -> None:
        self._sizes: dict[str, int | None] = {}

    def __reduce__(self) -> tuple[Callable[[], Opener], tuple[()]]:
        return opener, ()

    def expand(self, pattern: str) -> list[str]:
        """The URLs of the files that a URL means, in natural order; of a folder those that look like logs, at least one.

        Raises `InputError` for what can't be reached.
        """
        with _as_input_error(pattern):
            filesystem, path = _filesystem(pattern)
            try:
                info = filesystem.info(path)
            except FileNotFoundError:
                found = _globbed(filesystem, path)
            else:
                if info["type"] != "directory":
                    self._sizes[pattern] = _size(info)
                    return [pattern]
                found = _below(filesystem, path)
                if not found:
                    raise InputError(
                        f"{harmless(pattern)}: there is no log in this folder, nothing that ends in {SUFFIXES[0]}, say"
                    )
        given = pattern.rstrip("/")
        begin = given.removesuffix(path) if given.endswith(path) else None  # the protocol, the server and the like
        urls = {filesystem.unstrip_protocol(each) if begin is None else begin + each: info for each, info in found.items()}
        self._sizes.update((url, _size(info)) for url, info in urls.items())
        return sorted(urls, key=natural)

    def size(self, url: str) -> int | None:
        """Bytes of a file; None if that can't be told, or if it can't be read in parts. Raises `InputError`."""
        if url not in self._sizes:
            with _as_input_error(url):
                filesystem, path = _filesystem(url)
                self._sizes[url] = _size(filesystem.info(path))
        return self._sizes[url]

    def open(self, url: str, stop: int | None = None) -> BinaryIO:
        """Opens a file. What lies before byte `stop` will be read, so it is asked for early.

        Raises `OSError` with a reason, here and on reading; `InputError` if a package is missing.
        """
        size = self._sizes.get(url)
        with as_os_error(url):
            filesystem, path = _filesystem(url)
            if stop is None and size is None:
                size = self._sizes[url] = _size(filesystem.info(path))
                if size is None:
                    return cast(BinaryIO, filesystem.open(path, "rb"))
        return cast(BinaryIO, Ranges(Stored(filesystem, path, url), size, stop or 0))


def _filesystem(url: str) -> tuple[Any, str]:
    """What knows the files of a URL, and what it calls this one. Raises `InputError` if a package is missing."""
    core: Any = importlib.import_module("fsspec.core")
    try:
        return cast("tuple[Any, str]", core.url_to_fs(url))
    except ImportError as error:
        extra = " (pip install 'dsh-protocol[s3]')" if url.startswith(("s3:", "s3a:")) else ""
        raise InputError(f"{harmless(url)}: a package is missing: {harmless(str(error))}{extra}") from error


def _globbed(filesystem: Any, pattern: str) -> dict[str, Any]:
    """The files that match a pattern; hidden ones only if it says so."""
    if not _MAGIC.search(pattern):
        return {}
    try:
        found = filesystem.glob(pattern, detail=True)
    except FileNotFoundError:
        return {}
    return {path: info for path, info in found.items() if info["type"] == "file" and ("/." in pattern or "/." not in path)}


def _below(filesystem: Any, folder: str) -> dict[str, Any]:
    """The logs in a folder and below."""
    return {
        path: info
        for path, info in filesystem.find(folder, detail=True).items()
        if path.lower().endswith(_ENDINGS) and "/." not in path.removeprefix(folder)
    }


def _size(info: Any) -> int | None:
    return None if info.get("partial") is False else info.get("size")


@contextmanager
def _as_input_error(url: str) -> Generator[None]:
    try:
        with as_os_error(url):
            yield
    except OSError as error:
        raise InputError(f"{harmless(url)}: {error.strerror}") from error
