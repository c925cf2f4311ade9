"""Files: whatever is in them is read or refused in words, and they appear complete or not at all."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.solution_files import read_solutions
from paretoclf.cli.files import staged
from paretoclf.common.files import hash_of, members_of, read_arrays, replacing, save_arrays, write_file
from paretoclf.common.resume import Arrays
from paretoclf.common.storage import content_of
from paretoclf.datasets.files import read_npz

MUTATIONS = 500
N = 8
posix = pytest.mark.skipif(sys.platform == "win32", reason="links, permissions and locks of POSIX")


def _data():
    rng = np.random.default_rng(1)
    y = np.where(np.arange(N) < 3, 1.0, -1.0)
    return rng.normal(size=(N, 2)) + 0.7 * y[:, None], y


def _solutions(file):
    path = pc.trace(pc.TwoCSVM(*_data()), (0.2, 1), (1, 0.5))
    found = [path.at(t) for t in (0.0, 0.5, 1.0)]
    np.savez(file, costs=[[*s.costs] for s in found], alpha=[s.alpha for s in found], b=[s.classifier.b for s in found])


def _sparse():
    import scipy.sparse as sp

    X, y = _data()
    return sp.csr_array(np.round(X, 0)), y


#: Kind of file -> (how one is made, how it is read).
KINDS = {
    "path": (lambda file: pc.trace(pc.TwoCSVM(*_data()), (0.2, 1), (1, 0.5)).save(file), pc.load),
    "kernel path": (lambda file: pc.trace(pc.TwoCSVM(*_data(), pc.RBF(1.0)), (1, 2), (2, 1)).save(file), pc.load),
    "sparse path": (lambda file: pc.trace(pc.TwoCSVM(*_sparse()), (1, 2), (2, 1)).save(file), pc.load),
    "nu path": (lambda file: pc.trace(pc.TwoNuSVM(*_data()), nu=(0, None), asymmetry=0.4).save(file), pc.load),
    "quantile path": (
        lambda file: pc.trace(pc.QuantileSVM(*_data()), tau=(0.2, 0.8), lam=0.05).save(file), pc.load,
    ),
    "map": (lambda file: pc.plane(pc.TwoCSVM(*_data()), (0.5, 1), (0.5, 1)).save(file), pc.load),
    "data": (lambda file: np.savez(file, X=_data()[0], y=_data()[1]), read_npz),
    "piece": (
        lambda file: Arrays().write(file, {"costs": np.arange(3.0), "seconds": np.array(1.0)}, "this"),
        lambda file: Arrays({"costs": (3,), "seconds": ()}).read(file, "this"),
    ),
    "solutions": (_solutions, lambda file: read_solutions(file, N)),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for kind, (make, _) in KINDS.items():
        make(folder / f"{kind}.npz")
    return folder


def refused(read, file):
    """What was read, or None where an InputError named the file; nothing else may escape."""
    said = str(file)
    try:
        return read(file)
    except pc.InputError as error:
        said = str(error)
        return None
    finally:
        assert file.name in said


@pytest.mark.parametrize("kind", ["path", "map", "data", "piece", "solutions"])
def test_bytes_that_changed_are_refused_or_change_nothing(kind, files, tmp_path):
    _, read = KINDS[kind]
    whole = (files / f"{kind}.npz").read_bytes()
    before = read_arrays(files / f"{kind}.npz", "torn")
    file, rng, seen = tmp_path / "changed.npz", np.random.default_rng(0), 0
    for _ in range(MUTATIONS):
        torn = bytearray(whole)
        if rng.random() < 0.1:
            del torn[rng.integers(len(torn)) :]
        else:
            for at in rng.integers(len(torn), size=rng.integers(1, 4)):
                torn[at] = rng.integers(256)
        file.write_bytes(torn)
        if refused(read, file) is None:
            seen += 1
            continue
        after = read_arrays(file, "torn")
        assert set(after) <= set(before)  # an entry of no meaning may have lost its name
        assert all(np.array_equal(before[name], after[name]) for name in after)
    assert seen > MUTATIONS / 2


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_that_changed_are_refused_or_read(kind, files, tmp_path):
    # As above, with right checksums: what the archive cannot see.
    _, read = KINDS[kind]
    with zipfile.ZipFile(files / f"{kind}.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    file, rng, seen = tmp_path / "changed.npz", np.random.default_rng(0), 0
    for _ in range(MUTATIONS // 4):
        with zipfile.ZipFile(file, "w") as out:
            changed = rng.choice(list(members))
            for name, content in members.items():
                torn = bytearray(content)
                if name == changed:
                    head = rng.random() < 0.5  # the header decides what the rest means
                    for at in rng.integers(min(128, len(torn)) if head else len(torn), size=rng.integers(1, 4)):
                        torn[at] = rng.integers(256)
                out.writestr(name, bytes(torn))
        seen += refused(read, file) is None
    assert seen > MUTATIONS / 16


def npy(header, rest=b""):
    """Bytes of an array with a header of one's own."""
    text = header.encode("latin-1").ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest


ODD = {
    "terabytes": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
    "negative": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}", bytes(8)),
    "nothing wide": npy("{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000,)}"),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"\x80\x04N."),
    "records": npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", bytes(8)),
    "no header": npy("{'descr': "),
    "deep": npy("(" * 100),
    "a letter that is none": npy("{'descr': '<U1', 'fortran_order': False, 'shape': ()}", b"\xff\xff\xff\xff"),
    "a truth that is none": npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", b"\x01\x02"),
    "short": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", bytes(8)),
    "long": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", bytes(80)),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("kind", KINDS)
def test_headers_of_arrays(kind, what, files, tmp_path):
    _, read = KINDS[kind]
    file = tmp_path / "odd.npz"
    with zipfile.ZipFile(files / f"{kind}.npz") as archive, zipfile.ZipFile(file, "w") as out:
        for name in archive.namelist():
            out.writestr(name, ODD[what])
    assert refused(read, file) is None


def test_archives_that_are_none_of_numpys(files, tmp_path):
    content = zipfile.ZipFile(files / "path.npz").read("y.npy")
    whole = (files / "path.npz").read_bytes()
    file = tmp_path / "odd.npz"
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(file, "w", method) as out:
            out.writestr("y.npy", content)
        with pytest.raises(pc.InputError, match=r"odd\.npz: no \(the entry of array 'y' is damaged\)"):
            read_arrays(file, "no")
    at = whole.index(b"PK\x01\x02") + 8
    for what, torn in {
        "encrypted": whole[:at] + b"\x01" + whole[at + 1 :],
        "a name in no alphabet": whole[: at + 1] + b"\x08" + whole[at + 2 :],
        "empty": b"",
        "text": b"X,y\n1,2\n",
        "pickle": b"\x80\x04N.",
    }.items():
        file.write_bytes(torn)
        got = refused(pc.load, file)
        assert got is None or what == "a name in no alphabet"
    with pytest.raises(pc.InputError, match="no such file"):
        read_arrays(tmp_path / "nowhere.npz", "no")
    with pytest.raises(pc.InputError, match=r"directory|denied"):
        read_arrays(tmp_path, "no")


def test_what_declares_more_than_it_can_hold_is_refused_before_memory_is_taken(tmp_path):
    file = tmp_path / "bomb.npz"
    np.savez_compressed(file, X=np.zeros(1))
    torn = bytearray(file.read_bytes())
    at = torn.index(b"PK\x01\x02") + 24  # the size, in the directory at the end
    torn[at : at + 4] = (2**32 - 2).to_bytes(4, "little")
    file.write_bytes(torn)
    with pytest.raises(pc.InputError, match="declares 4294967294 bytes"):
        read_arrays(file, "no")


def test_arrays_of_other_machines(tmp_path):
    file = tmp_path / "swapped.npz"
    np.savez(file, a=np.arange(3, dtype=">f8"), b=np.array(["x"], dtype=">U3"), c=np.asfortranarray(np.eye(2, 3)))
    found = read_arrays(file, "no")
    assert all(each.dtype.isnative for each in found.values())
    assert found["a"].tolist() == [0, 1, 2]
    assert found["b"].tolist() == ["x"]
    assert np.array_equal(found["c"], np.eye(2, 3))


