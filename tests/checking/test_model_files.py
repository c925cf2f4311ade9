"""Model files of LIBSVM and LIBLINEAR, with the data that they were trained on, and with others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import paretoclf as pc
from paretoclf.checking.model_files import read_model

MODELS = Path(__file__).parents[1] / "oracles" / "models"


@pytest.fixture(scope="module")
def train():
    X, y = load_svmlight_file(str(MODELS / "train.libsvm"))
    return X.toarray(), y


def test_model_files_of_other_labels(train, tmp_path):
    X, y = train
    for name in ("c_rbf", "l2_dual"):
        text = (MODELS / f"{name}.model").read_text()
        line = next(line for line in text.splitlines() if line.startswith("label"))
        named = line.replace("-1", "0")
        (tmp_path / "named.model").write_text(text.replace(line, named))
        for labels in (y, (y + 1) / 2):
            assert pc.verify(X, labels, tmp_path / "named.model", tol=1e-5, **FILES[name]).passes()
        with pytest.raises(pc.InputError, match=r"y must hold the classes of the model, 0.0 and 1.0, or -1 and \+1"):
            pc.verify(X, y + 5, tmp_path / "named.model", **FILES[name])


COSTS = {"C_plus": 0.5, "C_minus": 0.5}


FILES = {
    "c_rbf": {"C_plus": 3.0, "C_minus": 2.0},
    "c_lin": COSTS,
    "c_poly": COSTS,
    "nu_rbf": {"nu": 0.4},
    "l2_dual": {"C_plus": 1.0, "C_minus": 0.5},
    "l2_primal": {"C_plus": 1.0, "C_minus": 0.5},
    "l1_dual": {"C_plus": 1.0, "C_minus": 0.5},
    "l1_without_bias": COSTS,
}


@pytest.mark.parametrize("name", FILES)
def test_model_files(train, name):
    report = pc.verify(*train, MODELS / f"{name}.model", tol=1e-5, **FILES[name])
    assert report.passes(), report
    wrong = {key: 0.2 * value for key, value in FILES[name].items()}
    assert not pc.verify(*train, MODELS / f"{name}.model", tol=1e-5, **wrong).passes()


def test_a_model_of_precomputed_kernel_values(train):
    X, y = train
    K = pc.RBF(1.0)(X, X)
    assert pc.verify(K, y, str(MODELS / "c_pre.model"), C_plus=2.0, C_minus=2.0, tol=1e-6).passes()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("c_rbf", {}, "C_plus must be given: a model file does not say it"),
        ("nu_rbf", COSTS, "nu must be given"),
        ("c_rbf", {**COSTS, "nu": 1}, "nu is no parameter of this model, only C_plus, C_minus"),
        ("c_rbf", {**COSTS, "kernel": pc.RBF(2.0)}, r"kernel must be that of the model, RBF\(bandwidth=1.0\)"),
        ("c_lin", {**COSTS, "kernel": pc.RBF(2.0)}, r"kernel must be that of the model, Linear\(\)"),
        ("l1_dual", {**COSTS, "kernel": pc.RBF(2.0)}, "LIBLINEAR's models are linear"),
        ("c_sig", COSTS, "the kernel sigmoid is not positive semidefinite"),
        ("logistic", COSTS, "must be one of L2R_L2LOSS_SVC_DUAL, .* got L2R_LR"),
    ],
)
def test_what_a_model_file_lacks(train, name, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.verify(*train, MODELS / f"{name}.model", **options)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (None, "there is no such file"),
        ("", "empty.model"),
        ("a,b\n1,2\n", "empty.model"),
        (bytes(range(256)), "empty.model"),
    ],
)
def test_a_file_that_is_no_model(train, tmp_path, written, message):
    """Before: "C_plus belongs to a model file only", whatever was wrong with the file."""
    file = tmp_path / "empty.model"
    if written is not None:
        file.write_bytes(written if isinstance(written, bytes) else written.encode())
    with pytest.raises(pc.InputError, match=message) as caught:
        pc.verify(*train, file, **COSTS)
    assert "belongs to a model file only" not in str(caught.value)


def test_a_model_file_of_other_data(train, tmp_path):
    X, y = train
    for name in ("c_rbf", "c_lin"):
        with pytest.raises(pc.InputError, match=r"X and y must be what the model was trained on: no sample is \("):
            pc.verify(X * 2, y, MODELS / f"{name}.model", **COSTS)
    with pytest.raises(pc.InputError, match="2 features, got 1"):
        pc.verify(X[:, :1], y, MODELS / "l1_dual.model", **COSTS)
    torn = tmp_path / "torn.model"
    torn.write_text((MODELS / "c_rbf.model").read_text()[:40])
    with pytest.raises(pc.InputError, match="cannot be read as a model"):
        pc.verify(X, y, torn, **COSTS)


HEAD = "svm_type c_svc\nkernel_type {kernel}\nnr_class 2\ntotal_sv 2\nrho {rho}\nlabel {label}\nnr_sv 1 1\nSV\n"
SAMPLES = np.array([[1.0, 0.0], [-1.0, 0.5], [1.0, 0.0], [3.0, 4.0]]), np.array([1, -1, 1, -1])


def read(folder, text, parameters=None, **more):
    file = folder / "some.model"
    file.write_text(text)
    return read_model(file, *more.pop("data", SAMPLES), COSTS if parameters is None else parameters, **more)


@pytest.mark.parametrize(("label", "sign"), [("1 -1", 1.0), ("-1 1", -1.0)])
def test_a_model_by_hand(tmp_path, label, sign):
    """LIBSVM's scores are positive for the label that came first; equal samples take a support vector each."""
    coefs = [sign * 0.5, -sign * 1.0, sign * 0.25]
    lines = [f"{coefs[0]} 1:1 2:0", f"{coefs[1]} 1:-1 2:0.5", f"{coefs[2]} 1:1.00000004"]
    text = HEAD.format(kernel="linear", rho=0.75, label=label) + "\n".join(lines) + "\n\n"
    formulation, (row,) = read(tmp_path, text)
    assert isinstance(formulation, pc.TwoCSVM)
    assert row.values == COSTS
    assert row.numbers["b"] == -sign * 0.75
    assert sorted(row.numbers["alpha"][[0, 2]]) == [0.25, 0.5]
    assert row.numbers["alpha"][[1, 3]].tolist() == [1.0, 0.0]
    assert (row.stop.tol, row.stop.unit) == (1e-3, 1.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0.5 1:1.0001 2:0", r"no sample is \(0.5 1:1.0001 2:0\)$"),
        ("0.5 1:-1 2:0.5", "no sample is"),  # a sample of the other label
        ("0.5 1:1\n0.5 1:1\n0.5 1:1", "no sample is"),  # there are but two of them
        ("0.5 1:1 3:1", "it has a feature 3, X 2"),
        ("0.5 1:-1.0 2:-4", r"no sample is \(0.5 1:-1.0 2:-4\)$"),
    ],
)
def test_support_vectors_of_other_samples(tmp_path, line, message):
    with pytest.raises(pc.InputError, match=message):
        read(tmp_path, HEAD.format(kernel="linear", rho=0, label="1 -1") + line + "\n")


