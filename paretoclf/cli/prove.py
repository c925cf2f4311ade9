"""``paretoclf prove``: the certificate file of a saved path, and the checkers that read it."""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
from pathlib import Path

from paretoclf.cli.files import to_json
from paretoclf.common.errors import InputError
from paretoclf.path.load import load_path
from paretoclf.proof import check
from paretoclf.proof.line import LineProof

#: Format of a file -> its level, and the script that reads it.
CHECKERS = {"exact certificate 1": ("exact", "check"), "bounded certificate 1": ("bounded", "check_gap")}


def run_prove(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    path, out = load_path(args.file), Path(args.out)
    write = getattr(getattr(path, "proof", None), "writer", None)
    if write is None:
        raise InputError(f"FILE must hold a path, which has a certificate file; got a {type(path).__name__}")
    more = {} if args.positive is None else {"positive": args.positive}
    if more and not isinstance(path.proof, LineProof):
        raise InputError("--positive is a label of samples, and this path is of a program that has none; leave it out")
    write(out, level=args.level, progress=False if args.quiet or args.json else None, n_jobs=args.jobs, **more)
    raw = out.read_bytes()
    content = json.loads(gzip.decompress(raw) if out.name.endswith(".gz") else raw)
    level, script = CHECKERS[content["format"]]
    script = "check_ray" if "ray" in content else script
    files = [str(out)]
    for name in dict.fromkeys(("check", script)):
        shutil.copyfile(Path(check.__file__).with_name(f"{name}.py"), out.with_name(f"{name}.py"))
        files.append(str(out.with_name(f"{name}.py")))
    command = f"python {script}.py {out.name}"
    if args.json:
        print(to_json({"level": level, "bytes": len(raw), "files": files, "check": command}))
    elif not args.quiet:
        print(f"wrote          {', '.join(files)}\nlevel          {level}, {len(raw) / 1e3:.0f} kB")
        print(f"check          {command}")
    return 0
