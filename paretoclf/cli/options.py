"""Subcommands, options, help texts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from paretoclf.common.errors import InputError

ABOUT = """\
Every optimum of a convex program along its parameters, exactly, with a proof: of linear and quadratic programs in
files (.mps, .qps, .lp), and of support vector machines along their costs. What other solvers found is judged."""

TRACE = """\
Of MODEL.mps (or .qps, .lp, also with .gz), and of every --move: the optimum of the program at every point of the line
on which these of its numbers move together, with a proof. With --by FROM..TO the line is a direction, and each --move
says what a unit adds, a number or a share such as 5%; rhs:* is every right-hand side. A row is printed for each
breakpoint: the value, its slopes on both sides for a unit of the number that moves (the shadow price; of t, where
several move), and what becomes tight or free there. Where both slopes are equal the value has no kink. --csv has every
variable and multiplier; --out DIR has path.npz, and page.html with --html.

Of samples: trace every cost-optimal SVM of a data set along two lines of the cost plane: the ray C_plus n_plus =
C_minus n_minus from zero costs to mean cost 10, and the asymmetry line C_plus + C_minus = TOTAL with the asymmetry
C_plus / (C_plus + C_minus) from 0.02 to 0.98. Print breakpoints, the worst certificate, the agreement with CVXPY and
held-out AUCs: of classifiers chosen on validation folds inside the training part, and, for comparison, of the upper
envelope chosen on the labels that judge it, which is optimistic. The last lines are what to take away: the classifier
that was chosen for --costs and how to use it, the cost of a sample to expect where it was not chosen, the worst proof,
the files: roc.png, path.png, path.npz (asymmetry line), ray.npz, model.json (the classifier), report.json, and with
--html the report as one page and the path as a page to play with."""

TRACE_EXAMPLES = """\
examples:
  paretoclf trace model.mps --move rhs:CAP1=100..300
  paretoclf trace model.mps.gz --move rhs:CAP1=100..300 --move cost:X7=2..5 --csv path.csv --out traced --html
  paretoclf trace model.mps --move rhs:CAP1=10 --move rhs:CAP2=5 --by 0..1
  paretoclf trace model.mps --move 'rhs:*=1%' --by=-10..10
  paretoclf trace wdbc --out out
  paretoclf trace wdbc --kernel rbf --bandwidth 5 --json > report.json
  paretoclf trace patients.csv --label diagnosis --positive M --costs 20 1 --html --out patients
  paretoclf trace clients.csv --label bought --positive yes --one-hot city,plan --separator ";" --encoding latin-1
  paretoclf trace twonorm --n 200 --seed 1 --kernel poly --degree 2
  paretoclf trace sonar --data-dir data --no-standardize --total 10"""

PREDICT = """\
Label new samples by the classifier that trace or tune chose: columns are found by their names, categories and scaling
are those of the training samples. Print a CSV table, or write it to FILE: the row in the file, the score (0 is
the border), and the label. With --label, the column of the true labels, misses and false alarms are counted."""

PREDICT_EXAMPLES = """\
examples:
  paretoclf trace patients2023.csv --label diagnosis --positive M --costs 20 1 --out patients
  paretoclf predict patients/model.json patients2024.csv > labels.csv
  paretoclf predict patients/model.json patients2024.csv --label diagnosis --out labels.csv
  paretoclf predict patients/model.json patients2024.csv --missing median --json"""

ROC = """\
ROC curves of a saved path on a data set: varying the intercept, the asymmetry, or both. Classifiers are chosen on some
of the samples and judged on the others; the upper envelope, chosen on the labels that judge it, is optimistic. Where
the report.json that `paretoclf trace` wrote lies beside the path, columns are found by their names, and categories and
scaling are those of the training samples."""

ROC_EXAMPLES = """\
examples:
  paretoclf trace patients2023.csv --label diagnosis --positive M --out patients
  paretoclf roc patients/path.npz patients2024.csv --label diagnosis --positive M --out roc2024.png
  paretoclf roc out/path.npz wdbc --json"""

PAGE = """\
Write one HTML file to play with: a slider along the asymmetry line C_plus + C_minus = TOTAL of a data set, from
asymmetry 0.02 to 0.98, with decision boundary, margins and margin sets over two features (or the two leading
directions), multipliers, coefficients, the optimal value with its proved bounds, the events, and the rates on samples
that are held out. The file needs no server, no network and no other file; a keyboard can drive it."""

PAGE_EXAMPLES = """\
examples:
  paretoclf page wdbc --features mean_radius,mean_texture --out page.html
  paretoclf page wdbc --features mean_radius,mean_texture --kernel rbf --n 150
  paretoclf page patients.csv --label diagnosis --positive M --held-out 0.5"""

PROVE = """\
Write the certificate file of a saved path: the problem in exact numbers, and what proves the path at every t. Beside it
the script is put that checks it, in plain Python and integers, with no package installed. Level exact: optimal,
nothing rounded. Level bounded: the path as it is stored, and how far it is from optimal at any t. A path within eps has
a band, and a curve polynomials, each of a level of its own."""

PROVE_EXAMPLES = """\
examples:
  paretoclf trace wdbc --out out && paretoclf prove out/path.npz --positive malignant --out out/wdbc.proof.json.gz
  (cd out && python check.py wdbc.proof.json.gz)
  paretoclf prove out/ray.npz --level bounded --out out/ray.proof.json"""

CHECK = """\
Check a certificate file by the script that is for it, and print the statement that is proved, or what fails. Scripts
are plain Python and integers (paretoclf/proof/check*.py): to trust as little as can be, read and run them yourself."""

CHECK_EXAMPLES = """\
examples:
  paretoclf check out/wdbc.proof.json.gz
  paretoclf check mine.proof.json --data mine.csv --positive sick
  paretoclf check path.proof.json --model model.mps --move rhs:CAP1=100..300
  paretoclf check band.proof.json --json
  paretoclf check --page check.html"""

LESSON = """\
Write a lesson as a Jupyter notebook, NAME.ipynb, run here, with what it prints and draws; without LESSON list them. A
notebook opens in Jupyter, VS Code, or whatever else reads notebooks; links to other lessons lead to their notebooks in
the same folder. Solutions of exercises, and code that only draws, are folded. With --student the file is
NAME_student.ipynb, a copy to hand out: an empty cell stands where a solution was. week_1 to week_6 are the sheets of
exercises of the course, which `paretoclf grade` takes. `duality` is a page to play with, for
lessons 2 and 3: duality.html, a classifier and its multipliers to be moved by hand, and both bounds."""

LESSON_EXAMPLES = """\
examples:
  paretoclf lesson
  paretoclf lesson 2
  paretoclf lesson all --out lessons
  paretoclf lesson 2 --student
  paretoclf lesson week_2 --student
  paretoclf lesson weak_duality --png --out slides
  paretoclf lesson duality"""

GRADE = """\
Grade the submissions to exercises: a row for each student and exercise, with points, a verdict and its sentence.
EXERCISE.py defines `exercises`, a list of cvxpy.Problem, or a dict of them by their names, or a function that makes
these for a student's name; EXERCISE.py:NAME is another name, and week_1 to week_6 are the sheets of the course
(`paretoclf lesson week_1 --student`). A submission in SUBMISSIONS is a file of a student (ada.py, ada.ipynb, ada.json,
ada.csv), or the only such file in a folder of the student's name. It has `answers`, a dict by the names of the
exercises: {"values": ..., "duals": ...}, "infeasible", {"ray": ...}, or {"dual": a cvxpy.Problem}; a JSON file is that
dict, a CSV file has the columns exercise, name, value. Right values have 2 points and right multipliers 1; a claim, a
ray or a dual has 3; `points` in EXERCISE.py says otherwise. Python files and notebooks ARE RUN, each in a process of
its own: do it where the code of others can do no harm. What crashes, takes too long or is missing has a row that says
so."""

GRADE_EXAMPLES = """\
examples:
  paretoclf grade exercise.py submissions --csv grades.csv
  paretoclf grade exercise.py submissions --tol 1e-2 --json
  paretoclf grade homework.py:duals submissions --seconds 300
  paretoclf lesson week_2 --student && paretoclf grade week_2 submissions --csv week_2.csv"""

TRADEOFF = """\
Draw the optimal trade-off curve of linear classifiers between the true negative and the true positive rate, of two
classes of which the means and covariances count (Kim et al. 2006), in closed form. The classifiers are the same,
however they are judged; --rates says how: Gaussian classes; Chebyshev bounds (whatever the distributions); the worst
case within a Kullback-Leibler divergence of the Gaussian; multivariate t. Write tradeoff.png,
tradeoff.csv (one row a classifier, spaced by the first of the rates; slope and intercept in the units of the data) and
report.json."""

TRADEOFF_EXAMPLES = """\
examples:
  paretoclf tradeoff wdbc --out tradeoff
  paretoclf tradeoff wdbc --rates gaussian chebyshev
  paretoclf tradeoff patients.csv --label diagnosis --positive M --rates kl --delta 0.05 --json
  paretoclf tradeoff twonorm --rates student --df 4 --max-fpr 0.01
  paretoclf tradeoff sonar --data-dir data --reg 0.1"""

TUNE = """\
Choose the parameters of a 2nu-SVM with Gaussian kernels for minimax, Neyman-Pearson or expected cost (Davenport,
Baraniuk & Scott 2010): cross-validated error rates over (nu_plus, nu_minus, bandwidth), smoothed, searched; the chosen
classifier is trained and certified. With --delta part of the negatives is left out, and the threshold is set on them so
that the false positive rate is above ALPHA with probability at most DELTA. Write tuning.png, errors.csv (one row a
cell), model.json (what was chosen, for `paretoclf predict`) and report.json."""

TUNE_EXAMPLES = """\
examples:
  paretoclf tune wdbc --criterion np --alpha 0.05 --out tuned
  paretoclf tune wdbc --criterion np --alpha 0.05 --delta 0.05 --method coordinate-descent-3d
  paretoclf tune patients.csv --label diagnosis --positive M --criterion minimax --points 25 --jobs 4
  paretoclf tune twonorm --n 200 --method balanced --json
  paretoclf tune sonar --data-dir data --criterion cost --costs 10 1 0.01 --resume errors.npz"""

VERIFY = """\
Judge solutions that another solver computed: a certificate (duality gap, KKT residuals) for every row of FILE, and the
first row that is not proved optimal, and why. FILE is a CSV file with the columns C_plus, C_minus (or C for both, or
lambda), b (or alpha0; or none), and one column per sample with its multiplier (or columns w1, w2, ...); or, without a
header, C_plus, C_minus (or C), the multipliers, and b (or none); an npz file with the arrays costs (or C, or lambda),
alpha (or w) and b; or a model file of LIBSVM or LIBLINEAR. With lambda multipliers lie in [0, 1] and
f = (sum_i y_i alpha_i k(x_i, x)) / lambda + b; alpha0 is lambda b. With --between the rows are the knots of a path.
With --suite a Python function is judged on problems whose exact optima are known. A Python file, PAIRS.py, has a list
`pairs` of (problem, solution): a cvxpy.Problem and its values, or what else `verify` takes; each is judged in a line.
MODEL.mps (or .qps, .lp, also with .gz) is a program of any modelling system: SOLUTION is the file of a solution that
HiGHS, Gurobi, CPLEX, CBC, GLPK or SCIP wrote, with duals where it has any, or a CSV file of names and numbers: values
of its variables and, where they are to be judged, multipliers of its rows; a line `*,0` for variables left out.
PATH.npz is a saved path of a program: SOLUTION is a CSV file of t, or the parameter, and value, the objective there.
The exit status is 0 if everything is proved optimal to --tol, 1 if something is proved not to be, 2 if the input cannot
be read, 3 if nothing is refuted but something is undecided."""

VERIFY_EXAMPLES = """\
examples:
  paretoclf verify path.csv --data patients.csv --label diagnosis --positive M --between
  paretoclf verify path.npz --data samples.npz --kernel rbf --bandwidth 2 --json > report.json
  paretoclf verify path.npz --data gram.npz --kernel precomputed --tol 1e-6
  paretoclf verify svm.model --data train.libsvm --costs 2 1
  paretoclf verify fits.csv --data patients.csv --no-header --label 9 --kernel rbf --gamma 0.1 --standardise
  paretoclf verify nu_path.npz --data samples.npz --formulation TwoNuSVM
  paretoclf verify pairs.py --tol 1e-6
  paretoclf verify model.mps highs.sol
  paretoclf verify model.mps infeasible
  paretoclf verify model.mps --conflict
  paretoclf verify model.mps solution.csv --tol 1e-6
  paretoclf verify path.npz values.csv --tol 1e-9
  paretoclf verify --suite my_solver.py:solve"""

RANGES = """\
Print, for every cost, right-hand side and bound of a program, what the optimal value does when that number alone is
moved: its price below and above where it stands (they differ where the optimum is degenerate), how far each price
holds, and what becomes tight or free there. Every number is proved, or said not to be. With --report the lines are
those of a spreadsheet's sensitivity report, and "degenerate" where there are two prices."""

