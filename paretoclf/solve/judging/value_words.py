"""The value of a problem in a sentence."""

from __future__ import annotations

from paretoclf.solve.judging.cone_proof import ProblemProof

#: Values of this share of what gaps are relative to are rounding, and shown as 0.
_NOTHING = 1e-10


def told(value: float, proof: ProblemProof) -> str:
    """Return a value in six digits; 0 where it is nothing beside what the gaps of its proof are relative to.

    Examples
    --------
    >>> import cvxpy as cp, paretoclf as pc
    >>> from paretoclf.solve.judging.value_words import told
    >>> x = cp.Variable(name="x")
    >>> proof = pc.verify(cp.Problem(cp.Minimize(x - 3), [x >= 3]), {"x": 3})
    >>> told(-3.5e-28, proof), told(-3.5e-4, proof)
    ('0', '-0.00035')
    """
    scale = 0.0 if proof.certificate is None else proof.certificate.scale
    return "0" if abs(value) <= _NOTHING * scale else f"{value:.6g}"
