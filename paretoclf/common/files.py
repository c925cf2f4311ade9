"""Files: npz files, read or refused in words whatever is in them; and files that appear complete or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import stat
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.memory import require_memory

if sys.platform != "win32":
    import fcntl

AnyFile = str | os.PathLike[str]

#: Deflate makes at most so many bytes of one: an array that declares more is damaged, or meant to fill the memory.
_INFLATION = 1032

#: Compressions of archives that numpy writes.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

#: Numbers and texts; neither objects, which would be unpickled, nor records.
_KINDS = "biufcSU"

#: Largest code of a letter and of a truth value: numpy takes larger ones over, and stumbles on them later.
_LARGEST = {"U": (np.uint32, sys.maxunicode), "b": (np.uint8, 1)}

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class DamagedFileError(InputError):
    """A file is no npz file, or no longer one."""


@contextmanager
def reading(file: AnyFile, wrong: str) -> Iterator[None]:
    """Raise InputError that names the file, whatever goes wrong while it is read and taken apart.

    Parameters
    ----------
    file : path
    wrong : str
        Text for the message, such as "not a saved path".

    Raises
    ------
    InputError

    Examples
    --------
    >>> from paretoclf.common.files import reading
    >>> with reading("path.npz", "not a saved path"):
    ...     {}["alpha"]
    Traceback (most recent call last):
    paretoclf.common.errors.InputError: path.npz: not a saved path (there is no 'alpha')
    """
    if os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file)):  # /dev/zero has no end
        raise InputError(f"{os.fspath(file)}: {wrong} (it is no regular file)")
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{os.fspath(file)}: no such file") from None
    except Exception as error:  # a stranger's bytes: no list of what they can lead to would be complete
        if isinstance(error, InputError) and str(error).startswith(os.fspath(file)):
            raise
        cause = f"there is no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise InputError(f"{os.fspath(file)}: {wrong} ({cause})") from error


def read_arrays(
    file: AnyFile, wrong: str, needed: Sequence[str] = (), others: Sequence[str] | None = None
) -> dict[str, Any]:
    """Read arrays of an npz file, by name.

    Parameters
    ----------
    file : path
    wrong : str
        Text for the message on another file.
    needed : sequence of str
        Arrays that must be there.
    others : sequence of str, optional
        Further arrays to read if they are there. Default: all.

    Raises
    ------
    InputError
        If there is no such file, it cannot be opened, or an array is missing.
    DamagedFileError
        If it is not an npz file, if it is damaged, or if an array holds anything but numbers or texts.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from paretoclf.common.files import read_arrays, save_arrays
    >>> with TemporaryDirectory() as folder:
    ...     save_arrays(Path(folder) / "two.npz", {"a": np.arange(2), "b": np.array("text")})
    ...     read_arrays(Path(folder) / "two.npz", "not ours", needed=["a"], others=[])
    {'a': array([0, 1])}
    """
    with reading(file, wrong), open(file, "rb") as stream:
        try:
            found, names = _arrays(stream, None if others is None else {*needed, *others})
        except Exception as error:  # of zipfile, zlib, struct, ast, codecs and numpy, by what the bytes happen to be
            cause = str(error) or type(error).__name__
            raise DamagedFileError(f"{os.fspath(file)}: {wrong} ({cause})") from error
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(f"{os.fspath(file)}: there is no array {missing[0]!r}; arrays: {', '.join(names)}")
    return found


def _arrays(stream: IO[bytes], wanted: set[str] | None) -> tuple[dict[str, Any], list[str]]:
    """Wanted arrays of an archive, and the names of all."""
    size = os.fstat(stream.fileno()).st_size
    with zipfile.ZipFile(stream) as archive:
        members = {x.filename.removesuffix(".npy"): x for x in archive.infolist() if x.filename.endswith(".npy")}
        taken = {name: info for name, info in members.items() if wanted is None or name in wanted}
        for name, info in taken.items():
            if info.compress_type not in _METHODS or info.compress_size > size:
                raise ValueError(f"the entry of array {name!r} is damaged")
            if info.file_size > _INFLATION * (info.compress_size + 1):
                raise ValueError(f"array {name!r} declares {info.file_size} bytes, of {info.compress_size}")
        require_memory(sum(info.file_size for info in taken.values()), "reading it", "read it where there is more")
        return {name: _array(archive, info, name) for name, info in taken.items()}, list(members)


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Any:
    """Read one array, if its header declares as many bytes as there are."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version not in _HEADERS:
            raise ValueError(f"array {name!r} is of the unknown format {version}")
        shape, _, dtype = _HEADERS[version](member)
        rest = info.file_size - member.tell()
    if dtype.kind not in _KINDS or not dtype.itemsize:
        raise ValueError(f"array {name!r} holds {dtype}, not numbers or texts")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"array {name!r} declares the shape {shape} of {dtype}, and has {rest} bytes")
    with archive.open(info) as member:  # anew: going back within it would switch off the test of its checksum
        found = np.lib.format.read_array(member, allow_pickle=False)
    found = found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))
    if found.size and found.dtype.kind in _LARGEST:
        code, largest = _LARGEST[found.dtype.kind]
        if np.ascontiguousarray(found).reshape(-1).view(code).max() > largest:
            raise ValueError(f"array {name!r} holds bytes that are no {found.dtype}")
    return found


