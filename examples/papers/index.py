"""Every table, figure, numbered statement and algorithm of the five papers: where ours is, and in what it differs.

``python examples/papers/index.py`` prints docs/research/reproduced.md; a test compares the two, and that every command
and every test named there exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BACH, DAVENPORT, YU, CARRIZOSA, KIM = (
    "Bach, Heckerman & Horvitz (2006)",
    "Davenport, Baraniuk & Scott (2010)",
    "Yu et al., quantile path",
    "Carrizosa & Martin-Barragan (2006)",
    "Kim, Magnani, Samar, Boyd & Lim (2006)",
)


@dataclass(frozen=True)
class Shown:
    """A table or figure: the script that makes it with its options, seconds, the page, and what differs.

    ``part`` says what of the paper's protocol or data is missing; empty where it is whole.
    """

    name: str
    command: str
    seconds: str
    page: str
    printed: str
    ours: str
    differs: str
    part: str = ""


@dataclass(frozen=True)
class Stated:
    """A numbered statement or algorithm, and the test of it."""

    name: str
    says: str
    test: str
    erratum: str = ""


CARRIZOSA_SETS = ("bupa", "ionosphere", "pima", "sonar", "wdbc")
#: The picture of each figure, in docs/_static; the gallery shows all of them.
PICTURES = {
    BACH: {
        "Figure 1": "bach_figure_1.png",
        "Figure 2": "bach_figure_2.png",
        "Figure 3": "bach_figure_3.png",
        "Figure 4": "bach_figure_4_top.png",
        "Figure 5": "bach_figures_5_6.png",
        "Figure 6": "bach_figures_5_6.png",
        "Figure 7": "bach_figures_7_8.png",
        "Figure 8": "bach_figures_7_8.png",
    },
    DAVENPORT: {
        "Figure 1": "davenport2010/davenport_figure_1.png",
        "Figure 2": "davenport2010/davenport_figure_2.png",
    },
    YU: {"Figure 1": "yu_figure_1.png", "Figure 2": "yu_figure_2.png"},
    CARRIZOSA: {
        **{f"Figure {k}": f"carrizosa_roc_{k}_{name}.png" for k, name in enumerate(CARRIZOSA_SETS, 1)},
        **{f"Figure {k + 5}": f"carrizosa_delta_{k}_{name}.png" for k, name in enumerate(CARRIZOSA_SETS, 1)},
    },
    KIM: {f"Figure {k}": f"kim_figure_{k}.png" for k in (1, 2, 3)},
}

#: Figures 7 and 8 have a number each in the paper, Figures 5 and 6 a sign, Figure 4 neither.
OURS = "densities are not printed, ours have the printed A"
OF_A_SIGN = "neither densities nor A are printed, ours have the printed sign"
OTHERS = "densities are not printed, ours are others"
#: Yu's sets are his own selections.
OTHER_SETS = "the paper's spam (48 784 features) and splice (30 000 samples), which are not public: UCI's instead"
#: What is missing of Davenport's study.
DRAWS = "80 of 100 draws (of image and splice 10 of 20); 117 500 of 125 000 cells"
ALPHAS = f"{DRAWS}; other values of alpha than .1 (none is printed)"
#: Mean ranks of the best method in print, what is said of p; the same here. Minimax balanced, unbalanced; then
#: Neyman-Pearson. A test compares them with docs/_static/davenport2010/table_1_2_3.csv.
RANKS = {
    1: ((1.36, 1.45, 1.18, 1.36), "p < .01", (1.55, 1.82, 1.73, 1.73), (0.15, 0.53, 0.53, 0.53)),
    2: ((2.00, 2.00, 1.91, 1.73), "p < .05", (2.45, 2.27, 1.82, 2.18), (0.74, 0.54, 0.032, 0.22)),
    3: ((2.64, 2.00, 2.18, 1.64), "p < .001, once .502", (2.36, 2.45, 2.27, 2.45), (0.43, 0.21, 0.17, 0.23)),
}


def listed(numbers: Sequence[float], decimals: int | None = None) -> str:
    """Numbers without the 0 before the point, separated by commas."""
    return ", ".join((f"{x:g}" if decimals is None else f"{x:.{decimals}f}").removeprefix("0") for x in numbers)


SHOWN = {
    BACH: (
        Shown("Figure 1", "bach2006_roc.py", "9", "../how_to/roc.md", "losses", "the same losses", "none"),
        Shown(
            "Figure 2",
            "bach2006_roc.py",
            "9",
            "../how_to/roc.md",
            "a sketch",
            "a curve of samples",
            "the paper's has no data",
        ),
        Shown(
            "Figure 3",
            "bach2006_roc.py",
            "9",
            "../how_to/roc.md",
            "lines in the cost plane",
            "the lines of `explore`",
            "none",
        ),
        Shown("Figure 4", "bach2006_roc.py", "9", "../how_to/roc.md", "two bimodal examples", "two others", OTHERS),
        Shown("Figure 5", "bach2006_population.py", "12", "../explanation/asymmetry.md", "A < 0", "A = -6", OF_A_SIGN),
        Shown(
            "Figure 6", "bach2006_population.py", "12", "../explanation/asymmetry.md", "A > 0", "A = 0.12", OF_A_SIGN
        ),
        Shown(
            "Figure 7",
            "bach2006_population.py",
            "12",
            "../explanation/asymmetry.md",
            "A = .12, -6, 3, -.96",
            "the same A",
            OURS,
        ),
        Shown(
            "Figure 8",
            "bach2006_population.py",
            "12",
            "../explanation/asymmetry.md",
            "A = .12, -6, 3, -.96",
            "the same A",
            OURS,
        ),
        Shown(
            "Table 1",
            "bach2006.py --full --totals 2 --data FOLDER",
            "172",
            "bach2006.md",
            "one>all from 0.0 to 97.4 % on 11 rows",
            "one>all from 0.0 to 51.9 %; 7 of 11 rows within 7 points",
            "the total of costs: 2 as in the caption of Table 2, up the ray as in section 3.2, of a grid; sums of "
            "differences 205, 214, 212 points",
            "one total for all rows: RINGNORM 17.5, TWONORM 6.3, IONOSPHERE 0.9 (printed 48.6, 97.4, 42.0) come with "
            "the ray only (58.3, 95.2, 39.7); the 2000 rows of ADULT (32.0, ray 90.9, grid 30.6; printed 12.0) and the "
            "densities are not public",
        ),
        Shown(
            "Table 2",
            "bach2006.py --full --totals 2 --data FOLDER",
            "172",
            "bach2006.md",
            '"all" costs less than "one" by -.04 to 35.52 on 11 rows',
            "by -.50 to 14.85, over nine folds (the paper's way) and over ten",
            "as Table 1; columns interchanged (eB15); which asymmetry of a row is shown hangs on its first fold",
            'as Table 1: of TWONORM "one" costs 36.98 (here 2.43, with the ray 13.10)',
        ),
    ),
    DAVENPORT: (
        Shown(
            "Figure 1",
            "davenport2010.py --figure-1 --data FOLDER",
            "7",
            "../how_to/tuning.md",
            "banana, one draw",
            "banana, split 1",
            "which draw is not stated",
        ),
        Shown(
            "Figure 2",
            "davenport2010.py --full --data FOLDER",
            "3626",
            "davenport2010.md",
            "bias -.01 to -.17; MSE smaller on all sets",
            "bias -.0003 to -.080; MSE smaller on all but image",
            "which draws are not stated",
            DRAWS,
        ),
        *(
            Shown(
                f"Table {k}",
                "davenport2010.py --full --data FOLDER",
                "3626",
                "davenport2010.md",
                f"best mean ranks of 11 sets {listed(printed, 2)}; {significant}",
                f"{listed(ours, 2)}; p = {listed(p)}",
                "which draws are not stated; the significances are not reproduced",
                ALPHAS,
            )
            for k, (printed, significant, ours, p) in RANKS.items()
        ),
        Shown(
            "Table 4",
            "davenport2010.py --full --data FOLDER",
            "3626",
            "davenport2010.md",
            "32 to 60 times faster than the grid",
            "6 to 9 times fewer cells; in seconds on exact lines .9 to 8.7",
            "the machine; NuSVC's seconds from twelve cells",
            DRAWS,
        ),
    ),
    YU: (
        Shown(
            "Figure 1",
            "yu_quantile.py",
            "8",
            "experiments.md",
            "two classes, three quantiles",
            "two others",
            "samples are not printed",
        ),
        Shown(
            "Figure 2",
            "yu_quantile.py --data FOLDER",
            "35",
            "experiments.md",
            "three sets; .28 to .32 % of spam's samples at the margin",
            "three sets; 2.67 to 3.78 % of spambase's",
            "the rows of the split",
            OTHER_SETS,
        ),
        Shown(
            "Table 1",
            "yu_quantile.py --table-1 --data FOLDER",
            "7",
            "experiments.md",
            "lambda 1e-3, 1e-5, 1e-2",
            "by the rule 1e-1, 1e-4, 1e-1; pima with the printed one, too",
            "the rows of the split",
            OTHER_SETS,
        ),
        Shown(
            "Table 2",
            "yu_quantile.py --data FOLDER",
            "35",
            "benchmarks.md",
            "path 11, 1106, 1316 s",
            "path .025, 3.7, .20 s, beside LIBLINEAR and L-BFGS-B in one run",
            "the machine",
            OTHER_SETS,
        ),
    ),
    CARRIZOSA: (
        *(
            Shown(
                f"Figure {k}",
                "carrizosa2006.py --data FOLDER",
                "9",
                "experiments.md",
                what,
                what,
                "seed, folds and positive class are not stated",
            )
            for k, what in (
                *((k, f"ROC curves of {name}") for k, name in enumerate(CARRIZOSA_SETS, 1)),
                *((k, f"rates against Delta, {name}") for k, name in enumerate(CARRIZOSA_SETS, 6)),
            )
        ),
        Shown(
            "Table 1",
            "carrizosa2006.py --data FOLDER",
            "9",
            "experiments.md",
            "five sets",
            "the same sizes",
            "bupa's five variables: without `drinks`",
        ),
    ),
    KIM: (
        Shown(
            "Figure 1",
            "kim2006.py",
            "8",
            "experiments.md",
            "a sketch",
            "the curve of two classes, with A and B",
            "the paper's has no numbers",
        ),
        Shown(
            "Figure 2",
            "kim2006.py",
            "8",
            "experiments.md",
            "a sketch",
            "the same classes, with C and D",
            "the paper's has no numbers",
        ),
        Shown(
            "Figure 3",
            "kim2006.py --data FOLDER",
            "51",
            "experiments.md",
            "ionosphere",
            "ionosphere",
            "ridge, bandwidth and number of splits are not stated",
        ),
    ),
}

POPULATION, NU, LEMMAS, RATES, MARGINS, HYPERPLANES, QUANTILE = (
    "tests/distributions/population/test_expansions.py",
    "tests/formulations/test_two_nu_svm.py",
    "tests/theorems/test_lemmas_davenport.py",
    "tests/distributions/gaussian/test_rates.py",
    "tests/formulations/test_biobjective_margin.py",
    "tests/problem/test_class_margins.py",
    "tests/formulations/test_quantile_svm.py",
)

STATED = {
    BACH: (
        Stated(
            "Proposition 1",
            "expansion of slope and intercept, square loss",
            f"{POPULATION}::test_square_loss_orders_of_the_remainders",
            "eB1",
        ),
        Stated(
            "Proposition 2", "the same for the erf loss", f"{POPULATION}::test_erf_loss_orders_of_the_remainders", "eB2"
        ),
        Stated(
            "Proposition 3",
            "testing asymmetry, square loss",
            f"{POPULATION}::test_square_loss_orders_of_the_remainders",
            "eB2",
        ),
        Stated(
            "Proposition 4",
            "testing asymmetry, erf loss",
            f"{POPULATION}::test_propositions_2_and_4_in_the_logarithm_of_the_asymmetry",
            "eB2, eB3",
        ),
    ),
    DAVENPORT: (
        Stated("Proposition 1", "shares of margin errors and support vectors", f"{NU}::test_proposition_1_fractions"),
        Stated("Proposition 2", "feasible nu", f"{NU}::test_proposition_2_the_feasible_nu"),
        Stated("Proposition 3", "feasible pairs", f"{NU}::test_the_two_pairs_of_parameters", "eD10"),
        Stated("Theorem 1", "from 2C to 2nu", f"{NU}::test_theorem_1_a_2c_solution_is_a_2nu_solution"),
        Stated("Theorem 2", "from 2nu to 2C", f"{NU}::test_theorem_2_a_2nu_solution_is_a_2c_solution", "eD2"),
        Stated("Theorem 3", "nu over C, and its limits", f"{NU}::test_theorem_3_on_both_sides_of_the_limits"),
        Stated(
            "Lemma 1",
            "a solution with sum nu",
            f"{LEMMAS}::test_lemma_1_all_solutions_have_sum_nu_where_the_value_is_not_zero",
            "eD4",
        ),
        Stated(
            "Lemma 2",
            "one solution shared, all shared",
            f"{LEMMAS}::test_lemma_2_one_shared_solution_and_all_are_shared",
        ),
        Stated(
            "Lemma 3",
            "where the value is 0",
            f"{LEMMAS}::test_lemma_3_a_value_of_zero_at_the_nu_of_a_cost_is_the_largest_nu_at_every_cost",
            "eD4",
        ),
        Stated("Lemma 4", "the sum of the multipliers over C", f"{NU}::test_theorem_3_nu_of_C", "eD3"),
        Stated(
            "Algorithm 1",
            "smoothed grid search",
            "tests/tuning/test_smoothing.py::test_algorithm_1_looks_at_everything_and_takes_the_smoothed_minimum",
            "eD7",
        ),
        Stated(
            "Algorithm 2",
            "coordinate descent",
            "tests/tuning/test_smoothing.py::test_algorithm_2_as_printed_on_random_tables",
        ),
    ),
    YU: (
        Stated(
            "Lemma 2.1",
            "the rule of least risk",
            "tests/theorems/test_paper_yu2009.py::test_lemma_2_1_no_rule_has_a_smaller_risk",
            "eY8",
        ),
        Stated("Lemma 2.2", "the minimiser of the risk", f"{QUANTILE}::test_the_lemma_corrected", "eY2"),
        Stated(
            "Proposition 3.1",
            "the dual path is piecewise affine",
            "tests/path/svm/test_quantile_path.py::test_proposition_3_1_the_multipliers_are_continuous_and_piecewise_linear",
        ),
        Stated(
            "Algorithm 1",
            "dual path finding",
            "tests/theorems/test_paper_yu2009.py::test_the_strict_inequality_of_19_is_right",
            "eY6",
        ),
    ),
    CARRIZOSA: (
        Stated(
            "Lemma 3",
            "weakly efficient solutions by weights",
            f"{MARGINS}::test_lemma_3_in_both_directions",
        ),
        Stated("Lemma 4", "the weighted problem", f"{MARGINS}::test_lemma_4_cvxpy_against_the_closed_form"),
        Stated(
            "Theorem 5",
            "the weakly efficient set",
            f"{MARGINS}::test_theorem_5_and_corollary_6_nothing_dominates_the_pareto_set",
        ),
        Stated("Corollary 6", "it is the Pareto set", f"{HYPERPLANES}::test_theorem_5_and_corollary_6", "eC1"),
        Stated("Theorem 7", "the same with slacks", f"{MARGINS}::test_theorem_7_cvxpy_against_the_closed_form", "eC6"),
    ),
    KIM: (
        Stated(
            "Proposition 1",
            "one family for all rates",
            f"{RATES}::test_proposition_1_the_classifiers_are_the_same_whatever_the_rates",
        ),
        Stated(
            "Proposition 2",
            "Chebyshev bounds",
            f"{RATES}::test_proposition_2_optimal_for_the_bounds_exactly_where_both_rates_are_above_one_half",
        ),
        Stated(
            "Lemma 1", "rates of scale mixtures", f"{RATES}::test_lemma_1_draws_of_a_scale_mixture_have_the_rate", "eK3"
        ),
        Stated("Lemma 2", "worst case in a Kullback-Leibler ball", f"{RATES}::test_lemma_2_in_the_papers_words", "eK5"),
        Stated(
            "Corollary 1",
            "scale mixtures",
            f"{RATES}::test_corollary_1_the_family_is_optimal_for_any_two_mixing_distributions",
        ),
        Stated(
            "Corollary 2",
            "Kullback-Leibler balls",
            f"{RATES}::test_corollary_2_corrected_only_the_part_beyond_the_thresholds_is_optimal",
            "eK6",
        ),
    ),
}


def pictured(paper: str, name: str) -> str:
    """The name of an item, with a link to its picture where it is a figure."""
    picture = PICTURES[paper].get(name)
    return name if picture is None else f"[{name}](../_static/{picture})"


#: What the authors leave for later, or to the reader; and where it is here, or why it is not.
LEFT = (
    (BACH, "section 5: several kernels", "`bach2006_kernels.py`: the weights by CVXPY, the path for fixed ones"),
    (DAVENPORT, "section 6 leaves nothing open", ""),
    (YU, "section 7: quantile regression", "`yu_quantile.py --regression` ([page](experiments.md))"),
    (
        YU,
        "section 7: several classes",
        "not here: one-against-rest is several of these paths, and a joint problem has other multipliers",
    ),
    (YU, "section 7: warm starts against the cost of a step", "an update of the inverse, in the core (`factor.hpp`)"),
    (
        CARRIZOSA,
        'section 6 asks nothing; "a theoretical foundation for the commonly used ROC approach"',
        "for $\\lvert\\beta-\\beta_1\\rvert<1$ only, a part of the curve (eC5)",
    ),
    (
        CARRIZOSA,
        'section 6: "different misclassification costs, or known a priori probabilities"',
        "costs in training (`trace` of a `TwoCSVM`) beside the threshold: `roc_of_path(vary=...)` has both curves and "
        "that of varying both ([page](../how_to/roc.md))",
    ),
    (
        CARRIZOSA,
        'section 5: $\\beta$ "is up to the decision maker"',
        "the cheapest for costs and priors is `curve.best(...)`, on samples held out `cross_validated_roc(...)`",
    ),
    (
        CARRIZOSA,
        "section 5: the training curve is a surrogate of the population's, which is unknown",
        "bands and tests of curves ([page](../how_to/roc.md)); `carrizosa2006.py --full` shows how far off it is on 10 "
        "draws ([page](experiments.md))",
    ),
    (CARRIZOSA, "sections 2 and 5: a linear kernel", "any kernel: the theorems are about its feature space"),
    (KIM, "section 7: confidence bands", "`tradeoff.band(...)` ([page](experiments.md))"),
    (
        KIM,
        "section 7: generative against discriminative, by the area",
        "`examples/generative_discriminative.py` ([page](experiments.md))",
    ),
)


def page() -> str:
    """The whole page in Markdown."""
    shown = [each for of_paper in SHOWN.values() for each in of_paper]
    stated = [each for of_paper in STATED.values() for each in of_paper]
    algorithms = sum(each.name.startswith("Algorithm") for each in stated)
    whole = sum(not each.part for each in shown)
    lines = [
        "# Five papers, item by item",
        "",
        f"{len(shown)} tables and figures: {whole} whole, {len(shown) - whole} in part. {len(stated) - algorithms} "
        f"numbered statements and {algorithms} algorithms, each with its test.",
        "",
        "*Whole* means: everything that the item shows is computed here, by the paper's protocol, on its data; where "
        "the paper prints no data (a sketch, densities, samples of its own) or does not state a choice, on ours, and "
        "the row says so under *Differs*. It does not mean that every number is the printed one. *In part* means that "
        "something of the paper's protocol or data is missing, and the last column says what.",
        "",
        "The significances of Davenport, Baraniuk & Scott are not reproduced: printed are p < .01 for all of Table 1, "
        "p < .05 for all of Table 2, and p < .001 in Table 3 except for .502; ours are "
        + "; ".join(f"{listed(p)} (Table {k})" for k, (*_, p) in RANKS.items())
        + ".",
        "",
        "Commands stand in `examples/papers/`; `FOLDER` "
        "holds the data sets by name (without `--data` scripts take built-in or generated samples). Seconds are "
        "processor time of one core, measured (of Bach's tables the paths and reading them off; of Davenport's 3626 "
        "the studies of all realisations). A test is run by `python -m pytest -q -m ''` and its name; "
        "what was wrong in print is in "
        "the [errata](errata.md).",
    ]
    for paper in SHOWN:
        lines += ["", f"## {paper}", "", "| | Command | s | Printed | Here | Differs | |", "| --- " * 7 + "|"]
        lines += [
            f"| {pictured(paper, x.name)} | `{x.command}` | {x.seconds} | {x.printed} | {x.ours} ([page]({x.page})) "
            f"| {x.differs} | {f'in part; missing: {x.part}' if x.part else 'whole'} |"
            for x in SHOWN[paper]
        ]
        lines += ["", "| | Says | Test | Erratum |", "| --- " * 4 + "|"]
        lines += [f"| {x.name} | {x.says} | `{x.test}` | {x.erratum} |" for x in STATED[paper]]
    lines += ["", "## What the authors left open", "", "| | Left | Here |", "| --- " * 3 + "|"]
    lines += [
        f"| {paper.split(',')[0].split(' et')[0].split(' &')[0]} | {left} | {here} |" for paper, left, here in LEFT
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
