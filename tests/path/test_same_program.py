"""Tests of `paretoclf.path.same_program`: whether a certificate file is about a model of one's own."""

from __future__ import annotations

import json

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.same_program import same_program
from paretoclf.path.tracing import save_point
from paretoclf.proof.files.certificate_file import digest

ENDS = {"need": 1.0}, {"need": 4.0}


def model(cap=3.0, *, curved=1.0, order=(0, 1)):
    """Two goods that meet a need, one of which has a cap; its rows may stand in another order."""
    x, need = cp.Variable(2, name="x"), cp.Parameter(name="need")
    rows = [(cp.sum(x) >= need).set_label("demand"), (x[0] <= cap).set_label("cap")]
    return cp.Problem(cp.Minimize(curved * cp.sum_squares(x) + x[0]), [rows[k] for k in order])


@pytest.fixture
def saved(tmp_path):
    file = tmp_path / "path.proof.json"
    pc.trace(model(), *ENDS).proof.save(file, level="exact")
    return file


def test_the_same_model_is_compiled_again_and_compared(saved, tmp_path):
    said = same_program(saved, model(), *ENDS)
    assert said.startswith("It states this model: 2 columns, 2 rows, every number the same.")
    assert "diagonal" not in said
    problem = model()
    problem.param_dict["need"].value = 2.0
    save_point(problem, tmp_path / "point.json.gz", level="exact")
    assert same_program(tmp_path / "point.json.gz", problem).startswith("It states this model")
    problem.param_dict["need"].value = 2.5
    with pytest.raises(pc.InputError, match=r"bound of demand at t = 0 is -2\.0 there, and -2\.5 in the model"):
        same_program(tmp_path / "point.json.gz", problem)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda: (model(3.5), *ENDS), "the upper bound of cap at t = 0 is 3.0 there, and 3.5 in the model"),
        (lambda: (model(np.nextafter(3.0, 4.0)), *ENDS), "cap at t = 0 is 3.0 there, and 3.0000000000000004 in"),
        (lambda: (model(curved=1.5), *ENDS), r"coefficient of x\[0\] in the row of x\[0\] is 2.0 there, and 3.0 in"),
        (lambda: (model(), ENDS[0], {"need": 5.0}), "bound of demand at t = 1 is -4.0 there, and -5.0 in the model"),
        (lambda: (model(order=(1, 0)), *ENDS), r"coefficient of x\[0\] in the row of cap is -1.0 there, and 1.0 in"),
        (lambda: (model(order=(0,)), *ENDS), "it has 2 rows, and the model 1"),
    ],
    ids=["cap", "last digit", "costs", "end", "order of rows", "a row less"],
)
def test_another_model_is_refused_with_the_number_that_differs(saved, other, said):
    problem, start, stop = other()
    with pytest.raises(pc.InputError, match=said):
        same_program(saved, problem, start, stop)


def test_a_number_that_is_changed_in_the_file_is_found(saved):
    """Whoever changes a number and the hash has a certificate of another problem."""
    content = json.loads(saved.read_text())
    changed = 0
    for name in ("K", "A", "q", "lower", "upper"):
        for k, row in enumerate(content["problem"][name]):
            for j, number in enumerate(row):
                if number is None:
                    continue
                problem = json.loads(json.dumps(content["problem"]))
                problem[name][k][j] = number + 2.0**-40
                saved.write_text(json.dumps({**content, "problem": problem, "sha256": digest(problem)}))
                with pytest.raises(pc.InputError, match="a certificate of another one"):
                    same_program(saved, model(), *ENDS)
                changed += 1
    assert changed >= 10


def test_what_cannot_be_compared_is_refused_by_name(saved, tmp_path):
    with pytest.raises(pc.InputError, match=r"file must be a certificate, got .*none\.json"):
        same_program(tmp_path / "none.json", model(), *ENDS)
    pc.trace(model(), *ENDS).proof.save(tmp_path / "bounded.json", level="bounded")
    with pytest.raises(pc.InputError, match="must be an exact certificate, got one of format 'bounded certificate 1'"):
        same_program(tmp_path / "bounded.json", model(), *ENDS)
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    pc.trace(svm, start=(0.25, 0.25), stop=(1, 1)).proof.save(tmp_path / "svm.json")
    with pytest.raises(pc.InputError, match=r"must be about a program, got one about a 2C-SVM: check\.py FILE --data"):
        same_program(tmp_path / "svm.json", model(), *ENDS)
    content = json.loads(saved.read_text())
    content["problem"]["q"] = content["problem"]["q"][:1]
    saved.write_text(json.dumps(content))
    with pytest.raises(pc.InputError, match="must be a certificate that its checker reads"):
        same_program(saved, model(), *ENDS)
