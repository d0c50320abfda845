"""What the code gives for every quantity of the reference values: by family, from parameters."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
from fastnoise_kernels import layout
from law_cases import AnyDiscreteStaircase
from reference import near

import fastnoise as fn
from fastnoise.design.radius import optimal_radius
from fastnoise.optimum.bounds import Lattice, Problem

# --- on the line ----------------------------------------------------------------------------------


def huber(x):
    return np.where(np.abs(x) <= 1.0, 0.5 * x * x, np.abs(x) - 0.5)


def staircase(p):
    return fn.Staircase(p["eps"], p.get("Delta", 1.0), gamma=p["gamma"])


def best_staircase(p, cost):
    return fn.Staircase(p["eps"], p.get("Delta", 1.0), cost=cost)


def best_of_power(p):
    m = p["m"]
    return best_staircase(p, m if isinstance(m, int) else lambda x: np.abs(x) ** m)


def best_of_interval(p):
    return best_staircase(p, ("interval", p["conf"]))


def log_peak(p):
    # At gamma 0 the rows give the height of the empty top step, e^epsilon above the density at 0.
    return staircase(p).logpdf(0.0) + (p["eps"] if p["gamma"] == 0.0 else 0.0)


def layer(p):
    """The weight of the uniform law on |x| < (k+gamma) D in the mixture: the drop at its edge."""
    law, edge = staircase(p), (p["k"] + p["gamma"]) * p["Delta"]
    return 2.0 * edge * (law.pdf(edge * (1.0 - 1e-9)) - law.pdf(edge * (1.0 + 1e-9)))


def central_mass(p):
    """A: the total variation distance, the largest 1 - x - y on the curve, is (1-b) A."""
    x = np.linspace(0.0, 1.0, 1001)
    return np.max(1.0 - x - staircase(p).tradeoff(x, p["shift"])) / -math.expm1(-p["eps"])


def laplace(p):
    return fn.Laplace(p["eps"], p.get("Delta", 1.0))


# --- on the integers ------------------------------------------------------------------------------


def discrete_laplace(p):
    return fn.DiscreteLaplace(p["eps"], p["Delta"])


def discrete_staircase(p, cost=None):
    r = optimal_radius(p["eps"], p["Delta"], cost) if cost else p["r"]
    return AnyDiscreteStaircase(p["eps"], p["Delta"], r)


def uniform(p):
    delta = Fraction(p["delta"])
    if p["kind"] == "ceil":  # rounding N up is the law of the delta that N is a multiple of
        delta = Fraction(p["Delta"], math.ceil(p["Delta"] / delta))
    return fn.DiscreteUniform(delta, p["Delta"])


def truncated(p):
    if not p["eps"]:
        return fn.DiscreteUniform(p["delta"], p["Delta"])
    return fn.TruncatedDiscreteLaplace(p["eps"], p["delta"], p["Delta"])


def region(p):
    """At sensitivity 1 the curves of the two optimal laws bound the (epsilon, delta)-DP region."""
    if p["delta"] > 0.0:
        return fn.TruncatedDiscreteLaplace(p["eps"], p["delta"]).tradeoff(p["P_FA"])
    missed = fn.Geometric(p["eps"]).tradeoff(p["P_FA"])
    assert fn.DiscreteLaplace(p["eps"]).tradeoff(p["P_FA"]) == near(missed, 1e-12)
    return missed


# --- vectors and choices --------------------------------------------------------------------------


def ball(p):
    return fn.L1Staircase(p["eps"], p["d"], p["Delta"], gamma=p["gamma"])


def best_ball(p):
    return fn.L1Staircase(p["eps"], p["d"], p.get("Delta", 1.0), cost=p["m"])


def log_peak_l1(p):
    return ball(p).logpdf(np.zeros(p["d"])) + (p["eps"] if p["gamma"] == 0.0 else 0.0)


def log_peak_l2(p):
    """No mechanism has l2 balls as layers; the height differs by the volume of the unit ball."""
    d = p["d"]
    l1, l2 = 2**d / mp.factorial(d), mp.pi ** (mp.mpf(d) / 2) / mp.gamma(mp.mpf(d) / 2 + 1)
    return log_peak_l1(p) + float(mp.log(l1 / l2))


def box(p):
    return fn.BoxStaircase(p["eps"], p["s"], core=p["z"])


def best_box(p):
    return fn.BoxStaircase(p["eps"], [2.0, *[1.0] * (p["d"] - 1)])


def box_absmean(p):
    """E|Y_i| is not a method of its own: the integral of |x| over the steps of the marginal."""
    law, i = box(p), p["i"]
    edges = np.append(0.0, p["z"][i] + p["s"][i] * np.arange(200))
    heights = law.marginal_pdf(i, 0.5 * (edges[1:] + edges[:-1]))
    total = np.sum(heights * np.diff(edges**2))
    if i == 1:
        assert law.expected_cost("l1") == near(box_absmean(p | {"i": 0}) + total, 1e-12)
    return total


def l2_laplace(p):
    return fn.L2Laplace(p["eps"], p["n"], p["Delta"])


def coordinate(p):
    """The density of one coordinate: that of the vector, integrated over the others."""
    law, n = l2_laplace(p), p["n"] - 1
    if n == 0:
        return math.exp(law.logpdf([p["x"]]))

    def sphere(r):
        """The density at distance r from the axis, times the area of that sphere in R^n."""
        density = law.logpdf([p["x"], float(r), *[0.0] * (n - 1)])
        area = mp.log(n) + n / 2 * mp.log(mp.pi) - mp.loggamma(n / 2 + 1) + (n - 1) * mp.log(r)
        return mp.exp(mp.mpf(float(density)) + area)

    with mp.workdps(15):
        far = law.radius.isf(1e-18)
        return mp.quad(sphere, [1e-9, *np.linspace(0.0, far, 30)[1:]])


def chance(p):
    choice = fn.StaircaseChoice(p["eps"], p["Delta"], gamma=p["gamma"])
    return choice.probabilities(np.array(p["costs"]))[p["i"]]


# --- bounds on costs ------------------------------------------------------------------------------


def bounds(p):
    cost = p.get("cost", "l1")
    return fn.cost_bounds(p.get("eps", 0.0), p["delta"], p.get("Delta", 1), cost=cost)


def paper_bound(p):
    """The formula of Geng's theorem, which is only a bound where its condition holds."""
    found, epsilon = bounds(p), p.get("eps", 0.0)
    value = Problem(epsilon, p["delta"], p["Delta"], Lattice(p["cost"])).paper_bound()
    names = ["geng_approximate", "geng_zero_epsilon"]
    named, other = names if epsilon else names[::-1]
    np.testing.assert_equal(getattr(found, named), value if found.condition else math.nan)
    assert math.isnan(getattr(found, other))
    assert epsilon or found.condition == (p["Delta"] >= 3)
    return value