RANGES_EXAMPLES = """\
examples:
  paretoclf ranges model.mps
  paretoclf ranges model.mps --report --csv report.csv
  paretoclf ranges model.mps --of CAP1,X7 --csv ranges.csv
  paretoclf ranges model.lp.gz --json > ranges.json
  paretoclf ranges mixed.mps --integers gurobi.sol
  paretoclf ranges model.mps --prove ranges.proof.json && paretoclf check ranges.proof.json"""

DERIVATIVES = """\
Print how fast the optimal value, every variable and every multiplier of a program change where some of its numbers
move, on both sides, and for how many units that holds. What has no derivative there is said, and why."""

DERIVATIVES_EXAMPLES = """\
examples:
  paretoclf derivatives model.mps --move rhs:CAP1
  paretoclf derivatives model.mps --move rhs:CAP1=2 --move cost:X7=-1 --json
  paretoclf derivatives model.mps --move 'rhs:*=1%'"""

PLANE = """\
Map the optimum of a program at every pair of two of its numbers: the regions on which the same rows are tight, each
with its middle, its area and the value there, and the parts without an optimum; all of it is proved."""

PLANE_EXAMPLES = """\
examples:
  paretoclf plane model.mps --move rhs:CAP1=100..300 --move cost:X7=2..5
  paretoclf plane model.mps --move rhs:CAP1=100..300 --move rhs:CAP2=0..50 --csv regions.csv --out map.npz"""

