"""The command line: ``paretoclf trace``, ``roc``, ``tradeoff``, ``tune``, ... Errors are one line, exit 2."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from paretoclf import __version__
from paretoclf.cli.options import build_parser
from paretoclf.common.errors import InputError, ParetoclfError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, by default those of the process, and return its exit status.

    0 for success, 1 if the computation stopped with an error or ``verify`` found one, 2 for bad input.

    Examples
    --------
    >>> from paretoclf.cli import main
    >>> main(["--version"])
    paretoclf ...
    0
    """
    try:
        args = build_parser(__version__).parse_args(argv)
        return _run(args)
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else 0
    except InputError as error:
        return _fail(str(error), 2)
    except ParetoclfError as error:
        return _fail(str(error), 1)
    except BrokenPipeError:  # the reader of our output has gone, as in `paretoclf ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}", 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _run(args: argparse.Namespace) -> int:
    # Imported here: `--version` and `--help` need neither CVXPY nor matplotlib.
    if args.command == "trace":
        from paretoclf.cli.trace import run_trace

        return run_trace(args)
    if args.command in ("ranges", "derivatives", "plane"):
        from paretoclf.cli import sensitivity

        run = {"ranges": sensitivity.run_ranges, "derivatives": sensitivity.run_derivatives}
        return run.get(args.command, sensitivity.run_plane)(args)
    if args.command == "export":
        from paretoclf.cli.program_line import export_path

        return export_path(args)
    if args.command == "page":
        from paretoclf.cli.page import run_page

        return run_page(args)
    if args.command == "tradeoff":
        from paretoclf.cli.tradeoff import run_tradeoff

        return run_tradeoff(args)
    if args.command == "tune":
        from paretoclf.cli.tune import run_tune

        return run_tune(args)
    if args.command == "predict":
        from paretoclf.cli.predict import run_predict

        return run_predict(args)
    if args.command == "verify":
        from paretoclf.cli.verify import run_verify

        return run_verify(args)
    if args.command == "prove":
        from paretoclf.cli.prove import run_prove

        return run_prove(args)
    if args.command == "check":
        from paretoclf.cli.prove import run_check

        return run_check(args)
    if args.command == "lesson":
        from paretoclf.cli.lesson import run_lesson

        return run_lesson(args)
    if args.command == "grade":
        from paretoclf.cli.grade import run_grade

        return run_grade(args)
    if args.command == "formulations":
        from paretoclf.cli.formulations import run_formulations

        return run_formulations(args)
    from paretoclf.cli.roc import run_roc

    return run_roc(args)


def _fail(message: str, status: int) -> int:
    print(f"paretoclf: error: {' '.join(message.split())}", file=sys.stderr)
    return status