def optimum(p):
    found = bounds(p)
    assert found.all_windows == near(found.optimum, 1e-12)
    return found.optimum


def cheapest(p):
    return fn.approximate(p["eps"], p["delta"])


def limit(cost):
    """Of the bound at epsilon = delta = beta, times (beta / D)^m, as beta -> 0, a coordinate."""
    m = int(cost[1])

    def scaled(beta):
        bounds = fn.cost_bounds(beta, beta, 1000, cost=cost, dim=3)
        return bounds.geng_approximate / 3.0 * (beta / 1000.0) ** m

    return 2.0 * scaled(1e-7) - scaled(2e-7)  # linear in beta up to 1e-14


# --- grids ----------------------------------------------------------------------------------------


def snapped(mechanism, x):
    """x on the grid of step 1: what `perturb` adds noise to, the noise of the same rows removed."""
    x = np.asarray(x)
    stream = fn.Stream.from_key(bytes(32))
    zeros = mechanism.perturb(np.zeros_like(x), grid=1.0, stream=stream.at(0))
    return mechanism.perturb(x, grid=1.0, stream=stream.at(0)) - zeros


def steps_of(mechanism):
    """The sensitivity that the noise on the grid of step 1 is made for."""
    law = mechanism._law(1.0).tables
    return int(law[law[layout.SIZES] if mechanism._row_shape else layout.STEPS])