@pytest.mark.parametrize(
    "spec",
    [
        '{"kernel": "Sigmoid"}', '{"kernel": "RBF", "width": 1}', '{"kernel": "RBF", "bandwidth": -1}', "[]", "{}",
        '{"kernel": "Named", "name": "nobody"}', '{"kernel": ["RBF"]}', "no json", '{"kernel": "Precomputed"}',
        '{"kernel": "Polynomial", "degree": "x"}', '{"kernel": "Function"}', "[" * 100_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["path", "map"])
def test_kernels_that_nobody_knows(kind, spec, files, tmp_path):
    file = tmp_path / "kernel.npz"
    save_arrays(file, {**read_arrays(files / f"{kind}.npz", "no"), "kernel": np.array(spec)})
    assert refused(KINDS[kind][1], file) is None


# ---- writing --------------------------------------------------------------------------------------------------------


def test_threads_that_save_one_file(tmp_path):
    file, failed = tmp_path / "one.npz", []
    arrays = {"a": np.arange(2000)}

    def work():
        for _ in range(60):
            try:
                save_arrays(file, arrays)
                read_arrays(file, "torn")
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    assert [each.name for each in tmp_path.iterdir()] == ["one.npz"]


KILLED = """
import os, sys
from pathlib import Path
from paretoclf.common.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), 9)
"""


@posix
def test_leftovers_of_killed_runs_go_with_the_next_save(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("whole")
    subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    (tmp_path / ".table.4711.tmp.csv").write_text("an older one")
    (tmp_path / ".table.tmp.csv").write_text("somebody's")
    assert len(list(tmp_path.glob(".table.*.csv"))) == 3
    with replacing(file) as one, replacing(file) as two:
        two.write_text("two")
        one.write_text("one")
        names = {each.name for each in tmp_path.iterdir()}
        assert names == {"table.csv", ".table.tmp.csv", one.name, two.name}  # those at work stay
    assert file.read_text() == "one"
    assert {each.name for each in tmp_path.iterdir()} == {"table.csv", ".table.tmp.csv"}


@posix
def test_permissions_and_links_are_kept(tmp_path):
    real, link = tmp_path / "elsewhere" / "real.npz", tmp_path / "link.npz"
    real.parent.mkdir()
    for mode in (0o600, 0o640, 0o444):
        real.write_bytes(b"")
        real.chmod(mode)
        link.unlink(missing_ok=True)
        link.symlink_to(real)
        save_arrays(link, {"a": np.arange(mode)})
        assert link.is_symlink()
        assert stat.S_IMODE(real.stat().st_mode) == mode
        assert read_arrays(real, "no")["a"].size == mode
        real.chmod(0o600)
    umask = os.umask(0o027)
    try:
        save_arrays(tmp_path / "new.npz", {})
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.npz").stat().st_mode) == 0o640
    dangling = tmp_path / "dangling.npz"
    dangling.symlink_to(tmp_path / "to come.npz")
    save_arrays(dangling, {})
    assert (tmp_path / "to come.npz").is_file()


FULL = """
import resource, signal, sys
import numpy as np
import paretoclf as pc
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # as a full disk: the write fails
X = np.random.default_rng(0).normal(size=(30, 20))
path = pc.trace(pc.TwoCSVM(X, np.where(np.arange(30) < 15, 1, -1)), (1, 1), (2, 1))
try:
    path.save(sys.argv[1])
except pc.InputError as error:
    print(error)
"""


@posix
def test_a_full_disk_is_one_clear_error(tmp_path):
    file = tmp_path / "path.npz"
    file.write_text("before")
    done = subprocess.run([sys.executable, "-c", FULL, str(file)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"{file}: cannot be written (File too large)"]
    assert file.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["path.npz"]


def test_what_fails_while_it_is_written_leaves_what_was_there(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("before")
    with pytest.raises(ZeroDivisionError), replacing(file) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise ZeroDivisionError
    assert file.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(pc.InputError, match="cannot be written"), replacing(tmp_path / "none" / "x.csv"):
        pass
    with pytest.raises(pc.InputError, match="cannot be written"), replacing(tmp_path) as temporary:
        temporary.write_text("over a folder")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_stream_of_any_name(tmp_path):
    save_arrays(tmp_path / "no suffix", {"a": np.arange(3)}, compress=True)
    assert np.load(io.BytesIO((tmp_path / "no suffix").read_bytes()))["a"].tolist() == [0, 1, 2]
    assert [each.name for each in Path(tmp_path).iterdir()] == ["no suffix"]


STAGED = """
import os, sys
from pathlib import Path
from paretoclf.cli.files import staged
with staged(Path(sys.argv[1])) as folder:
    (folder / "report.json").write_text("half")
    os.kill(os.getpid(), 9)
"""


@posix
def test_folders_of_the_command_line(tmp_path):
    out = tmp_path / "out"
    subprocess.run([sys.executable, "-c", STAGED, str(out)], check=False)
    assert [each.name[:5] for each in tmp_path.iterdir()] == [".out."]
    real = tmp_path / "report of mine.json"
    real.write_text("before")
    real.chmod(0o600)
    out.mkdir()
    (out / "report.json").symlink_to(real)
    with staged(out) as one, staged(out) as two:
        assert one.is_dir()  # at work, and no leftover
        for folder in (one, two):
            (folder / "report.json").write_text("after")
    assert real.read_text() == "after"
    assert (out / "report.json").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"out", "report of mine.json"}


CONTENT = {"t": np.arange(3.0), "labels": np.array([[1, -2]], dtype=np.int8), "kinks": np.array([True])}
SAID = {"status": "end", "seconds": {"trace": 0.5}, "items": ["x[0]", "\u03b5"], "unit": 2.0**-60}


def test_whatever_reads_npz_files_opens_one(tmp_path):
    """Without pickle, and without an array of letters, which is NumPy's own."""
    write_file(tmp_path / "a", {**CONTENT, **SAID, "one": np.float64(0.25)})
    with np.load(tmp_path / "a.npz", allow_pickle=False) as stored:
        members = {name: stored[name] for name in stored.files}
    assert {each.dtype.kind for each in members.values()} <= {*"fiub"}
    assert json.loads(members["json"].tobytes().decode()) == SAID
    assert (members["sha256"].shape, members["sha256"].dtype) == ((32,), np.uint8)
    again = content_of(read_arrays(tmp_path / "a.npz", ""))
    assert {name: again[name] for name in SAID} == SAID
    for name, array in CONTENT.items():
        np.testing.assert_array_equal(again[name], array)
        assert again[name].dtype == array.dtype
    assert again["one"] == 0.25


def test_the_hash_is_of_all_that_a_reader_sees():
    """Names, shapes, types and bytes; and in whichever order of bytes they are held."""
    members = members_of({**CONTENT, **SAID})
    others = [{**members, "kinks": ~members["kinks"]}]
    others += [{**members, name: members[name] + members[name].dtype.type(1)} for name in ("t", "labels", "json")]
    others += [{**members, "t": members["t"][None]}, {**members, "t": members["t"].astype(np.float32)}]
    others += [{**members, "u": NONE}, {("u" if name == "t" else name): each for name, each in members.items()}]
    others += [{name: each for name, each in members.items() if name != "t"}]
    for other in others:
        assert hash_of(other) != hash_of(members)
        with pytest.raises(pc.InputError, match="was changed after it was saved"):
            content_of(other)
    assert hash_of({**members, "t": members["t"].astype(">f8")}) == hash_of(members)
    assert hash_of({**members, "sha256": NONE}) == hash_of(members)


def test_what_is_said_is_an_object_with_names_of_its_own():
    for text in (b"[1]", b'{"t": 1}', b"null"):
        members = {**CONTENT, "json": np.frombuffer(text, dtype=np.uint8)}
        with pytest.raises(pc.InputError, match="json must be an object with other names"):
            content_of({**members, "sha256": np.frombuffer(hash_of(members), dtype=np.uint8)})


NONE = np.zeros(0)
