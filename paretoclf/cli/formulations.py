"""``paretoclf formulations``: the list, and the statement of one."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from paretoclf.cli.files import to_json
from paretoclf.common.errors import InputError
from paretoclf.formulations.registry import formulation, listed


def run_formulations(args: argparse.Namespace) -> int:
    """Run the subcommand; return its exit status."""
    if args.origin:
        load_code(args.origin, "--from")
    if args.name is None:
        entries = [_entry(name, cls) for name, cls in listed().items()]
        print(to_json({"formulations": entries}) if args.json else _table(entries))
        return 0
    cls = formulation(args.name)
    if args.json:
        print(to_json({**_entry(cls.__name__, cls), "statement": cls.describe()}))
    else:
        print(cls.describe(), end="")
    return 0


def _entry(name: str, cls: Any) -> dict[str, Any]:
    summary = inspect.cleandoc(cls.__doc__ or "").partition("\n")[0].replace("``", "")
    parameters = {parameter: str(allowed) for parameter, allowed in cls.domain.items()}
    page = cls.page
    return {
        "name": name,
        "summary": summary,
        "parameters": parameters,
        "module": cls.__module__,
        "reference": page.reference if page else "",
    }


def _table(listed: list[dict[str, Any]]) -> str:
    width = max(len(entry["name"]) for entry in listed)
    lines = []
    for entry in listed:
        lines.append(f"{entry['name']:<{width}}  {entry['summary']}")
        lines += [f"{'':<{width}}    {name}: {allowed}" for name, allowed in entry["parameters"].items()]
    return "\n".join(lines)


@contextmanager
def beside(origin: str) -> Iterator[None]:
    """Put the folder of a Python file first where modules are looked for, for a while, as ``python FILE`` does."""
    folder = str(Path(origin).resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with suppress(ValueError):  # the file may have taken it away itself
            sys.path.remove(folder)


def load_code(origin: str, option: str) -> Any:
    """Run a Python file (.py), or import a module, for what it defines; errors name the option that asked for it."""
    path = Path(origin)
    try:
        if path.suffix == ".py":
            if not path.is_file():
                raise InputError(f"{option} must be a Python file or a module, got {origin}: no such file")
            spec = importlib.util.spec_from_file_location(path.stem, path)
            if spec is None or spec.loader is None:
                raise InputError(f"{option} must be a Python file or a module, got {origin}")
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            with beside(origin):
                spec.loader.exec_module(module)
            return module
        return importlib.import_module(origin)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{option} {origin} cannot be loaded: {type(error).__name__}: {error}") from None
