"""Does `fastnoise verify` pass here, and fail when anything it looks at is broken?"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from fastnoise_kernels import chacha, layout

import fastnoise as fn
from fastnoise import dispatch, engine, layer_tables, release, tables
from fastnoise.cli import main
from fastnoise.reader import Table
from fastnoise.release import Release
from fastnoise.verify import attack, certificates, duplicates, kernels, laws, ratios, slices
from fastnoise.verify import tables as table_checks
from fastnoise.verify.outcome import Row, Tally
from fastnoise.verify.run import CHECKS, Report, verify

MODULES = [table_checks, kernels, laws, ratios, attack, duplicates, slices, certificates]
HEAD = layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS
DIGIT = layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS


@pytest.fixture(autouse=True)
def fresh_laws():
    """Laws are kept once they are made: none of a broken one outlives its test."""
    clear_caches()
    yield
    clear_caches()


def clear_caches():
    for name, module in list(sys.modules.items()):
        if name.startswith("fastnoise."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture
def only_of(monkeypatch):
    """Verify these mechanisms alone, which is faster."""

    def choose(*mechanisms):
        choices = [m for m in mechanisms if isinstance(m, fn.StaircaseChoice)]
        lists = {"USUAL": [m for m in mechanisms if m not in choices], "CHOICES": choices}
        for module in MODULES:
            for name, chosen in (lists | {"EXTREME": []}).items():
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, chosen)

    return choose


@pytest.fixture
def failures(capsys):
    """What the command says is wrong; it exits with status 1 for it."""

    def run(check: str) -> str:
        status = main(["verify", "--only", check, "--json"])
        report = json.loads(capsys.readouterr().out)
        wrong = [row["detail"] for row in report["outcomes"] if not row["passed"]]
        assert report["passed"] == (not wrong) == (status == 0)
        return " ".join(wrong)

    return run


# --- as it is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", ["keystream", "kernels", "fit", "ratios", "attack", "duplicates"])
def test_quick_checks__pass(check):
    report = verify([check])
    assert [outcome for outcome in report.outcomes if not outcome.passed] == []
    assert all(outcome.tried > 0 for outcome in report.outcomes)


def test_command__prints_json_and_takes_less_than_a_minute():
    """Without a terminal, in a process of its own, everything at once."""
    command = [sys.executable, "-m", "fastnoise", "verify", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert report["passed"] is True
    assert report["version"] == fn.__version__
    assert report["machine"]["cores"] > 0
    assert report["seconds"] < 60
    assert [*dict.fromkeys(row["check"] for row in report["outcomes"])] == list(CHECKS)
    families = {row["family"] for row in report["outcomes"] if row["check"] == "fit"}
    assert families == {type(m).__name__ for m in [*laws.USUAL, *laws.CHOICES]}


def test_command__prints_a_table(capsys):
    assert main(["verify", "--only", "keystream"]) == 0
    out = capsys.readouterr().out
    assert "keystream    RFC 8439" in out
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


def test_keystream__one_wrong_bit_is_seen(monkeypatch, failures):
    right = engine.fill_keystream

    def wrong(key, words):
        right(key, words)
        words[3] ^= 1 << 17

    monkeypatch.setattr(engine, "fill_keystream", wrong)
    assert "Stream.keystream differs" in failures("keystream")


@pytest.mark.parametrize("known", [True, False])
def test_keystream__a_counter_of_32_bits_is_seen(monkeypatch, known, failures):
    """With and without the `cryptography` package."""
    right = chacha.keystream
    if not known:
        monkeypatch.setitem(sys.modules, "cryptography", None)

    def wrong(batches, key, block, words, **grain):
        return right(batches, key, np.uint64(int(block) % 2**32), words, **grain)

    monkeypatch.setattr(chacha, "keystream", wrong)
    assert f"({2**32}, 0): plain Python differs" in failures("keystream")


# --- tables ---------------------------------------------------------------------------------------


def damaged(law, table, entry: int, part: Fraction = Fraction(1, 10**6)):
    """One threshold of an alias table, that of the first cell from `entry` on that has one, less by
    one part in a million."""
    words, (bits_at, cells_at, thresholds_at) = law.copy(), table
    alias = Table(law, *table)
    cell = next(i for i in range(entry, len(alias.thresholds)) if alias.thresholds[i])
    threshold = int(alias.thresholds[cell] * (1 - part))
    limbs, bits = alias.limbs, alias.bits
    at, half = int(law[cells_at]) + cell // 2, 32 * (cell % 2)
    packed = int(words[at]) & ~(0xFFFFFFFF << half)
    leading = (threshold >> 64 * limbs) << bits | alias.aliases[cell]
    words[at] = packed | leading << half
    start = int(law[thresholds_at]) + cell * limbs
    for i in range(limbs):
        words[start + i] = threshold >> 64 * (limbs - 1 - i) & (2**64 - 1)
    assert Table(words, *table).thresholds[cell] == threshold
    assert words[bits_at] == law[bits_at]
    return words


def break_law(monkeypatch, module, name, spoil):
    """Every law that `module.name` makes is spoilt."""
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *arguments: spoil(right(*arguments)))


@pytest.mark.parametrize("entry", [0, 1, 9, 26])
def test_tables__a_damaged_level_is_seen(monkeypatch, only_of, entry, failures):
    break_law(monkeypatch, release, "staircase_law", lambda law: damaged(law, HEAD, entry))
    only_of(fn.Staircase(1.0))
    assert "P(level" in failures("tables")


@pytest.mark.parametrize("entry", [0, 3, 40])
def test_tables__a_damaged_digit_is_seen(monkeypatch, only_of, entry, failures):
    """In the tail, and where digits count laps."""
    break_law(monkeypatch, release, "staircase_law", lambda law: damaged(law, DIGIT, entry))
    only_of(fn.DiscreteStaircase(0.5, 10))
    assert "P(level" in failures("tables")
    clear_caches()
    only_of(fn.DiscreteStaircase(1e-6, 2**20))
    assert "P(level" in failures("tables")


@pytest.mark.parametrize("slope", [0, 7, 20])
def test_tables__a_damaged_slope_is_seen(monkeypatch, only_of, slope, failures):
    def spoil(law):
        words = law.copy()
        at = int(law[layout.SLOPES]) + layout.SLOPE_LIMBS * slope
        words[at] = int(words[at]) - int(words[at]) // 10**6
        return words

    break_law(monkeypatch, release, "laplace_law", spoil)
    only_of(fn.Laplace(1.0))
    assert "is off by" in failures("tables")


def coin(i: int) -> tuple[int, int, int]:
    at = layout.TABLES + layout.TABLE * i
    return at + layout.TABLE_BITS, at + layout.TABLE_CELLS, at + layout.TABLE_THRESHOLDS


@pytest.mark.parametrize(
    ("mechanism", "table", "entry"),
    [
        (fn.L1Staircase(2.0, 4), coin(0), 5),
        (fn.L1Staircase(2.0, 4), coin(1), 2),  # how many digits beyond the table
        (fn.L1Staircase(2.0, 4), DIGIT, 1),
        (fn.L1Staircase(1e-6, 2), coin(0), 0),
        (fn.L1Staircase(1e-6, 2), coin(1), 4000),
        (fn.L1Staircase(1e-6, 2), coin(2), 9000),
        (fn.BoxStaircase(1.0, (1.0, 3.0)), coin(0), 30),
        (fn.BoxStaircase(0.01, (1.0, 3.0)), coin(0), 1000),
    ],
)
def test_tables__a_damaged_layer_is_seen(monkeypatch, only_of, mechanism, table, entry, failures):
    module = "fastnoise.vector_release.layer_law"
    right = layer_tables.layer_law
    monkeypatch.setattr(module, lambda *law: damaged(right(*law), table, entry))
    only_of(mechanism)
    assert "is off by" in failures("tables")


def test_tables__a_threshold_of_places_that_is_too_low_is_seen(monkeypatch, only_of, failures):
    def spoil(law):
        words = law.copy()
        words[layout.REST_SIDE] = 0
        return words

    break_law(monkeypatch, release, "staircase_law", spoil)
    only_of(fn.DiscreteStaircase(0.5, 10))
    assert "should be drawn again" in failures("tables")


def test_tables__a_scale_of_l2_noise_that_is_too_small_is_seen(monkeypatch, only_of, failures):
    from fastnoise import vector_release

    right = vector_release._l2_law
    monkeypatch.setattr(vector_release, "_l2_law", lambda d, scale: right(d, scale * (1 - 1e-6)))
    only_of(fn.L2Laplace(0.5, 3))
    assert "the scale is" in failures("tables")


def test_tables__a_wrong_power_of_choices_is_seen(monkeypatch, only_of, failures):
    only_of(fn.StaircaseChoice(0.5))
    right = table_checks.powers_of
    monkeypatch.setattr(table_checks, "powers_of", lambda epsilon: right(epsilon * (1 + 1e-15)))
    assert "e**-" in failures("tables")


@pytest.mark.parametrize("factor", [1.05, 1.0001])
@pytest.mark.parametrize(
    ("mechanism", "name", "place"),
    [
        (fn.Staircase(1.0), "fastnoise.mechanisms.staircase.staircase_release", 2),
        (fn.L1Staircase(2.0, 3), "fastnoise.mechanisms.l1_staircase.l1_staircase_release", 3),
        (
            fn.DiscreteStaircase(1.0, 10**6),
            "fastnoise.mechanisms.discrete_staircase.discrete_staircase_release",
            2,
        ),
    ],
    ids=str,
)
def test_tables__a_wrong_gamma_is_seen(
    monkeypatch, only_of, mechanism, name, place, factor, failures
):
    home, function = name.rsplit(".", 1)
    right = getattr(sys.modules[home], function)

    def wrong(*parameters):
        given = list(parameters)
        given[place] = type(given[place])(given[place] * factor)
        return right(*given)

    monkeypatch.setattr(name, wrong)
    only_of(mechanism)
    assert failures("tables")


def cut(weights):
    """Nothing beyond the last listed entry, which has its weight."""
    return [*weights[:-2], weights[-2] + weights[-1], 0]


TAILED = [
    fn.Staircase(1.0),
    fn.Staircase(1e-6),
    fn.Laplace(1.0),
    fn.Geometric(50.0),
    fn.L1Staircase(2.0, 3),
    fn.BoxStaircase(1e-6, (1.0, 2.0)),
]


@pytest.mark.parametrize("mechanism", TAILED, ids=str)
def test_tables__a_truncated_tail_is_seen(monkeypatch, only_of, mechanism, failures):
    for module in (tables, layer_tables):
        break_law(monkeypatch, module, "restarting", cut)
    only_of(mechanism)
    assert "is off by" in failures("tables")


def test_tables__a_truncated_head_is_seen(monkeypatch, only_of, failures):
    break_law(monkeypatch, tables, "_head_and_tail", lambda pair: (cut(pair[0]), pair[1]))
    only_of(fn.Staircase(1.0))
    assert "is off by" in failures("tables")


# --- kernels, slices ------------------------------------------------------------------------------


def spoil_values(monkeypatch, spoil):
    """What kernels wrote is changed: spoil(target, done)."""
    right = dispatch.perturb_chunk

    def wrong(release, key, rows, done, source, target, limits):
        right(release, key, rows, done, source, target, limits)
        spoil(target, release)

    monkeypatch.setattr(dispatch, "perturb_chunk", wrong)


MIXED = [fn.Staircase(1.0), fn.Geometric(0.01), fn.L2Laplace(0.5, 3), fn.BoxStaircase(1.0, (1.0,))]


@pytest.mark.parametrize("mechanism", MIXED, ids=str)
def test_kernels__one_that_differs_from_its_reader_is_seen(
    monkeypatch, only_of, mechanism, failures
):
    def one_step_more(target, release):
        target[5] += release.grid

    spoil_values(monkeypatch, one_step_more)
    only_of(mechanism)
    assert "differs" in failures("kernels")


def test_kernels__choices_that_differ_are_seen(monkeypatch, only_of, failures):
    from fastnoise import choice

    right = choice._choose_block

    def wrong(steps, key, rows, costs, out):
        right(steps, key, rows, costs, out)
        out[2] = (out[2] + 1) % costs.shape[1]

    monkeypatch.setattr(choice, "_choose_block", wrong)
    only_of(fn.StaircaseChoice(0.5))
    assert "differs" in failures("kernels")


def test_slices__threads_that_forget_a_row_are_seen(monkeypatch, only_of, failures):
    def forgetful(target, release):
        if target.size >= 16_384:
            target[target.size // 2] = 0.0

    spoil_values(monkeypatch, forgetful)
    only_of(fn.Staircase(1.0))
    assert "differ in" in failures("slices")


# --- fit ------------------------------------------------------------------------------------------


def test_fit__noise_that_is_five_percent_too_wide_is_seen(monkeypatch, only_of, failures):
    def wider(target, release):
        target *= 1.05

    spoil_values(monkeypatch, wider)
    only_of(fn.Staircase(1.0), fn.Laplace(20.0, 1000.0))
    assert "law: the noise does not fit" in failures("fit")


def test_fit__directions_and_signs_are_looked_at(monkeypatch, only_of, failures):
    def squeezed(target, release):
        target[:: release.dim] *= 0.95

    spoil_values(monkeypatch, squeezed)
    only_of(fn.L2Laplace(0.5, 3), fn.L1Staircase(2.0, 4))
    assert failures("fit").count("direction: the noise does not fit") == 2
    spoil_values(monkeypatch, lambda target, release: np.abs(target, out=target))
    assert "signs: the noise does not fit" in failures("fit")


def test_fit__rows_that_repeat_are_seen(monkeypatch, only_of, failures):
    def repeated(target, release):
        target[16::20] = target[:-16:20].copy()

    spoil_values(monkeypatch, repeated)
    only_of(fn.Staircase(1.0))
    assert "independence of rows" in failures("fit")


def test_fit__a_control_that_passes_is_a_failure(monkeypatch, only_of, failures):
    monkeypatch.setattr(laws, "WRONG", 1.0)
    only_of(fn.Staircase(1.0), fn.Geometric(1.0), fn.L2Laplace(0.5, 2))
    assert failures("fit").count("would not see 5%") >= 3


# --- ratios, certificates -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [
        (fn.Staircase(1.0), "fastnoise.release.staircase_law"),
        (fn.Laplace(1.0), "fastnoise.release.laplace_law"),
        (fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), "fastnoise.release.truncated_laplace_law"),
        (fn.BoxStaircase(1.0, (1.0, 3.0)), "fastnoise.vector_release.layer_law"),
    ],
    ids=str,
)
def test_ratios__one_part_in_a_million_more_epsilon_is_seen(
    monkeypatch, only_of, mechanism, law, failures
):
    home, name = law.rsplit(".", 1)
    right = getattr(sys.modules[home], name)
    monkeypatch.setattr(law, lambda epsilon, *rest: right(epsilon * (1 + 1e-6), *rest))
    only_of(mechanism)
    assert failures("ratios")


@pytest.mark.parametrize("mechanism", [fn.DiscreteUniform(0.01, 3), TAILED[0]], ids=str)
def test_ratios__a_sensitivity_that_is_not_covered_is_seen(
    monkeypatch, only_of, mechanism, failures
):
    """Made for the law of half the noise."""
    if isinstance(mechanism, fn.DiscreteUniform):
        right = release.uniform_law
        monkeypatch.setattr(release, "uniform_law", lambda c, h: right(c // 4 * 2 + 1, 2 * h))
    else:
        right = release.staircase_law
        monkeypatch.setattr(release, "staircase_law", lambda e, s, r: right(e, s // 2, r // 2))
    only_of(mechanism)
    assert failures("ratios")


def test_ratios__draws_of_neighbours_are_compared(monkeypatch, only_of, failures):
    def halved(target, release):
        target -= 3 * np.sign(np.median(target) - 0.5)  # neighbours are further apart

    spoil_values(monkeypatch, halved)
    only_of(fn.Laplace(1.0))
    assert "outputs of neighbours differ" in failures("ratios")


@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        (fn.Staircase(1.0), {"epsilon": 1.0 + 1e-15}),
        (fn.Staircase(1.0), {"epsilon": 1.0 - 1e-12}),
        (fn.Staircase(1.0), {"delta": 1e-30}),
        (fn.Staircase(1.0), {"total_variation": 0.0}),
        (fn.Staircase(1.0), {"total_variation": 1e-9}),
        (fn.Staircase(1.0), {"basis": "faith"}),
        (fn.Staircase(1.0), {"released_sensitivity": 0.999}),
        (fn.Laplace(1.0), {"epsilon": 1.0 - 1e-12}),
        (fn.L1Staircase(2.0, 4), {"epsilon": 2.0 - 1e-12}),
        (fn.L1Staircase(2.0, 4), {"total_variation": 0.0}),
        (fn.BoxStaircase(1.0, (1.0, 3.0)), {"epsilon": 1.0 - 1e-12}),
        (fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), {"delta": 1e-4 * (1 - 1e-9)}),
        (fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), {"delta": 1e-4 * (1 + 1e-9)}),
        (fn.DiscreteUniform(0.01, 3), {"delta": 0.01 * (1 - 1e-9)}),
        (fn.L2Laplace(0.5, 3), {"epsilon": 0.6}),
        (fn.L2Laplace(0.5, 3), {"epsilon": 0.5 - 1e-12}),
    ],
    ids=str,
)
def test_certificates__one_that_claims_too_much_is_seen(
    monkeypatch, only_of, mechanism, claim, failures
):
    right = type(mechanism).certificate

    def wrong(self, **changed):
        return replace(right(self, **changed), **claim)

    monkeypatch.setattr(type(mechanism), "certificate", wrong)
    only_of(mechanism)
    assert failures("certificates")


def test_certificates__many_changed_elements_that_cost_nothing_are_seen(
    monkeypatch, only_of, failures
):
    right = fn.Laplace.certificate
    monkeypatch.setattr(fn.Laplace, "certificate", lambda self, **changed: right(self))
    only_of(fn.Laplace(1.0))
    assert "further apart" in failures("certificates")


# --- attack, duplicates ---------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.L1Staircase(2.0, 4)], ids=str)
def test_attack__a_skipped_snap_is_seen(monkeypatch, only_of, mechanism, failures):
    monkeypatch.setattr(Release, "whole", property(lambda self: 0.0))
    only_of(mechanism)
    assert "off the grid" in failures("attack")


def test_attack__noise_of_even_steps_is_seen(monkeypatch, only_of, failures):
    def even(target, release):
        target[:] = np.floor(target / release.grid / 2) * 2 * release.grid

    spoil_values(monkeypatch, even)
    only_of(fn.Laplace(1.0))
    assert "modulo 8" in failures("attack")


def test_attack__a_negative_zero_is_seen(monkeypatch, only_of, failures):
    def negative(target, release):
        target[:3] = -0.0

    spoil_values(monkeypatch, negative)
    only_of(fn.Staircase(1.0))
    assert "-0.0 comes out" in failures("attack")


def test_attack__integers_that_wrap_are_seen(monkeypatch, only_of, failures):
    def wrapped(target, release):
        target[np.abs(target.astype(np.int64)) >= 127] = 0

    spoil_values(monkeypatch, wrapped)
    only_of(fn.Geometric(0.01))
    assert "became" in failures("attack")


def test_attack__a_control_that_passes_is_a_failure(monkeypatch, only_of, failures):
    only_of(fn.Staircase(1.0))
    monkeypatch.setattr(attack, "textbook_leak", lambda *pair: 0.1)
    assert "give the input away" in failures("attack")


def test_duplicates__a_key_that_repeats_is_seen(monkeypatch, failures):
    monkeypatch.setattr("fastnoise.rows.os", SimpleNamespace(urandom=bytes))
    assert failures("duplicates").count("repeat noise") >= 2


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


def test_duplicates__mechanisms_that_share_words_are_seen(monkeypatch, failures):
    monkeypatch.setattr(fn.Stream, "_noise_key", lambda self, purpose: self._key)
    assert "repeat noise" in failures("duplicates")
