"""Does `fastnoise verify` pass here, and fail when what it looks at is broken?"""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from fastnoise_kernels import words as kernel_words

import fastnoise as fn
from fastnoise import bits
from fastnoise.cli import main
from fastnoise.laws.choice import choosing as choice
from fastnoise.laws.law import Law
from fastnoise.verify import attack, duplicates, laws
from fastnoise.verify.outcome import Row, Tally
from fastnoise.verify.run import CHECKS, Report, verify

pytestmark = pytest.mark.long


# Checks that look at every mechanism there is, and those that look at none in particular.
OF_LAWS = ["tables", "kernels", "fit", "ratios", "slices", "certificates"]
OF_THE_MACHINE = ["floats", "keystream", "duplicates"]


# --- as it is -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check", ["floats", "keystream", "kernels", "fit", "ratios", "attack", "duplicates"]
)
def test_quick_checks__pass(check):
    report = verify([check])
    assert [outcome for outcome in report.outcomes if not outcome.passed] == []
    assert all(outcome.tried > 0 for outcome in report.outcomes)


def test_command__prints_json():
    """After `warmup`; without a terminal, in a process of its own, everything at once."""
    command = [sys.executable, "-m", "fastnoise"]
    subprocess.run([*command, "warmup"], check=True, timeout=240)
    command += ["verify", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert report["passed"] is True
    assert report["version"] == fn.__version__
    assert report["machine"]["cores"] > 0
    assert {row["check"] for row in report["outcomes"]} == {*OF_LAWS, *OF_THE_MACHINE, "attack"}
    families = {check: set() for check in CHECKS}
    for row in report["outcomes"]:
        families[row["check"]].add(row["family"])
    public = {name for name in fn.__all__ if hasattr(getattr(fn, name), "certificate")}
    assert len(public) >= 12
    assert [check for check in OF_LAWS if not public <= families[check]] == []
    assert public - families["attack"] == {"StaircaseChoice"}  # which adds nothing to anything


def test_command__prints_a_table(capsys):
    assert main(["verify", "--only", "keystream"]) == 0
    out = capsys.readouterr().out
    assert "keystream    FIPS 197, SP 800-38A" in out
    assert "all hold" in out


def test_command__refuses_an_unknown_check(capsys):
    assert main(["verify", "--only", "keystream", "nonsense"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "certificates" in error


def test_command__refuses_to_verify_what_is_not_compiled(monkeypatch, capsys):
    monkeypatch.setattr("fastnoise.verify.run.compiles", lambda: False)
    assert main(["verify"]) == 1
    assert "NUMBA_DISABLE_JIT" in capsys.readouterr().err


def test_without_cryptography__the_row_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    row = verify(["keystream"]).outcomes[1]
    assert row.passed
    assert "not installed" in row.detail


# --- what a row is --------------------------------------------------------------------------------


def test_row__an_exception_is_a_failure_and_others_are_still_tried():
    def question(subject: int, tally: Tally) -> None:
        tally.expect(10 / subject, "never")

    outcome = Row("check", "numbers", question, [0, 1, 2]).ask()
    assert not outcome.passed
    assert outcome.tried == 3
    assert outcome.detail == "0: ZeroDivisionError: division by zero"


def test_row__says_no_more_than_three_failures():
    outcome = Row("check", "numbers", lambda n, tally: tally.expect(n > 5, "low"), range(9)).ask()
    assert outcome.detail == "0: low; 1: low; 2: low; and 3 more"


def test_row__that_tries_nothing_has_failed():
    assert not Row("check", "nothing", lambda n, tally: None, [1]).ask().passed


def test_report__counts_failures():
    good = Row("check", "good", lambda n, tally: tally.expect(n, "0"), [1, 2]).ask()
    bad = Row("check", "bad", lambda n, tally: tally.expect(n, "0"), [1, 0]).ask()
    text = str(Report([good, bad], 2.0))
    assert "4 trials in 2.0 s: 1 of 2 rows FAILED" in text
    assert re.search(r"check +good +2  ok\ncheck +bad +2  FAILED: 0: 0\n", text)


# --- keystream ------------------------------------------------------------------------------------


def test_keystream__one_wrong_bit_is_seen(monkeypatch, broken):
    right = bits.fill_keystream

    def wrong(key, words):
        right(key, words)
        words[3] ^= 1 << 17

    monkeypatch.setattr(bits, "fill_keystream", wrong)
    assert "Stream.keystream differs" in broken.failures("keystream")


def test_keystream__a_counter_of_32_bits_is_seen(monkeypatch, broken):
    right = kernel_words.keystream

    def wrong(batches, key, block, words, **grain):
        return right(batches, key, np.uint64(int(block) % 2**32), words, **grain)

    monkeypatch.setattr(kernel_words, "keystream", wrong)
    assert f"{2**32}: plain Python differs" in broken.failures("keystream")


@pytest.mark.parametrize("known", [True, False])
def test_keystream__a_block_of_64_bits_is_seen(monkeypatch, broken, known):
    """With and without the `cryptography` package."""
    right = kernel_words.single_blocks
    if not known:
        monkeypatch.setitem(sys.modules, "cryptography", None)

    def wrong(count, key, lows, highs, out):
        return right(count, key, lows, highs * 0, out)

    monkeypatch.setattr(kernel_words, "single_blocks", wrong)
    assert f"{2**64 - 8}: plain Python differs" in broken.failures("keystream")


# --- noise that is not what it should be ----------------------------------------------------------


def one_step_more(out, law):
    out[5] += law.grid


def forgetful(out, law):
    """Of a row, where threads share the work."""
    if out.size >= 16_384:
        out[out.size // 2] = 0.0


def too_wide(out, law):
    out *= 1.05


def repeated(out, law):
    out[16::20] = out[:-16:20].copy()


def even(out, law):
    out[:] = np.floor(out / law.grid / 2) * 2 * law.grid


def negative(out, law):
    out[:3] = -0.0


def wrapped(out, law):
    out[np.abs(out.astype(np.int64)) >= 127] = 0


ONE = fn.Staircase(1.0)
MIXED = [ONE, fn.Geometric(0.01), fn.L2Laplace(0.5, 3), fn.BoxStaircase(1.0, (1.0,))]
SPOILT = [
    *((one_step_more, [mechanism], "kernels", "differs") for mechanism in MIXED),
    (forgetful, [ONE], "slices", "differ in"),
    (too_wide, [ONE, fn.Laplace(20.0, 1000.0)], "fit", "law: the noise does not fit"),
    (repeated, [ONE], "fit", "independence of rows"),
    (even, [fn.Laplace(1.0)], "attack", "modulo 8"),
    (negative, [ONE], "attack", "-0.0 comes out"),
    (wrapped, [fn.Geometric(0.01)], "attack", "became"),
]


@pytest.mark.parametrize(("spoil", "mechanisms", "check", "words"), SPOILT)
def test_noise__that_is_spoilt_is_seen(broken, spoil, mechanisms, check, words):
    broken.spoil_values(spoil)
    broken.only_of(*mechanisms)
    assert words in broken.failures(check)


# --- kernels --------------------------------------------------------------------------------------


def test_kernels__choices_that_differ_are_seen(monkeypatch, broken):
    right = choice._choose_block

    def wrong(steps, key, rows, costs, out):
        right(steps, key, rows, costs, out)
        out[2] = (out[2] + 1) % costs.shape[1]

    monkeypatch.setattr(choice, "_choose_block", wrong)
    broken.only_of(fn.StaircaseChoice(0.5))
    assert "differs" in broken.failures("kernels")


# --- fit ------------------------------------------------------------------------------------------


def test_fit__directions_and_signs_are_looked_at(broken):
    def squeezed(out, law):
        out[:: law.dim] *= 0.95

    broken.spoil_values(squeezed)
    broken.only_of(fn.L2Laplace(0.5, 3), fn.L1Staircase(2.0, 4))
    assert broken.failures("fit").count("direction: the noise does not fit") == 2
    broken.spoil_values(lambda out, law: np.abs(out, out=out))
    assert "signs: the noise does not fit" in broken.failures("fit")


def test_fit__a_control_that_passes_is_a_failure(monkeypatch, broken):
    monkeypatch.setattr(laws, "WRONG", 1.0)
    broken.only_of(fn.Staircase(1.0), fn.Geometric(1.0), fn.L2Laplace(0.5, 2))
    assert broken.failures("fit").count("would not see 5%") >= 3


# --- attack, duplicates ---------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.L1Staircase(2.0, 4)], ids=str)
def test_attack__a_skipped_snap_is_seen(monkeypatch, broken, mechanism):
    monkeypatch.setattr(Law, "whole", property(lambda self: 0.0))
    broken.only_of(mechanism)
    assert "off the grid" in broken.failures("attack")


def test_attack__a_control_that_passes_is_a_failure(monkeypatch, broken):
    broken.only_of(fn.Staircase(1.0))
    monkeypatch.setattr(attack, "textbook_leak", lambda *pair: 0.1)
    assert "give the input away" in broken.failures("attack")


def test_duplicates__a_key_that_repeats_is_seen(monkeypatch, broken):
    monkeypatch.setattr("fastnoise.rows.os", SimpleNamespace(urandom=bytes))
    assert broken.failures("duplicates").count("repeat noise") >= 2


def test_duplicates__processes_that_repeat_are_seen(monkeypatch):
    """A key of the operating system that is the same in every child, and in every process."""
    broken = "import os\nos.urandom = lambda n: bytes(n)\n"
    for name in ("FORKING", "SPAWNED"):
        monkeypatch.setattr(duplicates, name, broken + getattr(duplicates, name))
    outcomes = {row.family: row.ask() for row in duplicates.rows()}
    assert "repeat noise" in outcomes["forked children"].detail
    assert "repeat noise" in outcomes["spawned processes"].detail


def test_duplicates__a_process_that_fails_is_a_failure(monkeypatch):
    monkeypatch.setattr(duplicates, "SPAWNED", "raise SystemExit('no noise here')")
    outcomes = {row.family: row.ask() for row in duplicates.rows()}
    assert "no noise here" in outcomes["spawned processes"].detail


def test_duplicates__mechanisms_that_share_words_are_seen(monkeypatch, broken):
    monkeypatch.setattr(fn.Stream, "_noise_key", lambda self, purpose: self._key)
    assert "repeat noise" in broken.failures("duplicates")