EXPORT = """\
Write a saved path as a table that anybody reads, after it was proved again: a row for each breakpoint, with the
parameters, the optimal value, its slopes on both sides, every variable and every multiplier by its name, and what
changes there; two rows where one of them jumps. Between two rows of a program's path all of them but the value and its
slopes move along straight lines. With --at the rows are those of the optima that are asked for: of a linear classifier
w and b, for samples as it was traced on them (trace scales them, unless --no-standardize)."""

EXPORT_EXAMPLES = """\
examples:
  paretoclf trace model.mps --move rhs:CAP1=100..300 --out traced
  paretoclf export traced/path.npz --csv path.csv
  paretoclf export traced/path.npz --at rhs:CAP1=150 --at 0.5 --csv two.csv
  paretoclf export traced/path.npz --json > path.json"""

#: How numbers of a program are called.
WORDS = "WHAT is rhs:ROW, cost:VARIABLE, or lower:NAME or upper:NAME of a row or variable"

FORMULATIONS = """\
List the formulations, or print the statement of one: primal, Lagrangian, dual, KKT conditions, the sign of each
multiplier and the way to the classifier, in Markdown with LaTeX. Formulations of your own are read from a Python file
or module."""

FORMULATIONS_EXAMPLES = """\
examples:
  paretoclf formulations
  paretoclf formulations TwoNuSVM > two_nu.md
  paretoclf formulations --from prototype_a_formulation.py
  paretoclf formulations SquaredHinge --from prototype_a_formulation.py --json"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are the one line that every error of ours is."""

    def error(self, message: str) -> NoReturn:
        """Report bad arguments."""
        raise InputError(f"{message} (see {self.prog} --help)")


