"""Do numbers in a CSV file go to the grid point next to the text, not next to its float?"""

from decimal import Context, Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import fastnoise as fn
from fastnoise.etl.tables import Run
from fastnoise.identity import noise_identity

DIGITS = Context(prec=400)

PLAN = """
release = "texts"

[columns.a]
mechanism = "staircase"
epsilon = 0.5
sensitivity = 3.3
{clip}

[columns.b]
mechanism = "laplace"
epsilon = 2.0
sensitivity = 0.7

[vectors.boxes]
columns = ["c", "d"]
mechanism = "box-staircase"
epsilon = 1.0
widths = [3.0, 1000.0]

[vectors.place]
columns = ["e", "f"]
mechanism = "l2-laplace"
epsilon = 0.1
sensitivity = 1.0
"""
COLUMNS = "abcdef"


def grids(job) -> dict[str, float]:
    entries = fn.Plan.load(job.plan).entries
    found = [(e.columns, np.broadcast_to(e.mechanism.grid, len(e.columns))) for e in entries]
    return {name: float(g) for names, some in found for name, g in zip(names, some, strict=True)}


def exactly_snapped(text: str, grid: float) -> float:
    steps = floor(Fraction(Decimal(text)) / Fraction(grid) + Fraction(1, 2))
    assert Fraction(steps * grid) == steps * Fraction(grid)
    return steps * grid


def near_edges(grid: float, rng: np.random.Generator) -> list[str]:
    """Texts a little below, above and at odd multiples of half a step, and anywhere else."""
    texts = []
    for bits in (3, 20, 40, 50, 51):
        for k in rng.integers(2 ** (bits - 1), 2**bits, 8).tolist():
            edge = DIGITS.divide(DIGITS.multiply(2 * k + 1, Decimal(grid)), 2)
            tiny = DIGITS.multiply(Decimal(grid), Decimal("1e-30"))
            for value in (DIGITS.subtract(edge, tiny), DIGITS.add(edge, tiny), edge):
                texts += [f"{value:f}", f"{-value:e}"]
    for k in rng.integers(2**52, 2**53, 20).tolist():  # where floats are as far apart as the grid
        for share in ("0.5", "0.49999999999999999999", "0.7", "0"):
            value = DIGITS.multiply(DIGITS.add(k, Decimal(share)), Decimal(grid))
            texts += [str(value), str(-value)]
    return [*texts, "0.1", "1e-3", "12345.678", ".5", "-7.", "+2e2", "0", "-0.0"]


def perturb_both(job, tmp_path, rng) -> None:
    """The texts as CSV, and what they are snapped to as Parquet, get the same noise."""
    steps = grids(job)
    texts = {name: near_edges(steps[name], rng) for name in COLUMNS}
    csv.write_csv(pa.table(texts), tmp_path / "in.csv")
    floats = {n: [exactly_snapped(text, steps[n]) for text in texts[n]] for n in COLUMNS}
    pq.write_table(pa.table(floats), tmp_path / "in.parquet")
    for suffix in ("csv", "parquet"):
        job.perturbed(tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}")
    read, binary = csv.read_csv(tmp_path / "out.csv"), pq.read_table(tmp_path / "out.parquet")
    for name in COLUMNS:
        assert read[name].to_pylist() == binary[name].to_pylist()


@pytest.mark.parametrize("clip", ["", "clip = [0.1, 2.7]", "clip = [-1e9, 1e15]"])
def test_texts__are_snapped_exactly(clip, job, tmp_path, rng):
    job.plan.write_text(PLAN.format(clip=clip))
    perturb_both(job, tmp_path, rng)


TEXTS = ("1234567.89", "20000000000.1", "-98765432109876.543", "1e16", "7", "", "3.25e30", "1.1e99")


@pytest.mark.parametrize("key", ["", 'key = "id"'])
@pytest.mark.parametrize("clip", ["", "clip = [-9e15, 1e15]", "clip = [1e6, 1234567.89]"])
def test_texts__between_floats_get_their_noise_in_integers(clip, key, job, tmp_path):
    """Beyond 2**53 steps: the text's grid point and the noise of the row, rounded once."""
    job.plan.write_text(f"{key}\n{PLAN.format(clip=clip)}")
    texts = {name: TEXTS[i:] + TEXTS[:i] for i, name in enumerate(COLUMNS)}
    ids = [str(3 * i + 1) for i in range(len(TEXTS))]
    lines = [",".join(row) for row in zip(ids, *texts.values(), strict=True)]
    source = tmp_path / "in.csv"
    source.write_text("\n".join([",".join(["id", *COLUMNS]), *lines, ""]))
    job.perturbed(source, tmp_path / "out.csv")
    read = csv.read_csv(tmp_path / "out.csv")
    plan, stream = fn.Plan.load(job.plan), fn.Stream.from_key(job.key.read_bytes())
    run, rows = Run(plan, stream), [int(i) for i in ids] if key else range(len(ids))
    for entry in plan.entries:
        mechanism = entry.mechanism
        law, dim = mechanism._law(mechanism.grid), len(entry.columns)
        identity = noise_identity(mechanism, law, entry.clip)
        noise_key = run.streams[entry.name]._noise_key(identity)
        low, high = (Fraction(bound) for bound in entry.clip or (-(10**200), 10**200))
        for i, name in enumerate(entry.columns):
            grid = Fraction(float(np.broadcast_to(mechanism.grid, dim)[i]))
            for row, text, found in zip(rows, texts[name], read[name].to_pylist(), strict=True):
                if not text:
                    assert found is None
                    continue
                noise = law.reader.noise(noise_key, row)
                steps = noise if isinstance(noise, int) else noise[i]
                value = min(max(Fraction(Decimal(text)), low), high)
                point = floor(value / grid + Fraction(1, 2))
                assert found == float((point + steps) * grid)
