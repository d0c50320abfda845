"""What `fastnoise perturb` and `fastnoise receipt` do with their arguments."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from fastnoise_kernels.processors import available
from fastnoise_kernels.threads import set_count

from fastnoise.etl.job import Job, prepare, receipt_of, run
from fastnoise.etl.plan import Plan
from fastnoise.etl.receipt import in_all, page
from fastnoise.progress import Rate
from fastnoise.stream import KEY_BYTES, Stream

LONGEST_KEY = 1 << 10  # bytes, spaces and line ends included


def perturb(options: argparse.Namespace) -> int:
    plan = Plan.load(options.plan)
    stream = None
    if options.key_file is not None:
        if plan.release is None:
            raise ValueError(f"{options.plan}: release is needed with a key file: noise repeats")
        stream = Stream.from_key(_key(Path(options.key_file)))
    _set_threads(options.threads)
    source, target = _path("IN", options.input), _path("OUT", options.output)
    job = prepare(source, target, plan, options.again, stream is not None)
    if not options.dry_run:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _stop)
        started = time.perf_counter()
        with Rate(quiet=options.quiet or options.json) as rate:
            run(job, stream, rate.show)
        seconds = time.perf_counter() - started
    if job.dropped:
        names = ", ".join(map(repr, job.dropped))
        warning = f"warning: metadata that may tell of values without noise is dropped: {names}"
        print(f"fastnoise perturb: {warning}", file=sys.stderr)
    if options.json:
        _say(json.dumps(_summary(job, None if options.dry_run else seconds)))
    elif not options.quiet:
        _say(_dry_page(job) if options.dry_run else _page(job, seconds))
    return 0


def _say(text: str) -> None:
    """The output is there by now: a job that repeats what failed must not repeat this."""
    try:
        print(text, flush=True)
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the rest of it
        told = f"warning: all is done, but the summary cannot be written: {problem}"
        print(f"fastnoise perturb: {told}", file=sys.stderr)


def _path(what: str, name: str) -> Path:
    if not name:
        raise ValueError(f"{what} is an empty name")
    return Path(name)


def receipt(options: argparse.Namespace) -> int:
    path = _path("FILE", options.input)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    found = receipt_of(path)
    print(json.dumps(found, indent=1) if options.json else page(found))
    return 0 if found["releases"] else 1


def _stop(number: int, frame: Any) -> None:
    """Clean up, as on an interrupt."""
    sys.exit(128 + number)


def _key(path: Path) -> bytes:
    """32 bytes, or 64 hexadecimal digits; what is wrong is told without showing it."""
    with path.open("rb") as file:
        found = file.read(LONGEST_KEY)
    if path.is_file() and path.stat().st_mode & 0o077:
        warning = f"warning: others can read {path}, which must be secret: chmod 600"
        print(f"fastnoise perturb: {warning}", file=sys.stderr)
    if len(found) == KEY_BYTES:
        return found
    try:
        key = bytes.fromhex(found.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(f"{path} must hold {KEY_BYTES} secret bytes, or as many in hexadecimal")
    return key


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    import pyarrow

    if threads < 1:
        raise ValueError(f"--threads must be at least 1, not {threads}")
    set_count(threads)
    pyarrow.set_cpu_count(min(threads, available()))


def _summary(job: Job, seconds: float | None) -> dict[str, Any]:
    epsilon, delta = job.totals
    return {
        "output": str(job.target),
        "rows": job.done if seconds is not None else job.rows,
        "seconds": seconds,
        "columns": list(job.plan.columns),
        "epsilon": job.plan.epsilon,
        "delta": job.plan.delta,
        "total_epsilon": epsilon,
        "total_delta": delta,
        "dropped": job.dropped,
    }


def _page(job: Job, seconds: float) -> str:
    done = f"{job.done:,} rows in {seconds:.1f} s, {job.done / seconds:,.0f} a second"
    return f"{job.target}: {done}\n{in_all(job.found.receipt)}"


def _dry_page(job: Job) -> str:
    rows = "" if job.rows is None else f", {job.rows:,} rows"
    files = f"{len(job.files)} file{'s' * (len(job.files) > 1)}{rows}"
    return f"would write {job.target}: {files}\n{job.plan}\n{in_all(job.found.receipt)}"
