"""``paretoclf prove``: the certificate file of a saved path, and its checkers, which ``paretoclf check`` runs.

Ranges and derivatives have theirs written by ``paretoclf ranges | derivatives --prove FILE``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

from paretoclf.cli.files import to_json
from paretoclf.common.errors import InputError
from paretoclf.path.load import load
from paretoclf.proof import check
from paretoclf.proof.files.check_page import check_page

#: No more of a file is read.
MOST_BYTES = 1 << 28

#: Scripts that a script needs beside it.
NEEDS = {script: ("check", "check_ray", script) for script in ("check_map", "check_ranges")}
NEEDS["check_curve"] = ("check", "check_band", "check_curve")


def run_prove(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    path, out = load(args.file), Path(args.out)
    write = getattr(getattr(path, "proof", None), "writer", None)
    if write is None:
        raise InputError(f"FILE must hold a path or a map, which has a certificate file; got a {type(path).__name__}")
    more = {} if args.positive is None else {"positive": args.positive}
    if more and not hasattr(path, "y"):
        raise InputError("--positive is a label of samples, and this path is of a program that has none; leave it out")
    write(out, level=args.level, progress=False if args.quiet or args.json else None, n_jobs=args.jobs, **more)
    size = out.stat().st_size
    level, files, command = with_scripts(out)
    if args.json:
        print(to_json({"level": level, "bytes": size, "files": files, "check": command}))
    elif not args.quiet:
        print(f"wrote          {', '.join(files)}\nlevel          {level}, {size / 1e3:.0f} kB")
        print(f"check          {command}")
    return 0


def with_scripts(out: Path) -> tuple[str, list[str], str]:
    """Copy the checkers beside a certificate file; return its level, all files, and the command that checks it."""
    level, script = checker_of(out)
    files = [str(out)]
    for name in NEEDS.get(script, tuple(dict.fromkeys(("check", script)))):
        shutil.copyfile(Path(check.__file__).with_name(f"{name}.py"), out.with_name(f"{name}.py"))
        files.append(str(out.with_name(f"{name}.py")))
    return level, files, f"python {script}.py {out.name}"


def checker_of(file: Path) -> tuple[str, str]:
    """Return the level of a certificate file, and the name of the script that checks it."""
    with (gzip.open if file.name.endswith(".gz") else open)(file, "rb") as stream:
        raw = stream.read(MOST_BYTES)
    try:
        content = json.loads(raw)
        script = check.READERS[content["format"]].removesuffix(".py")
    except (ValueError, KeyError, TypeError, RecursionError, OSError):
        known = ", ".join(map(repr, check.READERS))
        raise InputError(f"FILE must be a certificate, whose format is one of {known}; {file} is none") from None
    level = content["format"].split()[0]
    return level, "check_ray" if "ray" in content else script


def run_check(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status: 1 where a file is not proved."""
    if args.page:
        check_page(args.file)
        return 0
    _, script = checker_of(Path(args.file))
    command = [sys.executable, str(Path(check.__file__).with_name(f"{script}.py")), args.file]
    if args.within is not None and script != "check_gap":
        raise InputError(f"--within belongs to a bounded certificate, whose bound it limits; {args.file} is another")
    for name in ("data", "standardised", "positive", "costs", "within"):
        if getattr(args, name) is not None:
            command += [f"--{name}", str(getattr(args, name))]
    compared = _compared(args)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = "\n".join(filter(None, [(done.stdout or done.stderr).strip(), compared]))
    print(
        to_json({"proved": done.returncode == 0, "checker": f"{script}.py", "statement": said}) if args.json else said
    )
    return int(done.returncode != 0)


def _compared(args: argparse.Namespace) -> str:
    """Say that the certificate is about the model in a file, where one is given; InputError where it is not."""
    if args.model is None:
        if args.move or args.by or args.integers:
            raise InputError("--move, --by and --integers say how a model is read: give it by --model")
        return ""
    from paretoclf.cli.moves import read_line, read_qp  # few certificates are compared with a model
    from paretoclf.path.same_program import same_program

    moves, start, stop = read_line(args.move, args.by)
    qp = read_qp(args.model, args.integers, moves)
    return f"{args.model}: {same_program(args.file, qp, start, stop)}"