def test_the_model_of_scaled_samples_is_told_how(tmp_path):
    X, y = SAMPLES
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    vector = " ".join(f"{j + 1}:{value:.8g}" for j, value in enumerate(scaled[1]))
    text = HEAD.format(kernel="linear", rho=0, label="1 -1") + f"-0.5 {vector}\n"
    with pytest.raises(pc.InputError, match="scaled as R's svm"):
        read(tmp_path, text)
    assert read(tmp_path, text, data=(scaled, y))[1][0].numbers["alpha"].tolist() == [0.0, 0.5, 0.0, 0.0]
    constant = np.column_stack([X, np.full(4, 5.0)])
    vector += " 3:0"  # R leaves a constant feature out of its scaling by 0
    with pytest.raises(pc.InputError, match="scaled as R's svm"):
        read(tmp_path, HEAD.format(kernel="linear", rho=0, label="1 -1") + f"-0.5 {vector}\n", data=(constant, y))


def test_precomputed_kernels_number_their_samples(tmp_path):
    X, y = SAMPLES
    head = HEAD.format(kernel="precomputed", rho=1, label="1 -1")
    data = X @ X.T, y
    alpha = read(tmp_path, head + "0.5 0:1\n-0.25 0:4\n", data=data)[1][0].numbers["alpha"]
    assert alpha.tolist() == [0.5, 0.0, 0.0, 0.25]
    for lines, sample in (("0.5 0:5", 4), ("0.5 0:0", -1), ("0.5 0:2", 1), ("0.5 0:1\n0.5 0:1", 0)):
        with pytest.raises(pc.InputError, match=f"it has another sample {sample}$"):
            read(tmp_path, head + lines + "\n", data=data)


