"""Streams: keys, children, positions. Noise is a pure function of (key, mechanism, row)."""

from __future__ import annotations

import hmac
import io
import os
import threading
import warnings
from typing import Any, Final

import numpy as np

from fastnoise.validation import refusal, whole

ROWS: Final = 1 << 63  # rows that can be addressed
KEY_BYTES: Final = 32
BATCH_BYTES: Final = 1024  # sixteen blocks, which are computed together


class InsecureStreamWarning(UserWarning):
    """Noise from a seed can be recomputed by anyone who guesses the seed."""


class Stream:
    """Noise that repeats: rows of noise addressed by position, from a seed.

    Perturbing *changed* data at the same key, mechanism and rows gives the change away exactly.

    `Stream(seed)`, with an int, bytes or str, is for tests and simulation: a seed can be guessed,
    and `perturb` says so once (`InsecureStreamWarning`). `Stream.from_key(key)` is private and
    repeatable. `sample` and `perturb` use up the rows from `position` on; threads may share a
    stream, each call reserves its own rows.

    >>> import fastnoise as fn
    >>> noise = fn.Staircase(epsilon=1.0)
    >>> stream = fn.Stream(7)
    >>> all(noise.sample(3, stream=stream) == noise.sample(3, stream=stream.at(0)))
    True
    >>> stream
    <fastnoise.Stream of a seed at row 3>
    """

    def __init__(self, seed: int | bytes | str) -> None:
        salt = b"fastnoise seed, not secret"
        self._key = hmac.digest(salt, _tagged("seed", seed), "sha256")
        self._start(0, warned=[], owner=os.getpid())

    @classmethod
    def from_key(cls, key: bytes) -> Stream:
        """A private stream from 32 secret bytes, say `secrets.token_bytes(32)`.

        Perturbing *changed* data at the same key, mechanism and rows gives the change away exactly:
        one value, one release.

        >>> import fastnoise as fn
        >>> fn.Stream.from_key(bytes(32)).keystream(4).hex()
        '76b8e0ad'
        """
        if not isinstance(key, bytes | bytearray):
            raise TypeError(f"key must be {KEY_BYTES} secret bytes, not {type(key).__name__}")
        if len(key) != KEY_BYTES:  # never show what may be a key
            raise ValueError(f"key must be {KEY_BYTES} secret bytes, not {len(key)}")
        return _stream(bytes(key), 0, warned=None, owner=os.getpid())

    def _start(self, position: int, warned: list[bool] | None, owner: int | None) -> None:
        self._position, self._advanced = position, False
        # The process that may advance this stream. A view, a child or an unpickled stream says
        # itself where it stands, so it belongs to the first process that advances it.
        self._owner = owner
        # For a seed, shared with its views and children: not empty once `perturb` has warned.
        self._warned = warned
        self._lock = threading.Lock()

    def at(self, row: int) -> Stream:
        """A view of the same noise at absolute row `row`, which advances on its own."""
        return _stream(self._key, whole("row", row, 0, ROWS), self._warned)

    def child(self, name: int | str | bytes) -> Stream:
        """An independent stream; `child(1)` and `child("1")` differ."""
        return _stream(_expand(self._key, _tagged("child", name)), 0, self._warned)

    @property
    def position(self) -> int:
        """The next row that `sample` or `perturb` will use."""
        return self._position

    def keystream(self, nbytes: int) -> bytes:
        """The first `nbytes` of raw ChaCha20 under the stream's own key, for audit.

        Standard order: 64-bit block counter from 0 in words 12 and 13, nonce 0 in 14 and 15. Noise
        never comes from this key itself but from keys derived from it.
        """
        from fastnoise.engine import fill_keystream

        nbytes = whole("nbytes", nbytes, 0, ROWS)
        batches = -(-nbytes // BATCH_BYTES)
        if batches == 0:
            return b""
        # The kernel writes where the bytes will stay: one pass over memory, and no copy.
        room = io.BytesIO(bytes(batches * BATCH_BYTES))
        with room.getbuffer() as memory:
            words = np.frombuffer(memory, "<u4")
            fill_keystream(self._key, words)
            del words
        room.truncate(nbytes)
        return room.getvalue()

    def _noise_key(self, purpose: str) -> bytes:
        """The key of one mechanism on one grid: two mechanisms never share noise."""
        return _expand(self._key, _tagged("noise", purpose))

    def _reserve(self, rows: int) -> int:
        """Take the next `rows` rows, for good; where they start."""
        if self._owner not in (None, os.getpid()):
            raise RuntimeError(
                "this stream belongs to the parent process, which may use the same rows: "
                "in a forked child, pass stream.at(row), stream.child(name) or rows="
            )
        with self._lock:
            first = self._position
            if first + rows > ROWS:
                raise ValueError(f"stream has no {rows} rows left after row {first} (of 2**63)")
            self._position, self._owner, self._advanced = first + rows, os.getpid(), True
        return first

    def _warn_of_seed(self, stacklevel: int = 4) -> None:
        if self._warned == []:
            message = (
                "noise from Stream(seed) protects nobody once the seed is guessed; for real data "
                "pass no stream, or Stream.from_key(secrets.token_bytes(32))"
            )
            warnings.warn(message, InsecureStreamWarning, stacklevel=stacklevel)
            self._warned.append(True)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._advanced:
            raise TypeError(
                "a stream that has advanced cannot be pickled or copied, or two owners would draw "
                "the same rows: pass stream.at(row), stream.child(name) or rows="
            )
        return _stream, (self._key, self._position, self._warned)

    def __repr__(self) -> str:
        kind = "a secret key" if self._warned is None else "a seed"
        return f"<fastnoise.Stream of {kind} at row {self._position}>"


def _stream(
    key: bytes, position: int, warned: list[bool] | None, owner: int | None = None
) -> Stream:
    stream = Stream.__new__(Stream)
    stream._key = key
    stream._start(position, warned, owner)
    return stream


def _expand(key: bytes, info: bytes) -> bytes:
    """HKDF-Expand of RFC 5869, one block of SHA-256."""
    return hmac.digest(key, info + b"\x01", "sha256")


def _tagged(purpose: str, name: int | bytes | str) -> bytes:
    """A name with its purpose and type: no two of them give the same bytes."""
    if isinstance(name, bytes):
        return f"{purpose}:bytes:".encode() + name
    if isinstance(name, str):
        return f"{purpose}:str:{name}".encode("utf-8", "surrogatepass")
    if isinstance(name, bool) or not hasattr(name, "__index__"):
        raise TypeError(refusal(purpose, name, "an int, bytes or str"))
    return f"{purpose}:int:{name.__index__()}".encode()
