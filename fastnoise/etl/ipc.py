"""Arrow IPC: the file format (Feather) and the stream format, batch by batch."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from fastnoise.columns import arrow
from fastnoise.etl.validity import refuse_invalid

MAGIC = b"ARROW1\0\0"
CONTINUES = b"\xff\xff\xff\xff"  # before the size of a message


class IpcSource:
    def __init__(self, path: Path) -> None:
        self.path, self.is_file = path, _is_file(path)
        self.source = arrow().OSFile(str(path))
        opened = arrow().ipc.open_file if self.is_file else arrow().ipc.open_stream
        self.reader = opened(self.source)
        self.schema, self.rows = self.reader.schema, None
        if not self.is_file:
            _refuse_cut(path)

    def batches(self) -> Iterator[Any]:
        batches = self.reader
        if self.is_file:
            batches = map(self.reader.get_batch, range(self.reader.num_record_batches))
        for batch in batches:
            batch.validate()  # columns of one length
            refuse_invalid(batch)
            yield batch

    def writer(self, sink: BinaryIO, schema: Any, perturbed: Sequence[str]) -> IpcTarget:
        return IpcTarget(sink, schema, self.is_file, compression(self.path, self.is_file))

    def close(self) -> None:
        self.source.close()


class IpcTarget:
    def __init__(self, sink: BinaryIO, schema: Any, is_file: bool, codec: str | None) -> None:
        ipc = arrow().ipc
        made = ipc.new_file if is_file else ipc.new_stream
        self.writer = made(sink, schema, options=ipc.IpcWriteOptions(compression=codec))

    def write(self, batch: Any) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()


def _is_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _refuse_cut(path: Path) -> None:
    """PyArrow takes a stream that ends between two messages for a whole one."""
    with path.open("rb") as file:
        while start := file.read(4):
            if start == CONTINUES:
                start = file.read(4)
            if len(start) < 4 or (size := struct.unpack("<i", start)[0]) < 0:
                break
            if size == 0:
                return
            try:
                message = file.read(size)
                root = struct.unpack_from("<I", message)[0]
                at = _field(message, root, 3)  # bodyLength
                file.seek(struct.unpack_from("<q", message, at)[0] if at else 0, 1)
            except (struct.error, OSError):
                break
    raise ValueError("the stream is damaged or cut off: it has no end-of-stream marker")


def compression(path: Path, is_file: bool) -> str | None:
    """The codec of the first record batch, which PyArrow reads but does not tell."""
    with path.open("rb") as file:
        file.seek(len(MAGIC) if is_file else 0)
        for message in arrow().ipc.MessageReader.open_stream(file):
            if message.type == "record batch":
                return _codec(message.metadata.to_pybytes())
    return None


def _codec(message: bytes) -> str | None:
    """RecordBatch.compression.codec of a flatbuffer Message (Arrow's Message.fbs)."""
    root = struct.unpack_from("<I", message)[0]
    batch = _child(message, root, 2)  # header
    body = batch and _child(message, batch, 3)  # compression
    if not body:
        return None
    at = _field(message, body, 0)  # codec: LZ4_FRAME by default
    return ("lz4", "zstd")[message[at] if at else 0]


def _field(message: bytes, table: int, index: int) -> int:
    """Where a field of a flatbuffer table stands; 0 if it is left out."""
    slots = table - struct.unpack_from("<i", message, table)[0]
    if 4 + 2 * index >= struct.unpack_from("<H", message, slots)[0]:
        return 0
    offset: int = struct.unpack_from("<H", message, slots + 4 + 2 * index)[0]
    return table + offset if offset else 0


def _child(message: bytes, table: int, index: int) -> int:
    at = _field(message, table, index)
    return at + int(struct.unpack_from("<I", message, at)[0]) if at else 0
