"""A model that was given a frame holds new frames to its columns: a classifier says so, whatever it came from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import paretoclf as pc

RNG = np.random.default_rng(0)
Y = np.where(np.arange(40) < 16, 1.0, -1.0)
X = pd.DataFrame(RNG.normal(size=(40, 3)) + 0.8 * Y[:, None], columns=["age", "weight", "height"])
LINE = {"start": (0.1, 1.9), "stop": (1.9, 0.1)}


TRAINED = {
    "solver": lambda X, kernel: pc.TwoCSVM(X, Y, kernel).solve(1.0, 2.0),
    "path": lambda X, kernel: pc.trace(pc.TwoCSVM(X, Y, kernel), **LINE).at(0.4),
    "2nu": lambda X, kernel: pc.trace(pc.TwoNuSVM(X, Y, kernel), (1, 1), (0.9, 0.9)).at(0.5),
    "quantile": lambda X, kernel: pc.trace(pc.QuantileSVM(X, Y, kernel), tau=(0, 1), lam=0.1).at(0.4),
    "margins": lambda X, kernel: pc.trace(pc.BiobjectiveMargin(X, Y, kernel), theta=(0.5, 2), C_plus=1, C_minus=1).at(
        0.5
    ),
    "moments": lambda X, kernel: pc.ParetoGaussian(X, Y, kernel, reg=0.1).solve(lam=1.0),
}


@pytest.mark.parametrize("kernel", [None, pc.RBF(2.0)])
@pytest.mark.parametrize("train", TRAINED.values(), ids=TRAINED.keys())
def test_columns_in_another_order_are_refused(train, kernel):
    rule = train(X, kernel).classifier
    plain = train(X.to_numpy(), kernel).classifier
    np.testing.assert_array_equal(rule.predict(X), rule.predict(X.to_numpy()))
    np.testing.assert_array_equal(rule.decision_function(X), plain.decision_function(X))
    reordered = X[["age", "height", "weight"]]
    for ask in (rule.predict, rule.decision_function):
        with pytest.raises(pc.InputError, match="column 1 must be 'weight', got 'height'"):
            ask(reordered)
    plain.predict(reordered)  # it saw no names
    rule.predict(X.rename(columns={"age": 0}))  # nor have these columns all names
    with pytest.raises(pc.InputError, match="3"):
        rule.predict(X[["age", "weight"]])


def test_a_path_and_a_gram_of_it_ask_for_the_columns_too():
    far = pc.trace(pc.TwoCSVM(X + 1e7, Y), **LINE)  # measured from amid the samples
    with pytest.raises(pc.InputError, match="column 0 must be 'age', got 'height'"):
        far.at(0.5).classifier.predict(X[["height", "weight", "age"]])
    path = pc.trace(pc.TwoCSVM(X, Y), **LINE)
    assert path.gram.names == ("age", "weight", "height")
    with pytest.raises(pc.InputError, match="column 0 must be 'age', got 'height'"):
        path.scores(X[["height", "weight", "age"]])
    wine = pc.datasets.load("wdbc")  # has a method of that name
    with pytest.raises(pc.InputError, match="X must be numeric"):
        pc.Gram(wine)
    K = pd.DataFrame(X.to_numpy() @ X.to_numpy().T, columns=[f"k{i}" for i in range(40)])
    assert pc.Gram(K, "precomputed").names is None
