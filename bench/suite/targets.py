"""Processors that this one can stand in for: what numba is told to compile for.

Features are named one by one, since kernels ask for those: of a name alone, numba knows none.
"""

from __future__ import annotations

from llvmlite.binding import get_host_cpu_features

AVX2 = [
    "sse3",
    "ssse3",
    "sse4.1",
    "sse4.2",
    "popcnt",
    "avx",
    "avx2",
    "fma",
    "bmi",
    "bmi2",
    "f16c",
    "lzcnt",
    "movbe",
    "aes",
]
# name: (LLVM's processor, features); nothing is what this one is
TARGETS: dict[str, tuple[str, list[str]]] = {
    "this processor": ("", []),
    "AVX2, VAES": ("haswell", [*AVX2, "vaes"]),
    "AVX2, AES-NI": ("haswell", AVX2),
    "SSE2": ("generic", []),
}


def environment(target: str) -> dict[str, str]:
    """Variables for a process that compiles for it."""
    name, features = TARGETS[target]
    if not name:
        return {}
    listed = ",".join(f"+{feature}" for feature in features)
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": listed}


def runs_here(target: str) -> bool:
    name, features = TARGETS[target]
    has = get_host_cpu_features()
    return not name or ("sse2" in has and all(has.get(feature) for feature in features))