def write_file(file: AnyFile, content: Mapping[str, Any]) -> None:
    """Write the content of a file, complete or not at all; ``.npz`` is added where it is missing, no folder is.

    Every reader of npz files opens it, in whatever language: see `members_of`. `paretoclf.common.storage.content_of`
    has it back.
    """
    target = Path(file)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    if not target.parent.is_dir():
        raise InputError(f"file must lie in a folder that there is, got {target}: there is no folder {target.parent}")
    save_arrays(target, members_of(content), compress=True)


def members_of(content: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays of a file: those of its content, what else that says as the bytes of one JSON text, and one hash over all.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.common.files import members_of
    >>> members = members_of({"t": np.arange(2.0), "status": "end", "seconds": 0.5})
    >>> sorted(members), members["json"].tobytes()
    (['json', 'sha256', 't'], b'{"status": "end", "seconds": 0.5}')
    """
    arrays = {name: np.asarray(each) for name, each in content.items() if isinstance(each, np.ndarray | np.generic)}
    said = {name: each for name, each in content.items() if name not in arrays}
    arrays["json"] = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
    arrays["sha256"] = np.frombuffer(hash_of(arrays), dtype=np.uint8)
    return arrays


def hash_of(arrays: Mapping[str, Array]) -> bytes:
    """SHA-256 of the arrays of a file, by name, but for the one of that name."""
    found = hashlib.sha256()
    for name in sorted({*arrays} - {"sha256"}):
        array = arrays[name]
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        found.update(json.dumps([name, little.dtype.str, little.shape]).encode())
        found.update(little.tobytes())
    return found.digest()


def save_arrays(file: Path, arrays: Mapping[str, Any], *, compress: bool = False) -> None:
    """Write arrays to an npz file of any name, complete or not at all.

    Raises
    ------
    InputError
        If it cannot be written; a file that was there before is still there.
    """
    save = np.savez_compressed if compress else np.savez
    with replacing(file) as temporary, temporary.open("wb") as stream:
        save(stream, **arrays)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Give a temporary name beside a file, which is renamed to it at the end, and removed after an error.

    Permissions of a file that is replaced are kept; of a link, its target is replaced. Temporary files left by runs
    that were killed are removed (where the system locks files: not on Windows).

    Raises
    ------
    InputError
        If the file cannot be written, because the disk is full for instance.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.common.files import replacing
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "table.csv") as temporary:
    ...         _ = temporary.write_text("a,b")
    ...     [file.name for file in Path(folder).iterdir()]
    ['table.csv']
    """
    target = Path(os.path.realpath(file))
    before: int | None = None
    try:
        remove_leftovers(target.parent, f".{target.stem}.", f".tmp{target.suffix}")
        if target.exists():
            before = stat.S_IMODE(target.stat().st_mode)

        def make() -> Path:
            # The suffix stays the last: writers of pictures and arrays go by it.
            made = target.with_name(f".{target.stem}.{uuid.uuid4().hex[:12]}.tmp{target.suffix}")
            mode = 0o666 if before is None else before | stat.S_IRUSR | stat.S_IWUSR
            only_new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(made, only_new, mode))
            return made

        with claimed(make) as temporary:
            try:
                yield temporary
                if before is not None:
                    temporary.chmod(before)
                os.replace(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{os.fspath(file)}: cannot be written ({error.strerror or error})") from None


@contextmanager
def claimed(make: Callable[[], Path]) -> Iterator[Path]:
    """Make a temporary file or folder and lock it, so that nobody takes it for a leftover while this process lives."""
    if sys.platform == "win32":  # where nothing that is open can be renamed
        yield make()
        return
    while True:
        place = make()
        try:
            held = os.open(place, os.O_RDONLY)
        except FileNotFoundError:  # taken for a leftover before it was locked, as below
            continue
        if _locked(held) is not False and place.exists():  # without locks, nobody removes anything
            break
        os.close(held)
    try:
        yield place
    finally:
        os.close(held)


def remove_leftovers(folder: Path, prefix: str, suffix: str) -> None:
    """Remove temporary files and folders of runs that were killed: those that nobody has `claimed`."""
    if sys.platform == "win32":
        return
    made = re.compile(re.escape(prefix) + "[0-9a-z_]{1,12}" + re.escape(suffix))
    with os.scandir(folder) as found:
        left = [Path(entry.path) for entry in found if made.fullmatch(entry.name)]
    for place in left:
        try:
            held = os.open(place, os.O_RDONLY)
        except OSError:  # it has gone, or is somebody else's
            continue
        if _locked(held):
            shutil.rmtree(place, ignore_errors=True) if place.is_dir() else place.unlink(missing_ok=True)
        os.close(held)


def _locked(descriptor: int) -> bool | None:
    """Whether an open file could be locked until it is closed; None where the system has no locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
