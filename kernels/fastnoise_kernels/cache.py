"""Where compiled kernels are kept: a user folder, keyed by a digest of every kernel source.

Numba's own cache knows only the file a function stands in, so an upgrade that changes a helper
would go on running the old noise. Here a changed byte in any kernel source is another folder. A
folder that cannot be written is read if it can be, and otherwise done without; never an error.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache


@functools.cache
def sources_digest() -> str:
    digest = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(f"\n{source.name}\n".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:24]


def cache_folder() -> Path | None:
    """This build's folder: below $FASTNOISE_CACHE_DIR, or the platform's place for caches."""
    chosen = os.environ.get("FASTNOISE_CACHE_DIR")
    try:
        root = Path(chosen) if chosen else _user_caches() / "fastnoise"
    except RuntimeError:  # no home directory
        return None
    return root / sources_digest()


def _user_caches() -> Path:
    if sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        return Path(os.environ["LOCALAPPDATA"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def kernel_cache(function: Any) -> Any:
    """The cache of one kernel; one that keeps nothing where there is no folder for it."""
    folder = cache_folder()
    return NullCache() if folder is None else _KernelCache(function, folder)


class _Locator:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return sources_digest()

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    def __init__(self, function: Any, folder: Path) -> None:
        self._locator = _Locator(folder)
        self._lineno = function.__code__.co_firstlineno
        python = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        self._filename_base = f"{function.__module__}.{function.__qualname__}.{python}"


class _KernelCache(FunctionCache):  # type: ignore[misc]
    def __init__(self, function: Any, folder: Path) -> None:
        self._impl_class = functools.partial(_CacheImpl, folder=folder)
        super().__init__(function)

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        # The digest stands for the code; the magic tuple for the processor and its features.
        return signature, codegen.magic_tuple(), sources_digest()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(signature, target_context)
        except Exception:  # unreadable, truncated, from another build: compile instead
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            try:
                super().save_overload(signature, data)
            except (pickle.UnpicklingError, EOFError):  # a damaged index: begin a new one
                self.flush()
                super().save_overload(signature, data)
