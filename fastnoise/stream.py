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
BATCH_BYTES: Final = 256  # sixteen blocks, which are computed together
ADDRESSED: Final = "address the rows, with stream.at(row), rows= or the key of a plan"


class InsecureStreamWarning(UserWarning):
    """Noise from a seed can be recomputed by anyone who guesses the seed."""


class _Process:
    """This process: another object after a fork, whatever the process ids."""

    def __init__(self) -> None:
        self.id = os.getpid()


_process = _Process()


def _this_process() -> _Process:
    """A fork that Python has not seen, by C code, shows in the process id."""
    global _process
    if _process.id != os.getpid():
        _process = _Process()
    return _process


def _after_fork() -> None:
    global _process
    _process = _Process()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Stream:
    """Noise that repeats: rows of noise addressed by position, from a seed.

    Perturbing *changed* data at the same key, mechanism and rows gives the change away exactly.

    `Stream(seed)`, with an int, bytes or str, is for tests and simulation: a seed can be guessed,
    and `perturb` says so once (`InsecureStreamWarning`). `Stream.from_key(key)` is private and
    repeatable. `sample` and `perturb` use up the rows from `position` on; threads may share a
    stream, each call reserves its own rows.

    A stream that has travelled, because it was pickled, copied or carried over a fork, does not
    know which rows are used elsewhere. It never hands out its next rows, and nor do its children:
    address them, with `stream.at(row)` or `rows=`. Two workers that are given the same address get
    the same noise.

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
        key = hmac.digest(salt, _tagged("seed", seed), "sha256")
        self._start(key, 0, warned=[], home=_this_process())

    @classmethod
    def from_key(cls, key: bytes) -> Stream:
        """A private stream from 32 secret bytes, say `secrets.token_bytes(32)`.

        Perturbing *changed* data at the same key, mechanism and rows gives the change away exactly:
        one value, one release.

        >>> import fastnoise as fn
        >>> fn.Stream.from_key(bytes(32)).keystream(4).hex()
        'dc95c078'
        """
        if not isinstance(key, bytes | bytearray):
            raise TypeError(f"key must be {KEY_BYTES} secret bytes, not {type(key).__name__}")
        if len(key) != KEY_BYTES:  # never show what may be a key
            raise ValueError(f"key must be {KEY_BYTES} secret bytes, not {len(key)}")
        return _stream(bytes(key), 0, warned=None, home=_this_process())

    def _start(
        self,
        key: bytes,
        position: int,
        warned: list[bool] | None,
        home: _Process | None,
        is_view: bool = False,
    ) -> None:
        self._key, self._position, self._used = key, position, False
        # The process that may advance this stream; none if it has left that, or came from one.
        self._home = home
        self._is_view = is_view
        # For a seed, shared with its views and children: not empty once `perturb` has warned.
        self._warned = warned
        self._lock = threading.Lock()

    def at(self, row: int) -> Stream:
        """A view of the same noise at absolute row `row`, which advances on its own.

        A view that has not been used may travel to another process. There, and as a copy, it serves
        one call; so does a view of a stream that has travelled. Two workers that are given views at
        the same row get the same noise.
        """
        first = whole("row", row, 0, ROWS)
        return _stream(self._key, first, self._warned, self._home_now(), is_view=True)

    def child(self, name: int | str | bytes) -> Stream:
        """An independent stream; `child(1)` and `child("1")` differ.

        The child of a stream that has travelled has travelled.
        """
        return self._derived(_tagged("child", name))

    def _derived(self, info: bytes) -> Stream:
        return _stream(_expand(self._key, info), 0, self._warned, self._home_now())

    def _home_now(self) -> _Process | None:
        return self._home if self._home is _this_process() else None

    @property
    def _has_travelled(self) -> bool:
        return self._home_now() is None

    @property
    def position(self) -> int:
        """The next row that `sample` or `perturb` will use."""
        return self._position

    def keystream(self, nbytes: int) -> bytes:
        """The first `nbytes` of AES-256 in counter mode under the stream's own key, for audit.

        What `openssl enc -aes-256-ctr` makes of zeros, the counter from 0. Noise never comes from
        this key itself but from keys derived from it.
        """
        from fastnoise.bits import fill_keystream

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

    def _noise_key(self, identity: bytes) -> bytes:
        """The key of the noise of that identity (`fastnoise.identity`)."""
        return _expand(self._key, b"noise:" + identity)

    def _reserve(self, rows: int) -> int:
        """Take the next `rows` rows, for good; where they start."""
        if self._has_travelled:
            first = self._checked(rows)
            self._spend()
            return first
        with self._lock:
            first = self._checked(rows)
            self._position, self._used = first + rows, True
        return first

    def _checked(self, rows: int) -> int:
        first = self._position
        if first + rows > ROWS:
            raise ValueError(f"stream has no {rows} rows left after row {first} (of 2**63)")
        return first

    def _spend(self) -> None:
        """The one call of a view that has travelled.

        Its lock is taken and kept: a fork may have happened while a thread of the parent held it.
        """
        if not self._is_view:
            self._refuse_travelled()
        if self._used or not self._lock.acquire(blocking=False):
            raise RuntimeError(
                "this view was pickled, copied or carried over a fork, or is of a stream that was, "
                f"and has served its one call: {ADDRESSED}"
            )
        self._used = True

    def _refuse_travelled(self) -> None:
        if self._has_travelled:
            raise RuntimeError(
                "this stream was pickled, copied or carried over a fork, or belongs to one that "
                f"was, and its next rows may be used elsewhere: {ADDRESSED}"
            )

    def _warn_of_seed(self, stacklevel: int = 4) -> None:
        if self._warned == []:
            message = (
                "noise from Stream(seed) protects nobody once the seed is guessed; for real data "
                "pass no stream, or Stream.from_key(secrets.token_bytes(32))"
            )
            warnings.warn(message, InsecureStreamWarning, stacklevel=stacklevel)
            self._warned.append(True)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_view and self._used:
            raise TypeError(
                "a view that has been used cannot be pickled or copied, or two owners would draw "
                f"the same rows: {ADDRESSED}"
            )
        return _stream, (self._key, self._position, self._warned, None, self._is_view)

    def __repr__(self) -> str:
        kind = "a secret key" if self._warned is None else "a seed"
        if self._has_travelled and not self._is_view:
            return f"<fastnoise.Stream of {kind}, addressed only>"
        return f"<fastnoise.Stream of {kind} at row {self._position}>"


def _stream(
    key: bytes,
    position: int,
    warned: list[bool] | None,
    home: _Process | None,
    is_view: bool = False,
) -> Stream:
    stream = Stream.__new__(Stream)
    stream._start(key, position, warned, home, is_view)
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