class Completion(argparse.Action):
    """Print the completions of a shell, and stop."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> NoReturn:
        """Print them for the shell that is named."""
        try:
            import shtab
        except ImportError:
            raise InputError("--print-completion needs shtab: pip install 'paretoclf[completion]'") from None
        files = ("SOURCE", "MODEL", "FILE", "FILE.py", "FILE.npz", "FILE.html", "FILE.png", "PATH.npz", "EXERCISE.py")
        kinds = {**dict.fromkeys(files, shtab.FILE), **dict.fromkeys(("DIR", "SUBMISSIONS"), shtab.DIRECTORY)}
        commands = next(action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        for command in commands.values():
            for action in command._actions:
                if action.metavar in kinds:
                    action.complete = kinds[action.metavar]
        print(shtab.complete(parser, shell=given[1]))
        parser.exit()


def build_parser(version: str) -> Parser:
    """Make the parser of the whole command line."""
    parser = Parser(
        prog="paretoclf",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="exit status: 0 success, 1 the computation stopped with an error or verify found one, 2 bad input, "
        "3 verify could not decide",
    )
    parser.add_argument("--version", action="version", version=f"paretoclf {version}")
    parser.add_argument(
        "--print-completion",
        action=Completion,
        choices=("bash", "zsh", "tcsh"),
        metavar="SHELL",
        help='print what a shell needs to complete our words, and stop: eval "$(paretoclf --print-completion bash)"',
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    plain: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    for name, (short, description, examples, options) in COMMANDS.items():
        options(commands.add_parser(name, help=short, description=description, epilog=examples, **plain))
    return parser


def refuse_foreign(args: argparse.Namespace, allowed: Sequence[str], of: str) -> None:
    """Refuse options that were given and belong to something else."""
    parser = build_parser("")
    usual = vars(parser.parse_args([args.command, args.source]))
    for name, value in vars(args).items():
        if name not in allowed and value != usual[name]:
            raise InputError(f"--{name.replace('_', '-')} belongs to {of}, got {args.source}")


def _move(group: argparse._ArgumentGroup, metavar: str, text: str) -> None:
    group.add_argument("--move", action="append", metavar=metavar, help=text)


def _by(group: argparse._ArgumentGroup) -> None:
    text = "so many units of a direction, in which each --move is WHAT[=RATE], as rhs:CAP1=10 or 'rhs:*=5%%'"
    group.add_argument("--by", metavar="FROM..TO", help=text)


def _csv(output: argparse._ArgumentGroup) -> None:
    output.add_argument("--csv", metavar="FILE.csv", help="write the table to this file, with all digits")


def _model(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """The program itself."""
    parser.add_argument("model", metavar="MODEL", help="a linear or quadratic program: .mps, .qps or .lp, or with .gz")
    group = parser.add_argument_group("numbers of the program")
    _integers(group)
    return group


def _integers(group: argparse._ArgumentGroup, of: str = "") -> None:
    group.add_argument(
        "--integers",
        metavar="relax|SOLUTION",
        help=f"{of}any numbers between their bounds, or those of a solution file",
    )


def _ranges(parser: argparse.ArgumentParser) -> None:
    asked = _model(parser)
    asked.add_argument("--of", action="append", metavar="NAMES", help="of these rows and variables: CAP1,X7")
    output = _output(parser)
    output.add_argument("--report", action="store_true", help="as a sensitivity report: reduced costs, shadow prices")
    _csv(output)
    _prove_to(output)


def _derivatives(parser: argparse.ArgumentParser) -> None:
    _move(_model(parser), "WHAT[=RATE]", f"what moves, by so much in a unit, or by 5%% of it; default: 1. {WORDS}")
    _prove_to(_output(parser))


def _prove_to(output: argparse._ArgumentGroup) -> None:
    output.add_argument("--prove", metavar="FILE.json", help="write a certificate file, which paretoclf check reads")


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH.npz", help="a saved path")
    text = "the optimum here alone: at this t, or where a number that moves has this value; may be repeated"
    parser.add_argument("--at", action="append", metavar="[NAME=]VALUE", help=text)
    _csv(_output(parser))


def _plane(parser: argparse.ArgumentParser) -> None:
    _move(_model(parser), "WHAT=FROM..TO", f"a side of the rectangle; given twice. {WORDS}")
    output = _output(parser)
    _csv(output)
    output.add_argument("--out", metavar="FILE.npz", help="write the map to this file, for paretoclf.load")


def _trace(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    program = parser.add_argument_group("program")
    _move(program, "WHAT=FROM..TO", f"a number of the program that moves. {WORDS}")
    _by(program)
    _integers(program)
    model = parser.add_argument_group("model")
    _kernel(model)
    model.add_argument(
        "--total", type=float, default=2.0, metavar="C", help="C_plus + C_minus on the asymmetry line; default: 2"
    )
    _standardise(model, "scale features to mean 0 and variance 1 (in held-out figures: of the training part)")
    judging = parser.add_argument_group("held-out curves")
    judging.add_argument(
        "--repeats", type=int, default=3, metavar="R", help="partitions into folds, for the bands; default: 3"
    )
    judging.add_argument(
        "--costs",
        nargs=2,
        type=float,
        default=(1.0, 1.0),
        metavar=("C_PLUS", "C_MINUS"),
        help="of a missed positive and of a false alarm where the classifier is used; default: 1 1",
    )
    output = _output(parser)
    output.add_argument(
        "--out", metavar="DIR", help="folder for the files; default: out, and of a program no files at all"
    )
    _csv(output)
    output.add_argument("--html", action="store_true", help="write report.html, too, and page.html to play with")
    output.add_argument("--quiet", action="store_true", help="print nothing, show no progress")


def _standardise(group: argparse._ArgumentGroup, text: str, default: bool = True) -> None:
    group.add_argument(
        "--standardize",
        "--standardise",
        action=argparse.BooleanOptionalAction,
        default=default,
        help=f"{text}; default: {'yes' if default else 'no'}",
    )


def _kernel(model: argparse._ArgumentGroup) -> None:
    model.add_argument("--kernel", choices=("linear", "rbf", "poly"), default="linear", help="default: linear")
    model.add_argument(
        "--bandwidth",
        type=_width,
        metavar="SIGMA",
        help="width of the rbf kernel, or 'median', the median distance; default: that of scikit-learn's gamma='scale'",
    )
    model.add_argument("--degree", type=int, metavar="D", help="degree of the poly kernel; default: 3")


def _width(text: str) -> float | str:
    try:
        return text if text == "median" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or 'median', got {text!r}") from None


def _predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="the model.json of trace or tune")
    parser.add_argument("source", metavar="SOURCE", help="new samples: a .csv file, or what trace takes")
    data = parser.add_argument_group("data")
    data.add_argument("--label", metavar="COLUMN", help="the true labels, where they are known")
    data.add_argument("--keep", metavar="COLUMN", help="a column to put beside the labels, such as an identifier")
    _reading(data)
    unseen = "categories that the training samples had not: leave their rows out, or take the most frequent one"
    data.add_argument("--unseen", choices=("drop", "frequent"), help=unseen)
    _output(parser).add_argument("--out", metavar="FILE", help="write the table to this file")


def _roc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH.npz", help="a saved path")
    _data(parser)
    _output(parser).add_argument("--out", metavar="FILE.png", help="write the picture to this file")


def _page(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    model = parser.add_argument_group("model")
    _kernel(model)
    model.add_argument("--total", type=float, default=2.0, metavar="C", help="C_plus + C_minus; default: 2")
    _standardise(model, "scale features to mean 0 and variance 1 on the samples that are traced")
    model.add_argument(
        "--held-out",
        type=float,
        default=0.3,
        metavar="SHARE",
        help="of the samples, for the rates; 0: none; default: 0.3",
    )
    output = _output(parser)
    output.add_argument("--out", default="page.html", metavar="FILE.html", help="the file; default: page.html")


def _prove(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE.npz", help="a path that was saved, as path.npz of trace")
    parser.add_argument(
        "--level", choices=("exact", "bounded"), help="default: exact where that is expected to take a minute or less"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes; the file is the same; default: one")
    parser.add_argument("--positive", metavar="LABEL", help="the label that y = +1 stands for in your data; default: 1")
    output = _output(parser)
    output.add_argument("--out", default="path.proof.json.gz", metavar="FILE", help="default: path.proof.json.gz")
    output.add_argument("--quiet", action="store_true", help="print nothing")


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a certificate file, compressed where its name ends in .gz")
    parser.add_argument(
        "--page", action="store_true", help="write FILE.html instead, a page that checks files in a browser"
    )
    given = parser.add_argument_group("your own data, of classifiers")
    given.add_argument("--data", metavar="OWN.csv", help="features and labels are those of this file")
    given.add_argument("--standardised", metavar="OWN.csv", help="the same after each column is standardised")
    given.add_argument("--positive", metavar="LABEL", help="the label of +1 in your file")
    given.add_argument("--costs", metavar="C+,C-,C+,C-[,WEIGHTS]", help="costs at t = 0 and at t = 1")
    parser.add_argument(
        "--within", type=float, metavar="BOUND", help="of a bounded certificate: refuse it if its bound is larger"
    )
    own = parser.add_argument_group("your own model, of paths of programs")
    own.add_argument("--model", metavar="MODEL", help="every number is that of this .mps, .qps or .lp file")
    _move(own, "WHAT=FROM..TO", f"what moves in it, from where to where. {WORDS}")
    _by(own)
    _integers(own)
    _output(parser)


def _lesson(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lesson", nargs="*", metavar="LESSON", help="its number or its name, one or more; all; week_1, ...; or duality"
    )
    output = _output(parser)
    output.add_argument("--out", default=".", metavar="DIR", help="folder for the files; default: this one")
    output.add_argument("--run", action=argparse.BooleanOptionalAction, default=True, help="run it; default: yes")
    output.add_argument("--png", action="store_true", help="write its figures as files, too: NAME_1.png, ...")
    output.add_argument("--student", action="store_true", help="NAME_student.ipynb, a copy without solutions")


def _grade(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EXERCISE.py", help="the exercises; or EXERCISE.py:NAME, or week_2")
    parser.add_argument("submissions", metavar="SUBMISSIONS", help="the folder of what was handed in")
    output = _output(parser)
    output.add_argument("--csv", metavar="FILE.csv", help="write the table to this file")
    judging = parser.add_argument_group("judging")
    judging.add_argument("--tol", type=float, metavar="T", help="what counts as right; default: three digits")
    judging.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="of each submission, at most; default: 60"
    )


def _tradeoff(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    model = parser.add_argument_group("model")
    model.add_argument(
        "--rates",
        nargs="+",
        choices=("gaussian", "chebyshev", "kl", "student"),
        default=["gaussian"],
        help="how classifiers are judged, one or more; default: gaussian",
    )
    model.add_argument("--delta", type=float, metavar="D", help="radius of the divergence ball (kl); default: 0.1")
    model.add_argument("--df", type=float, metavar="V", help="degrees of freedom (student); default: 3")
    model.add_argument(
        "--reg", type=float, default=0.0, metavar="R", help="added to the diagonals of both covariances; default: 0"
    )
    _standardise(model, "scale features to mean 0 and variance 1 (it matters for --reg only)")
    model.add_argument("--points", type=int, default=201, metavar="K", help="rows of tradeoff.csv; default: 201")
    model.add_argument(
        "--max-fpr", type=float, default=0.05, metavar="P", help="of the Neyman-Pearson point; default: 0.05"
    )
    _folder(_output(parser))


def _tune(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    wanted = parser.add_argument_group("what is wanted")
    wanted.add_argument(
        "--criterion", choices=("minimax", "np", "np-score", "cost"), default="minimax", help="default: minimax"
    )
    wanted.add_argument("--alpha", type=float, metavar="A", help="largest false positive rate (np, np-score)")
    wanted.add_argument(
        "--costs",
        type=float,
        nargs=3,
        metavar=("C_PLUS", "C_MINUS", "PRIOR"),
        help="costs of a false negative and a false positive, and probability of a positive (cost)",
    )
    wanted.add_argument("--delta", type=float, metavar="D", help="guarantee the rate with probability 1 - D (np)")
    how = parser.add_argument_group("how it is searched for")
    how.add_argument(
        "--method",
        choices=(
            *("grid", "coordinate-descent-2d", "coordinate-descent-3d"),
            *("balanced", "bias-shift", "exact-lines", "cost-plane"),
        ),
        default="grid",
        help="default: grid",
    )
    how.add_argument("--smoothing", choices=("auto", "none", "2d", "3d"), default="auto", help="default: auto (3d)")
    how.add_argument("--points", type=int, default=50, metavar="K", help="values k / K of either nu; default: 50")
    how.add_argument("--bandwidths", type=int, default=12, metavar="K", help="chosen from the data; default: 12")
    how.add_argument("--bandwidth", type=float, nargs="+", metavar="SIGMA", help="these, and none chosen")
    how.add_argument("--folds", type=int, default=5, metavar="K", help="default: 5")
    _standardise(how, "scale features to mean 0 and variance 1")
    how.add_argument("--jobs", type=int, metavar="N", help="processes; default: one")
    how.add_argument("--resume", metavar="FILE.npz", help="keep error arrays in this file, and go on from it")
    _folder(_output(parser))


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="solutions: a .csv, .npz or model file; or PAIRS.py[:NAME], MODEL.mps, PATH.npz",
    )
    parser.add_argument(
        "solution",
        nargs="?",
        metavar="SOLUTION",
        help="of MODEL.mps: a solver's .sol, a .csv of names and values, or the claim infeasible or unbounded; "
        "of a saved PATH.npz: a .csv of t (or the parameter) and value",
    )
    _data(parser, "--data")
    model = parser.add_argument_group("model", "as in the solver")
    kernels = ("linear", "rbf", "poly", "precomputed")
    model.add_argument("--kernel", choices=kernels, help="default: linear, or that of a model file")
    model.add_argument("--bandwidth", type=float, metavar="SIGMA", help="of exp(-|x - z|^2 / (2 SIGMA^2))")
    model.add_argument("--gamma", type=float, metavar="G", help="of exp(-G |x - z|^2), in place of it; for poly: A")
    model.add_argument("--degree", type=int, metavar="D", help="of (A x.z + B)^D; default: 3")
    model.add_argument("--scale", type=float, metavar="A", help="default: 1")
    model.add_argument("--offset", type=float, metavar="B", help="default: 1")
    _standardise(model, "scale features to mean 0 and variance 1, as your solver did", default=False)
    model.add_argument(
        "--ddof", type=int, choices=(0, 1), default=0, help="with it: variances over n (0), or n - 1 (1) as in R"
    )
    model.add_argument("--formulation", metavar="NAME", help="which problem it is; default: TwoCSVM")
    model.add_argument(
        "--costs", nargs=2, type=float, metavar=("C_PLUS", "C_MINUS"), help="of a model file, which does not say them"
    )
    model.add_argument("--nu", type=float, metavar="NU", help="of a model file of a nu-SVC")
    judging = parser.add_argument_group("judging")
    judging.add_argument(
        "--tol", type=float, metavar="T", help="largest gap and residual; default: 1e-8, of a model file 1e-3"
    )
    judging.add_argument("--between", action="store_true", help="rows are knots of a path: prove it between them, too")
    judging.add_argument(
        "--suite", metavar="MODULE:FUNCTION", help="judge FUNCTION(X, y, C_plus, C_minus) on hard cases; or FILE.py:..."
    )
    judging.add_argument(
        "--conflict",
        action="store_true",
        help="of MODEL.mps alone: which rows contradict each other, none of which can be left out",
    )
    _integers(judging, "of MODEL.mps: ")
    judging.add_argument("--path", action="store_true", help="with --suite: it is FUNCTION(X, y, start, stop), a path")
    _output(parser)


def _formulations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print the statement of this one")
    parser.add_argument(
        "--from", dest="origin", metavar="FILE.py", help="a Python file, or a module, that defines formulations"
    )
    _output(parser)


def _data(parser: argparse.ArgumentParser, flag: str | None = None) -> None:
    """Options that name a data set: the set itself is positional, or behind a flag."""
    text = "a built-in name (wdbc, twonorm, ...), a .csv, .npz or LIBSVM file"
    if flag is None:
        parser.add_argument("source", metavar="SOURCE", help=text)
    data = parser.add_argument_group("data")
    if flag is not None:
        data.add_argument(flag, dest="source", metavar="SOURCE", help=text)
    data.add_argument("--label", metavar="COLUMN", help="label column of a file; its number, without a header")
    data.add_argument("--no-header", action="store_true", help="a CSV file has none; understood if all is numbers")
    data.add_argument("--positive", metavar="VALUE", help="label value that counts as positive")
    data.add_argument("--features", metavar="COLUMNS", help='use only these features: a,b,"c, d"')
    data.add_argument("--drop", metavar="COLUMNS", help="leave these columns out: names, texts, ...")
    data.add_argument(
        "--one-hot", metavar="COLUMNS", help="features that are categories: one of zeros and ones for all but the first"
    )
    _reading(data)
    data.add_argument(
        "--thousands", choices=(",", ".", " ", "'"), help="between groups of digits in a CSV file; default: none"
    )
    data.add_argument("--data-dir", metavar="DIR", help="folder of data files; default: $PARETOCLF_DATA")
    data.add_argument("--n", type=int, metavar="ROWS", help="use this many rows, drawn at random")
    data.add_argument("--seed", type=int, default=0, metavar="S", help="of rows, folds and checks; default: 0")


def _reading(data: argparse._ArgumentGroup) -> None:
    """Options that say how a table is read, of training samples and of new ones."""
    data.add_argument(
        "--missing", choices=("drop", "median"), help="leave incomplete rows out, or fill them by the medians"
    )
    data.add_argument("--decimal", choices=(".", ","), help="before the fraction of a number in a CSV file; default: .")
    data.add_argument("--separator", metavar="CHAR", help="between the cells of a CSV file; default: , ; or tab")
    data.add_argument("--encoding", metavar="NAME", help="of a CSV file, such as latin-1; default: utf-8")


def _output(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print the report as JSON and nothing else")
    return output


def _folder(output: argparse._ArgumentGroup) -> None:
    output.add_argument("--out", default="out", metavar="DIR", help="folder for the files; default: out")


#: Of each subcommand: what it is in a few words, its description, its examples, and what adds its options.
COMMANDS = {
    "trace": ("all optima along a line: of a program, or SVMs", TRACE, TRACE_EXAMPLES, _trace),
    "ranges": ("what a unit of each number is worth", RANGES, RANGES_EXAMPLES, _ranges),
    "derivatives": ("rates on both sides of where numbers stand", DERIVATIVES, DERIVATIVES_EXAMPLES, _derivatives),
    "plane": ("all optima in two numbers of a program", PLANE, PLANE_EXAMPLES, _plane),
    "export": ("a saved path as a table", EXPORT, EXPORT_EXAMPLES, _export),
    "predict": ("label new samples", PREDICT, PREDICT_EXAMPLES, _predict),
    "roc": ("ROC curves of a saved path on a data set", ROC, ROC_EXAMPLES, _roc),
    "page": ("a page to play with: a slider along a path", PAGE, PAGE_EXAMPLES, _page),
    "tradeoff": ("optimal trade-off of two classes", TRADEOFF, TRADEOFF_EXAMPLES, _tradeoff),
    "tune": ("tune for minimax or Neyman-Pearson", TUNE, TUNE_EXAMPLES, _tune),
    "verify": ("is this path optimal? for other solvers", VERIFY, VERIFY_EXAMPLES, _verify),
    "prove": ("a certificate file that needs no trust", PROVE, PROVE_EXAMPLES, _prove),
    "check": ("check a certificate file", CHECK, CHECK_EXAMPLES, _check),
    "lesson": ("a lesson as an executed notebook", LESSON, LESSON_EXAMPLES, _lesson),
    "grade": ("homework: points and a sentence for each answer", GRADE, GRADE_EXAMPLES, _grade),
    "formulations": ("the problems this package states", FORMULATIONS, FORMULATIONS_EXAMPLES, _formulations),
}
