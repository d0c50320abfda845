"""Where compiled kernels are kept: a user folder, keyed by a digest of every kernel source.

Numba's own cache knows only the file that defines a function, so an upgrade that changes a helper
would go on running the old noise. Here a changed byte in any kernel source means another folder.

Kernels are kept as pickle and machine code: whoever writes there runs in this process, and one bit
that has flipped may crash it. So a folder is used only if nobody but this user and root can have
written it (see `folders`), and a file only if its checksum is right, before anything is unpickled.
A folder that cannot be written is read if it can be, and otherwise done without; never an error.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from fastnoise_kernels.folders import checked_folder, read_checked, write_whole


@functools.cache
def sources_digest() -> str | None:
    """None if there are no sources, as in a frozen program: nothing would tell versions apart."""
    digest = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__}".encode())
    try:
        sources = dict(_sources(files(__package__), ""))
    except OSError:
        return None
    for name in sorted(sources):
        digest.update(f"\n{name}\n".encode())
        digest.update(sources[name])
    return digest.hexdigest()[:24] if sources else None


def _sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Those in folders below, too; and out of a zip."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{prefix}{entry.name}", entry.read_bytes()


def cache_folder() -> Path | None:
    """This build's folder: below $FASTNOISE_CACHE_DIR, or the platform's place for caches."""
    chosen, digest = os.environ.get("FASTNOISE_CACHE_DIR"), sources_digest()
    try:
        root = Path(chosen) if chosen else _user_caches() / "fastnoise"
    except RuntimeError:  # no home directory
        return None
    return root / digest if digest else None


def _user_caches() -> Path:
    if sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        return Path(os.environ["LOCALAPPDATA"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def where_kept() -> str:
    """The folder that kernels are kept in, or why they are not."""
    folder = cache_folder()
    try:
        return str(checked_folder(folder)) if folder else "nothing is kept: there is no folder"
    except OSError as problem:
        return f"nothing is kept: {problem}"


def kernel_cache(function: Any) -> Any:
    """The cache of one kernel; one that keeps nothing where there is no folder for it."""
    folder = cache_folder()
    return NullCache() if folder is None else _KernelCache(function, folder)


class _KernelCache(NullCache):  # type: ignore[misc]
    """One file per signature and processor: a checksum of what it is and holds, then that.

    Its name is derived from what it is, so there is no index that could be wrong or fought over.
    """

    def __init__(self, function: Any, folder: Path) -> None:
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.folder = folder

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        target_context.refresh()  # what is rebuilt may need any of numba's registries
        identity = self._identity(signature, target_context.codegen())
        try:
            content = read_checked(checked_folder(self.folder) / self._file(identity))
            checksum, payload = content[:CHECKSUM_BYTES], content[CHECKSUM_BYTES:]
            if checksum != _checksum(identity, payload):
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # not there, not readable, not ours, not to be rebuilt: compile instead
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        if data.library.has_dynamic_globals:  # addresses that mean nothing elsewhere
            return
        identity = self._identity(signature, data.codegen)
        payload = dumps(data._reduce())
        with contextlib.suppress(OSError):
            folder = checked_folder(self.folder, create=True)
            write_whole(folder / self._file(identity), _checksum(identity, payload) + payload)

    def _identity(self, signature: Any, codegen: Any) -> bytes:
        """The digest stands for the code; the magic tuple for the processor and its features."""
        python = sys.implementation.cache_tag, getattr(sys, "abiflags", "")
        parts = sources_digest(), self.name, python, signature, codegen.magic_tuple()
        return repr(parts).encode()

    def _file(self, identity: bytes) -> str:
        return f"{self.name}.{hashlib.sha256(identity).hexdigest()[:24]}.kernel"


CHECKSUM_BYTES = hashlib.sha256().digest_size


def _checksum(identity: bytes, payload: bytes) -> bytes:
    """Of both: code of another kernel is damage, too."""
    return hashlib.sha256(hashlib.sha256(identity).digest() + payload).digest()
