"""What a child process prints: the first of it kept in memory, all of it in a file once it is more."""

import asyncio
import contextlib
import fcntl
import os
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes import excerpts
from uraniborg.kernel.files import make_private_folder
from uraniborg.kernel.redaction import redact

_PIPE: Final = 1 << 20  # the most that a pipe of an ordinary user holds
_WORD: Final = 1 << 12
_TAIL: Final = 1 << 16  # more than is shown of it: a secret is known only as a whole


@dataclass(frozen=True, slots=True)
class Printed:
    """`kept` is the first of `size` bytes, `tail` the last of them. Where `kept` is not all, `file` holds all."""

    kept: bytes
    tail: bytes
    size: int
    file: Path | None = None

    def text(self) -> tuple[str, bool]:
        """What was kept as text; or in base64, and True, where it is no UTF-8."""
        try:
            return self.kept.decode(), False
        except UnicodeDecodeError as exc:
            if self.file and len(self.kept) - exc.start < 4 and exc.reason == "unexpected end of data":
                return self.kept[: exc.start].decode(), False  # it was cut within a character
            return b64encode(self.kept).decode(), True

    def outputs(self, name: str, *, strip_newline: bool = False) -> dict[str, Any]:
        """As outputs of a node. What is said of the file is there only if there is one."""
        text, is_binary = self.text()
        if strip_newline and not is_binary and not self.file:
            text = text.rstrip("\n")
        told: dict[str, Any] = {name: text, f"{name}_is_binary": is_binary}
        if self.file:
            told |= {f"{name}_file": str(self.file), f"{name}_size": self.size}
        return told

    def last_lines(self, context: Context, *, count: int = 5, length: int = 600) -> str:
        """How it ended, for a message."""
        return excerpts.last_lines(self.tail.decode(errors="replace"), context, count=count, length=length)


class Allowance:
    """The bytes that all outputs of one child together may still take on the disk."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise NodeFailed(
                f"It printed more than the {in_words(self._most)} that are kept, and was ended.",
                hint="Have it write to a file of its own, or print less.",
            )


class Stream:
    """One output of a child, read from its pipe. Reading never blocks the loop, nor does writing to the disk."""

    def __init__(self, name: str, descriptor: int, folder: Path, kept: int, allowance: Allowance) -> None:
        os.set_blocking(descriptor, False)
        self._name = name
        self._descriptor = descriptor
        self._folder = folder
        self._most = kept
        self._allowance = allowance
        self._kept = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._file: Path | None = None
        self._written = -1
        self._writer: ThreadPoolExecutor | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._stopped = False
        self._left = _PIPE

    async def read(self) -> None:
        """Read to the end, or until told to stop. Raises NodeFailed for too much, or when the disk refuses."""
        try:
            while piece := await self._next():
                await self._take(piece)
        except OSError as exc:
            raise NodeFailed(
                f"Its {self._name} could not be kept: {exc.strerror or exc}.",
                hint="Make room on the disk, or have it print less.",
            ) from exc
        finally:
            os.close(self._descriptor)
            if self._written >= 0:
                os.close(self._written)
            if self._writer:
                self._writer.shutdown(wait=False)

    def stop(self) -> None:
        """Read only what is in the pipe by now."""
        self._stopped = True
        self._wake()

    def printed(self) -> Printed:
        kept = bytes(self._kept)
        tail = bytes(self._tail[-_TAIL:]) if self._file else kept[-_TAIL:]
        return Printed(kept, tail, self._size, self._file)

    def discard(self) -> None:
        """Remove the file. What was kept in memory stays."""
        if self._file:
            self._file.unlink(missing_ok=True)
            self._file = None

    async def _next(self) -> bytes:
        while self._left > 0:
            try:
                piece = os.read(self._descriptor, _PIPE)
            except BlockingIOError:
                if self._stopped:
                    return b""
                await self._readable()
            else:
                if self._stopped:  # whoever still holds the other end may print for ever
                    self._left -= len(piece)
                return piece
        return b""

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        loop.add_reader(self._descriptor, self._wake)
        try:
            await self._waiting
        finally:
            loop.remove_reader(self._descriptor)

    def _wake(self) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    async def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._most:
            self._kept += piece
            return
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, thread_name_prefix="pflow-spool")
            piece = bytes(self._kept) + piece
            self._kept = bytearray(_cut_before_secret(_without_half_a_word(piece[: self._most])))
        self._allowance.take(len(piece))
        self._tail += piece[-_TAIL:]
        if len(self._tail) > 8 * _TAIL:  # not each time, which would take longer than all the rest
            del self._tail[:-_TAIL]
        await asyncio.get_running_loop().run_in_executor(self._writer, self._write, piece)

    def _write(self, piece: bytes) -> None:
        if self._written < 0:
            import tempfile  # little is ever so long

            make_private_folder(self._folder)
            self._written, name = tempfile.mkstemp(prefix=f"{self._name}-", dir=self._folder)
            self._file = Path(name)
            with contextlib.suppress(OSError, AttributeError):  # a larger pipe is only faster
                fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, _PIPE)
        left = memoryview(piece)
        while left:
            left = left[os.write(self._written, left) :]


def _without_half_a_word(data: bytes) -> bytes:
    """Return the data up to its last white space, if that is near: half of a secret would not be masked."""
    near = max(0, len(data) - _WORD)
    return data[: max(data.rfind(b" ", near), data.rfind(b"\n", near)) + 1] or data


def _cut_before_secret(data: bytes) -> bytes:
    """Return the data without an end that is the beginning of a known secret, which would not be masked."""
    near = max(0, len(data) - _TAIL)
    end = data[near:].decode("utf-8", "surrogateescape")
    return data[:near] + end[: redact.unfinished(end)].encode("utf-8", "surrogateescape")


def in_words(size: int) -> str:
    """A number of bytes as people say it."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{f'{size / unit:.1f}'.removesuffix('.0')} {name}"
    return f"{size} bytes"