def most_steps(mechanism, width):
    """How far apart two numbers `width` apart can come to lie, with round-half-up."""
    x = np.concatenate([np.arange(-400, 401) / 8, np.arange(-400, 401) / 8 - width])
    return float(np.max(snapped(mechanism, x + width) - snapped(mechanism, x)))


def half_up(p):
    width = p["Delta"] / p["g"]
    mechanism = fn.Staircase(1.0, width)
    assert steps_of(mechanism) == p["Delta"] // p["g"] + (p["Delta"] % p["g"] > 0)
    return most_steps(mechanism, width)


def half_even(p):
    """Half-even rounding does no harm at this even number of steps; at one step it would."""
    assert p["Delta"] % (2 * p["g"]) == 0
    halves = np.arange(-400, 401) / 2
    assert np.max(np.round(halves + 1) - np.round(halves)) == 2
    assert most_steps(fn.Staircase(1.0), 1.0) == steps_of(fn.Staircase(1.0)) == 1
    return half_up(p)


def log_ratio(p):
    """Of the masses of cells so far apart; the rounded law is not what is released."""
    eps, g, apart = p["eps"], p["g"], p["shift_cells"]
    cells = np.arange(-60, 61)

    def most(sensitivity):
        law = fn.Staircase(eps, sensitivity)

        def mass(j):
            near_edge, far_edge = (law.sf(np.abs(j * g) + side * g / 2) for side in (-1, 1))
            return np.where(j == 0, 1.0 - 2.0 * far_edge, near_edge - far_edge)

        return float(np.max(np.log(mass(cells) / mass(cells + apart))))

    released = fn.Staircase(eps, p["Delta"] / g)  # the same grid and sensitivity, in steps
    assert steps_of(released) == apart
    assert most(apart * g) == near(eps, 1e-12)
    return most(p["Delta"])


def apart_at_most(mechanism, width, norm):
    """The largest distance of snapped pairs that are less than `width` apart in that norm.

    The corners of cells are where it is reached: from just below a corner to one that is
    (a - 1, b - 1) steps further and back by next to nothing.
    """
    tiny = 2.0**-20
    low = np.full((1, 2), 0.5 - tiny)
    moves = np.array([(a, b) for a in range(6) for b in range(6)], float)
    high = low + np.where(moves > 0, moves - 1 + tiny, 0.0)
    inside = np.linalg.norm(high - low, norm, axis=1) <= width
    ends = snapped(mechanism, high[inside]) - snapped(mechanism, np.repeat(low, inside.sum(), 0))
    return float(np.linalg.norm(ends, norm, axis=1).max())


def l1_shift(p):
    mechanism = fn.L1Staircase(1.0, p["d"], p["Delta_over_g"])
    worst = apart_at_most(mechanism, p["Delta_over_g"], 1)
    assert steps_of(mechanism) == worst
    laplace, changed = fn.Laplace(1.0, p["Delta_over_g"]), 2**16
    steps = math.ceil(p["Delta_over_g"] / laplace.grid) + changed - 1
    assert laplace.released_sensitivity == laplace.grid * steps
    return worst


def l2_shift(p):
    """Noise of dim 2 is made for the simpler Delta + sqrt(d) g, which is more."""
    d, width = p["d"], p["Delta_over_g"]
    mechanism = fn.L2Laplace(1.0, d, width)
    scale = mechanism._law(1.0).tables[layout.SCALE : layout.SCALE + 1].view(np.float64)[0]
    worst = apart_at_most(mechanism, width, 2)
    assert worst <= width + math.sqrt(d) <= scale <= (width + math.sqrt(d)) * (1 + 1e-12)
    assert mechanism.released_sensitivity >= width + math.sqrt(d) * mechanism.grid
    return worst


# --- all of them ----------------------------------------------------------------------------------