def test_kernels_of_a_model(tmp_path):
    rbf = HEAD.format(kernel="rbf\ngamma 0.125", rho=0, label="1 -1") + "0.5 1:1\n"
    assert read(tmp_path, rbf)[0].kernel == pc.RBF(2.0)
    assert read(tmp_path, rbf, kernel=pc.RBF(2.0 + 1e-7))[0].kernel == pc.RBF(2.0)  # a file has few digits
    with pytest.raises(pc.InputError, match="kernel must be that of the model"):
        read(tmp_path, rbf, kernel=pc.RBF(2.0 + 1e-4))
    poly = HEAD.format(kernel="polynomial\ndegree 3\ngamma 0.5\ncoef0 2", rho=0, label="1 -1") + "0.5 1:1\n"
    assert read(tmp_path, poly)[0].kernel == pc.Polynomial(3, 0.5, 2.0)
    with pytest.raises(pc.InputError, match="the model must be a c_svc or nu_svc, got one_class"):
        read(tmp_path, rbf.replace("c_svc", "one_class"))
    with pytest.raises(pc.InputError, match="the model must be of two classes, got 3"):
        read(tmp_path, rbf.replace("nr_class 2", "nr_class 3"))


LINEAR = "solver_type {kind}\nnr_class 2\nlabel {label}\nnr_feature 2\nbias {bias}\nw\n{w}\n"


@pytest.mark.parametrize(("label", "sign"), [("1 -1", 1.0), ("-1 1", -1.0)])
def test_a_model_of_liblinear_by_hand(tmp_path, label, sign):
    w = f"{sign * 0.5} \n{-sign * 2.0} \n{sign * 0.25} "
    text = LINEAR.format(kind="L2R_L2LOSS_SVC", label=label, bias=3, w=w)
    formulation, (row,) = read(tmp_path, text)
    assert formulation.squared
    assert formulation.bias == 3.0
    assert row.numbers["w"].tolist() == [0.5, -2.0]
    assert row.numbers["v"] == 0.25
    without = LINEAR.format(kind="L2R_L1LOSS_SVC_DUAL", label=label, bias=-1, w=w.rsplit("\n", 1)[0])
    formulation, (row,) = read(tmp_path, without)
    assert not formulation.squared
    assert (formulation.bias, row.numbers["v"]) == (0.0, 0.0)
    for bias, numbers, wanted in ((3, "1\n2", 3), (-1, "1\n2\n3", 2)):
        with pytest.raises(pc.InputError, match=f"w must have {wanted} numbers, got {len(numbers.split())}"):
            read(tmp_path, LINEAR.format(kind="L2R_L2LOSS_SVC", label=label, bias=bias, w=numbers))
