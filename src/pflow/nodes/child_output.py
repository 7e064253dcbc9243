"""Hold the output of a child process: its start in memory, and all of it in a file if it is long."""

import asyncio
import contextlib
import os
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NotRequired, TypedDict, cast

from pflow.domain import redaction
from pflow.domain.node import NodeContext
from pflow.errors import NodeFailed
from uraniborg.kernel.boundary import decode_lossless, encode_lossless
from uraniborg.kernel.redaction import redact
from uraniborg.kernel.store.files import make_private_folder

_PIPE: Final = 1 << 20  # the most that a pipe of an ordinary user holds
_WORD: Final = 1 << 12
_TAIL: Final = 1 << 16  # more than is shown of it: a secret is known only as a whole


@dataclass(frozen=True, slots=True)
class ChildOutput:
    """The output. `start` are the first of `size` bytes, `tail` the last; `file` has all if `start` does not."""

    start: bytes
    tail: bytes
    size: int
    file: Path | None = None

    def decode_start(self) -> tuple[str, bool]:
        """Return the start as text; or in base64, and True, if it is not UTF-8."""
        try:
            return self.start.decode(), False
        except UnicodeDecodeError as exc:
            if self.file and len(self.start) - exc.start < 4 and exc.reason == "unexpected end of data":
                return self.start[: exc.start].decode(), False  # cut inside a character
            return b64encode(self.start).decode(), True

    def to_node_outputs(self, name: str, *, strip_newline: bool = False) -> dict[str, str | int]:
        """Return the outputs of a node. The keys about the file are there only if it exists."""
        text, is_binary = self.decode_start()
        if strip_newline and not is_binary and not self.file:
            text = text.rstrip("\n")
        outputs: dict[str, str | int] = {name: text, f"{name}_is_binary": is_binary}
        if self.file:
            outputs |= {f"{name}_file": str(self.file), f"{name}_size": self.size}
        return outputs

    def cut_masked_end(self, context: NodeContext, *, line_count: int = 5, max_characters: int = 600) -> str:
        """Return the last lines of the output, for a message."""
        return redaction.cut_masked_end(
            self.tail.decode(errors="replace"), context, line_count=line_count, max_characters=max_characters
        )


class PrintedOutputs(TypedDict):
    """What a child printed. Output that is not UTF-8 is in base64; that of a long output, in a file, is its start."""

    stdout: str
    stdout_is_binary: bool
    stdout_file: NotRequired[str]
    stdout_size: NotRequired[int]
    stderr: str
    stderr_is_binary: bool
    stderr_file: NotRequired[str]
    stderr_size: NotRequired[int]


def join_outputs(stdout: ChildOutput, stderr: ChildOutput, *, strip_newline: bool = False) -> PrintedOutputs:
    """Return both outputs of a child as outputs of a node."""
    stripped = stdout.to_node_outputs("stdout", strip_newline=strip_newline)
    return cast("PrintedOutputs", {**stripped, **stderr.to_node_outputs("stderr")})


class OutputBudget:
    """The bytes that all outputs of one child together may still take on the disk."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def spend_bytes(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise NodeFailed(
                f"The process was ended because it printed more than {format_size(self._most)}.",
                hint="Let it write to a file, or print less.",
            )


class OutputStream:
    """One output of a child, read from its pipe. Reading never blocks the loop, nor does writing to the disk."""

    def __init__(self, name: str, descriptor: int, folder: Path, most_in_memory: int, allowance: OutputBudget) -> None:
        os.set_blocking(descriptor, False)
        self._name = name
        self._descriptor = descriptor
        self._folder = folder
        self._most = most_in_memory
        self._budget = allowance
        self._start = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._file: Path | None = None
        self._written = -1
        self._writer: ThreadPoolExecutor | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._stopped = False
        self._left = _PIPE

    async def read_to_end(self) -> None:
        """Read to the end, or until `stop_reading`. Raise NodeFailed for too much output or an error of the disk."""
        try:
            while piece := await self._read_piece():
                await self._keep_or_write_piece(piece)
        except OSError as exc:
            raise NodeFailed(
                f"Its {self._name} could not be stored: {exc.strerror or exc}.",
                hint="Free some disk space, or let it print less.",
            ) from exc
        finally:
            os.close(self._descriptor)
            if self._written >= 0:
                os.close(self._written)
            if self._writer:
                self._writer.shutdown(wait=False)

    def stop_reading(self) -> None:
        """Read only the rest that is in the pipe now."""
        self._stopped = True
        self._wake_reader()

    def get_output(self) -> ChildOutput:
        start = bytes(self._start)
        tail = bytes(self._tail[-_TAIL:]) if self._file else start[-_TAIL:]
        return ChildOutput(start, tail, self._size, self._file)

    def delete_file(self) -> None:
        """Remove the file. The start stays in memory."""
        if self._file:
            self._file.unlink(missing_ok=True)
            self._file = None

    async def _read_piece(self) -> bytes:
        while self._left > 0:
            try:
                piece = os.read(self._descriptor, _PIPE)
            except BlockingIOError:
                if self._stopped:
                    return b""
                await self._wait_until_readable()
            else:
                if self._stopped:  # a process that still holds the other end may print for ever
                    self._left -= len(piece)
                return piece
        return b""

    async def _wait_until_readable(self) -> None:
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        loop.add_reader(self._descriptor, self._wake_reader)
        try:
            await self._waiting
        finally:
            loop.remove_reader(self._descriptor)

    def _wake_reader(self) -> None:
        if self._waiting and not self._waiting.done():
            self._waiting.set_result(None)

    async def _keep_or_write_piece(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._most:
            self._start += piece
            return
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, thread_name_prefix="pflow-spool")
            piece = bytes(self._start) + piece
            self._start = bytearray(_cut_before_secret(_cut_at_word(piece[: self._most])))
        self._budget.spend_bytes(len(piece))
        self._tail += piece[-_TAIL:]
        if len(self._tail) > 8 * _TAIL:  # not each time, which would take longer than all the rest
            del self._tail[:-_TAIL]
        await asyncio.get_running_loop().run_in_executor(self._writer, self._append_piece_to_file, piece)

    def _append_piece_to_file(self, piece: bytes) -> None:
        if self._written < 0:
            import tempfile  # little is ever so long

            make_private_folder(self._folder)
            self._written, name = tempfile.mkstemp(prefix=f"{self._name}-", dir=self._folder)
            self._file = Path(name)
            with contextlib.suppress(OSError, ImportError, AttributeError):  # a larger pipe is only faster
                import fcntl

                fcntl.fcntl(self._descriptor, fcntl.F_SETPIPE_SZ, _PIPE)
        left = memoryview(piece)
        while left:
            left = left[os.write(self._written, left) :]


def _cut_at_word(data: bytes) -> bytes:
    """Return the data up to its last white space, if that is near: half of a secret would not be masked."""
    near = max(0, len(data) - _WORD)
    return data[: max(data.rfind(b" ", near), data.rfind(b"\n", near)) + 1] or data


def _cut_before_secret(data: bytes) -> bytes:
    """Return the data without an end that is the beginning of a known secret, which would not be masked."""
    near = max(0, len(data) - _TAIL)
    end = decode_lossless(data[near:])
    return data[:near] + encode_lossless(end[: redact.find_cut_secret(end)])


def format_size(size: int) -> str:
    """Return a number of bytes with its unit."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{f'{size / unit:.1f}'.removesuffix('.0')} {name}"
    return f"{size} bytes"
