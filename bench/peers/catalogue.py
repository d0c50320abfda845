"""Who is compared, and what has to be said beside each time. Imports no peer."""

from __future__ import annotations

from dataclasses import dataclass, replace

LAWS = ("laplace", "staircase", "discrete laplace")
MANY, FEW = 10_000_000, 20_000

FLOAT_SUM = "no: float noise, float sum"
INTEGERS = "yes: integers, though the tail ends early"
OS = "yes: operating system"
PIECES = "in pieces that fit the cache"
BULK = "one call, from an array to a list; exact rationals"
LOOP = "one value a call, from a list to a list"


@dataclass(frozen=True)
class Line:
    """What one peer does for one law; `draws` is the law of its noise, when that is another."""

    peer: str
    law: str
    secure: str
    attack_proof: str
    unfair: str = ""
    values: int = MANY
    threads: tuple[int, ...] = (1, 2)
    draws: str = ""


# What pip installs and what is imported, in this order; numpy and scipy come with fastnoise.
REQUIREMENTS = {
    "numpy": ([], "numpy"),
    "scipy": ([], "scipy"),
    "mkl_random": (["mkl_random"], "mkl_random"),
    "randomgen": (["randomgen"], "randomgen"),
    "opendp": (["opendp"], "opendp"),
    "diffprivlib": (["diffprivlib", "scikit-learn<1.8"], "diffprivlib"),
    "python-dp": (["python-dp"], "pydp"),
}


def package(peer: str) -> str:
    """The package of a peer: "randomgen ChaCha20" is of randomgen."""
    return peer.split()[0]


def _array(peer: str, bits: str, note: str = PIECES) -> list[Line]:
    line = Line(peer, "laplace", bits, FLOAT_SUM, note)
    return [line, replace(line, law="discrete laplace", attack_proof=INTEGERS)]


def _scalar(peer: str, law: str, secure: str, attack_proof: str, unfair: str = LOOP) -> Line:
    return Line(peer, law, secure, attack_proof, unfair, FEW, (1,))


def _ours(law: str) -> list[Line]:
    proof = "yes: exact" if law == "discrete laplace" else "yes: exact, on a grid"
    many = Line("fastnoise", law, "yes: AES-256", proof)
    return [many, replace(many, values=FEW, threads=(1,))]


_NUMPY = _array("numpy", "no: PCG64")
_MKL = _array("mkl_random", "no: SFMT19937")
_SCIPY = _array("scipy", "no: PCG64")

LINES = [
    *(line for law in LAWS for line in _ours(law)),
    *_NUMPY,
    replace(_NUMPY[0], law="staircase", unfair=f"Algorithm 1, {PIECES}"),
    Line("numpy add", "staircase", "no: no noise", "no: no noise", "memory limit", draws="nothing"),
    *_MKL,
    replace(_MKL[0], law="staircase", unfair=f"draws Laplace; {PIECES}", draws="laplace"),
    *_SCIPY,
    *_array("randomgen", "no: SFC64"),
    *_array("randomgen ChaCha20", "yes: ChaCha20, seeded by SeedSequence"),
    _scalar(
        "opendp", "laplace", "yes: OpenSSL", "yes: exact", f"{BULK}, grid of 2**-1074 (default)"
    ),
    _scalar("opendp grid", "laplace", "yes: OpenSSL", "yes: exact", f"{BULK}, grid of 2**-60"),
    _scalar("opendp", "discrete laplace", "yes: OpenSSL", "yes: exact", BULK),
    _scalar("diffprivlib", "laplace", OS, "no: float sum of four uniforms"),
    _scalar("diffprivlib", "staircase", "no: PCG64", FLOAT_SUM),
    _scalar("diffprivlib", "discrete laplace", OS, INTEGERS),
    _scalar("python-dp", "laplace", "yes: SecureURBG", "yes: grid of 2**-40"),
    replace(
        _scalar("python-dp", "discrete laplace", "yes: SecureURBG", "yes: integers"),
        unfair=f"draws Laplace, rounded; {LOOP}",
        draws="rounded laplace",
    ),
]
