"""The digests of every family of laws on an emulated ARM64, with and without AES instructions.

`make arm`, or `python tests/arm64.py FOLDER`: needs qemu-aarch64-static (Debian: qemu-user-static),
Debian's apt with arm64 packages (`dpkg --add-architecture arm64 && apt-get update`), and wheels of
numba, numpy and scipy. Says what is missing, and leaves with 0, where they cannot be had.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIGESTS = ROOT / "tests" / "digests.py"
QEMU = "qemu-aarch64-static"
PYTHON = "python3.11"
PACKAGES = [
    *(f"{PYTHON}-minimal", f"lib{PYTHON}-minimal", f"lib{PYTHON}-stdlib"),
    *("libc6", "libgcc-s1", "libstdc++6", "libexpat1", "zlib1g", "libssl3", "libffi8"),
    *("libbz2-1.0", "liblzma5", "libuuid1", "libcrypt1", "libgomp1"),
]
PLATFORMS = ["manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64"]
FEATURES = ("+neon,+aes", "+neon,-aes")


def downloaded(folder: Path) -> Path:
    """A folder with an arm64 Python and the packages that it imports."""
    root, debs, wheels = folder / "root", folder / "debs", folder / "wheels"
    if (root / "done").exists():
        return root
    for one in (root, debs, wheels):
        one.mkdir(parents=True, exist_ok=True)
    names = [f"{package}:arm64" for package in PACKAGES]
    subprocess.run(["apt-get", "download", "-q", *names], check=True, cwd=debs)
    for deb in debs.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    options = ["--only-binary=:all:", "--python-version=311", f"--dest={wheels}"]
    command = [sys.executable, "-m", "pip", "download", "-q", *platforms, *options]
    subprocess.run([*command, "numba", "numpy", "scipy"], check=True)
    for wheel in wheels.glob("*.whl"):
        shutil.unpack_archive(wheel, root / "site", "zip")
    (root / "done").touch()
    return root


def emulated(root: Path, features: str, families: list[str]) -> dict[str, dict[str, str]]:
    paths = [root / "site", ROOT, ROOT / "kernels"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "FASTNOISE_CACHE_DIR": str(root / f"cache{features}"),
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [QEMU, "-cpu", "max", "-L", root, root / "usr/bin" / PYTHON, DIGESTS, *families]
    return digests_of(command, environment)


def digests_of(command: list[str | Path], environment: dict[str, str]) -> dict[str, dict[str, str]]:
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    made: dict[str, dict[str, str]] = json.loads(done.stdout)
    return made


def main(folder: str, *families: str) -> int:
    missing = [tool for tool in (QEMU, "apt-get", "dpkg-deb") if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {', '.join(missing)}")
        return 0
    try:
        root = downloaded(Path(folder).absolute())
    except subprocess.CalledProcessError as problem:
        print(f"skipped: cannot be had: {' '.join(map(str, problem.cmd))}")
        return 0
    here = digests_of([sys.executable, DIGESTS, *families], dict(os.environ))["digests"]
    different = 0
    for features in FEATURES:
        made = emulated(root, features, list(families))
        wrong = [name for name, digest in made["digests"].items() if digest != here[name]]
        print(f"{features}: {len(here)} digests, different: {', '.join(wrong) or 'none'}")
        different += len(wrong)
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
