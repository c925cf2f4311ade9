"""Classifiers that are judged: each number is computed when it is asked for, and is that of the judge."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs, SampleCosts
from paretoclf.proof.points import judged_classifiers
from paretoclf.proof.points.judged_classifiers import RuleEvidence, certify_rules, judge_rule, make_solution
from paretoclf.proof.points.two_c import certify

X = np.array([[2.0, 1.0], [1.0, -1.0], [-1.0, 0.5], [-2.0, -1.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0])
CAPS = np.array([1.0, 2.0, 1.5, 0.5])
BY_KERNEL = pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])


def rule(kernel=None, share=0.25, b=0.5, slope=None):
    return Classifier(pc.Gram(X, kernel), Y, CAPS, share * CAPS, b, slope)


def given(one):
    """A classifier as the judge of raw arrays takes it."""
    features = {"X": X} if one.gram.linear else {"K": one.gram.matrix}
    return certify(Y, CAPS, one.alpha, one.b_at_origin, w=one.slope, **features)


def alike(one, other):
    assert one.primal_value == pytest.approx(other.primal_value, rel=1e-13)
    assert one.dual_value == pytest.approx(other.dual_value, rel=1e-13)
    for residuals, others in ((one.dual, other.dual), (one.slackness, other.slackness)):
        assert residuals == pytest.approx(others, abs=1e-14)


@BY_KERNEL
@pytest.mark.parametrize("own_slope", [False, True])
def test_evidence_has_what_the_judge_of_raw_arrays_says(kernel, own_slope):
    if kernel is not None and own_slope:
        return
    one = rule(kernel, slope=np.array([0.5, 0.25]) if own_slope else None)
    evidence, wanted = RuleEvidence(None, rule=one), given(one)
    assert evidence.primal_value == pytest.approx(wanted.primal_value, rel=1e-13)
    assert "certificate" not in vars(evidence)  # a value alone takes no certificate
    alike(evidence.certificate, wanted)
    assert evidence.alpha is one.alpha
    judged = evidence.judged
    assert judged.certificate is evidence.certificate
    alike(judge_rule(one).certificate, wanted)
    f = X @ one.slope + one.b_at_origin if own_slope else one.gram.matvec(Y * one.alpha) + one.b_at_origin
    np.testing.assert_allclose(judged.numbers["xi"], np.maximum(0.0, 1.0 - Y * f), atol=1e-14)


def test_what_is_known_is_not_computed_again(monkeypatch):
    one = rule()
    known = given(rule(share=0.75))
    for name in ("certify_hinge", "hinge_value"):
        monkeypatch.setattr(judged_classifiers, name, lambda *_: pytest.fail("computed again"))
    evidence = RuleEvidence(known, rule=one)
    assert evidence.certificate is known
    assert evidence.primal_value == known.primal_value
    assert judge_rule(one, certificate=known).certificate is known


def test_a_value_is_that_of_the_certificate_where_it_is_known_or_in_two_parts_or_not_sure(monkeypatch):
    one, calls = rule(), []
    certificate = SimpleNamespace(primal_value=7.0)
    monkeypatch.setattr(judged_classifiers, "certify_hinge", lambda *given: calls.append(given) or certificate)
    monkeypatch.setattr(judged_classifiers, "hinge_value", lambda *given: None)
    assert RuleEvidence(None, rule=one).primal_value == 7.0  # rounding may be as much as the value
    monkeypatch.setattr(judged_classifiers, "hinge_value", lambda *given: 5.0)
    low = np.full(4, 1e-18)
    assert RuleEvidence(None, rule=one, alpha_lo=low).primal_value == 7.0
    assert calls[-1][-1] is low
    assert RuleEvidence(None, rule=one).primal_value == 5.0
    computed = RuleEvidence(None, rule=one)
    assert computed.certificate is certificate
    assert computed.primal_value == 7.0
    assert calls[-1][1:] == (one.alpha, 0.5, None, None)


@pytest.mark.parametrize("own_slope", [False, True])
def test_classifiers_are_certified_together_as_one_by_one(own_slope):
    slopes = [np.array([0.5, 0.25]), np.array([1.0, -0.5])] if own_slope else [None, None]
    rules = [rule(share=share, b=share, slope=w) for share, w in zip((0.25, 0.75), slopes, strict=True)]
    for found, one in zip(certify_rules(rules), rules, strict=True):
        alike(found, given(one))
    assert certify_rules([]) == []
    assert len(certify_rules(rules[:1])) == 1


def test_a_solution_has_its_costs_and_its_evidence():
    one, certificate = rule(), given(rule())
    found = make_solution(one, Costs(1.0, 2.0), certificate=certificate, source="here", timing={"solve": 1.0})
    assert (found.source, found.status, found.timing) == ("here", "optimal", {"solve": 1.0})
    assert found.values == {"C_plus": 1.0, "C_minus": 2.0}
    assert found.costs == Costs(1.0, 2.0)
    assert found.classifier is one
    assert found.certificate is certificate
    assert found.alpha is one.alpha
    each = SampleCosts(CAPS)
    other = make_solution(one, each, alpha_lo=np.full(4, 1e-18), source="there", status="stopped")
    assert (other.values, other.timing, other.status, other.costs) == ({}, {}, "stopped", each)
    assert "twice double precision" in other.certificate.note