STAIRCASE = {
    "M0": lambda p: math.exp(log_peak(p)),
    "peak_density": lambda p: math.exp(log_peak(p)),
    "pdf": lambda p: staircase(p).pdf(p["x"]),
    "cdf": lambda p: staircase(p).cdf(p["x"]),
    "ppf": lambda p: staircase(p).ppf(p["p"]),
    "absmoment": lambda p: staircase(p).moment(p["m"]),
    "delta_of_eps": lambda p: staircase(p).delta_at(p["eps_prime"]),
    "V1_star": lambda p: best_staircase(p, "l1").moment(1),
    "V2_star": lambda p: best_staircase(p, "l2").var(),
    "Vstar_abs_power": lambda p: best_of_power(p).moment(p["m"]),
    "min_ci_halfwidth": lambda p: best_of_interval(p).interval(p["conf"])[1],
    "gamma_laplace_matched": lambda p: fn.Staircase(p["eps"], gamma="dominating").gamma,
    "gamma_min_ci": lambda p: best_of_interval(p).gamma,
    "gamma_star_abs_power": lambda p: best_of_power(p).gamma,
    "gamma_star_l1": lambda p: best_staircase(p, "l1").gamma,
    "gamma_star_l2": lambda p: best_staircase(p, "l2").gamma,
    "gamma_star_l3": lambda p: best_staircase(p, 3).gamma,
    "gamma_star_huber1_cost": lambda p: best_staircase(p, huber).gamma,
    "gamma_star_log1p_cost": lambda p: best_staircase(p, lambda x: math.log1p(abs(x))).gamma,
}
BALL = {
    "E_norm": lambda p: ball(p).expected_cost("l1"),
    "E_norm2": lambda p: ball(p).radius.moment(2),
    "l1_E_sumsq": lambda p: ball(p).mse(),
    "Vstar": lambda p: best_ball(p).expected_cost(p["m"]),
    "gamma_star": lambda p: best_ball(p).gamma,
    "gamma_star_limit_eps0": lambda p: fn.L1Staircase(1e-15, p["d"]).gamma,
    "layer_prob": lambda p: ball(p).layer_pmf(p["k"]),
    "log_peak_l1": log_peak_l1,
    "log_peak_l2": log_peak_l2,
    "radius_isf": lambda p: ball(p).radius.isf(p["tail"]),
    "radius_sf": lambda p: ball(p).radius.sf(p["r"]),
}
# The same of a ball of one dimension, which is an interval.
BALL_ON_THE_LINE = {
    "E_norm": lambda p: staircase(p).moment(1),
    "E_norm2": lambda p: staircase(p).moment(2),
    "l1_E_sumsq": lambda p: staircase(p).var(),
    "Vstar": lambda p: best_of_power(p).moment(p["m"]),
    "gamma_star": lambda p: best_of_power(p).gamma,
    "log_peak_l1": log_peak,
    "log_peak_l2": log_peak,
    "radius_isf": lambda p: staircase(p).isf(0.5 * p["tail"]),
    "radius_sf": lambda p: 2.0 * staircase(p).sf(p["r"]),
    "layer_prob": layer,
}
QUANTITIES = {
    "staircase": STAIRCASE,
    "radial_staircase": BALL,
    "tradeoff_staircase": {
        "A": central_mass,
        "P_MD": lambda p: staircase(p).tradeoff(p["P_FA"], p["shift"]),
    },
    "laplace": {
        "pdf": lambda p: laplace(p).pdf(p["x"]),
        "cdf": lambda p: laplace(p).cdf(p["x"]),
        "ppf": lambda p: laplace(p).ppf(p["p"]),
        "absmoment": lambda p: laplace(p).moment(p["m"]),
        "delta_of_eps": lambda p: laplace(p).delta_at(p["eps_prime"]),
    },
    "tradeoff_laplace": {"P_MD": lambda p: laplace(p).tradeoff(p["P_FA"])},
    "tradeoff_dp": {"P_MD": region},
    "discrete_laplace": {
        "pmf": lambda p: discrete_laplace(p).pmf(p["k"]),
        "cdf": lambda p: discrete_laplace(p).cdf(p["k"]),
        "ppf": lambda p: discrete_laplace(p).ppf(p["p"]),
        "absmean": lambda p: discrete_laplace(p).moment(1),
        "second": lambda p: discrete_laplace(p).var(),
    },
    "discrete_staircase": {
        "pmf": lambda p: discrete_staircase(p).pmf(p["i"]),
        "cdf": lambda p: discrete_staircase(p).cdf(p["i"]),
        "ppf": lambda p: discrete_staircase(p).ppf(p["p"]),
        "a": lambda p: discrete_staircase(p).pmf(0),
        "absmean": lambda p: discrete_staircase(p).moment(1),
        "second": lambda p: discrete_staircase(p).var(),
        "r_star_l1": lambda p: discrete_staircase(p, "l1").r,
        "r_star_l2": lambda p: discrete_staircase(p, "l2").r,
        "Vstar_l1": lambda p: discrete_staircase(p, "l1").expected_cost("l1"),
        "Vstar_l2": lambda p: discrete_staircase(p, "l2").expected_cost("l2"),
    },
    "uniform_delta": {
        "N": lambda p: math.floor(1 / uniform(p).exact_weights().height),
        "absmean": lambda p: uniform(p).moment(1),
        "second": lambda p: uniform(p).var(),
        "delta_exact": lambda p: uniform(p).delta_at(0.0),
    },
    "trunc_discrete_laplace": {
        "absmean": lambda p: truncated(p).moment(1),
        "second": lambda p: truncated(p).var(),
        "p0": lambda p: truncated(p).pmf(0),
        "p_edge": lambda p: truncated(p).pmf(truncated(p).support()[1]),
        "support_max": lambda p: truncated(p).support()[1],
    },
    "box": {
        "absmean": box_absmean,
        "best_var_over_s2": lambda p: best_box(p).marginal_var()[0] / 4.0,
        "best_z_over_s_for_variance": lambda p: best_box(p).core[0] / 2.0,
        "conf_beta": lambda p: box(p).confidence_region(p["conf"]).beta,
        "conf_volume": lambda p: box(p).confidence_region(p["conf"]).volume,
        "marginal_pdf": lambda p: box(p).marginal_pdf(p["i"], p["x"]),
        "peak_density": lambda p: math.exp(box(p).logpdf(np.zeros(len(p["s"])))),
        "var": lambda p: box(p).marginal_var()[p["i"]],
    },
    "l2_laplace": {
        "E_l1norm": lambda p: l2_laplace(p).expected_cost("l1"),
        "E_norm": lambda p: l2_laplace(p).radius.moment(1),
        "E_norm2": lambda p: l2_laplace(p).mse(),
        "coord_pdf": coordinate,
        "coord_var": lambda p: l2_laplace(p).expected_cost("l2") / p["n"],
        "log_normalizer": lambda p: l2_laplace(p).logpdf(np.zeros(p["n"])),
        "radius_cdf": lambda p: l2_laplace(p).radius.cdf(p["r"]),
        "radius_ppf": lambda p: l2_laplace(p).radius.ppf(p["p"]),
    },
    "composite_laplace": {
        "mse": lambda p: fn.MultiUserLaplace(p["eps"], p["m"], p["alpha"]).mse(p["n"]),
    },
    "abstract_staircase": {"prob": chance},
    "bounds_0delta": {"VLB_paper": paper_bound, "VUB_uniform": lambda p: bounds(p).uniform},
    "bounds_epsdelta": {
        "n": lambda p: bounds(p).n,
        "VLB_condition_holds": lambda p: bounds(p).condition,
        "VLB_paper": paper_bound,
    },
    "delta1_optimal": {
        "Vstar": optimum,
        "p0": lambda p: cheapest(p).pmf(0),
        "support_max": lambda p: cheapest(p).support()[1],
    },
    "derived": {
        "multi_d_decoupled_l1_constant": lambda p: limit("l1"),
        "multi_d_decoupled_l2_constant": lambda p: limit("l2"),
        # the largest ln(c^2 (2 - c)) of a dual family, at c = 4/3: it is beaten
        "thm425_best_constant_log(32/27)": lambda p: math.log(32 / 27),
        "thm426_best_constant": lambda p: limit("l2"),
    },
    "grid": {
        "log_ratio_rounded_staircase": log_ratio,
        "max_steps_round_half_even": half_even,
        "max_steps_round_half_up": half_up,
        "worst_l1_shift_over_g": l1_shift,
        "worst_l2_shift_over_g": l2_shift,
    },
}
