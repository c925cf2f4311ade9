"""Every numerical tolerance of the package, each with its reason. All are relative unless a comment says not.

Natural units: a margin is measured against 1 (the target y f(x) = 1), a multiplier against its cap,
the path parameter t against the length 1 of its line.
"""

from __future__ import annotations

#: Pivots of the pivoted Cholesky factor below this share of the largest diagonal end the factorisation;
#: the dual objective then agrees with the full Gram to about 1e-15 (measured on RBF kernels).
FACTOR_RANK = 1e-10

#: A Gram is called "not positive semidefinite" when its smallest eigenvalue is below minus this share of the
#: largest one: rounding of a valid kernel matrix stays below n * 2e-16.
GRAM_PSD = 1e-10

#: A precomputed Gram is called "not symmetric" beyond this share of its largest entry.
GRAM_SYMMETRY = 1e-12

#: Certificate threshold for a path point (largest scaled residual and relative duality gap).
CERTIFY = 1e-8

#: Tracker: distance from the margin, relative to 1 + |w.x|, that counts as "on the margin".
#: Affine solutions are refined to full precision, so what is left is the rounding of one dot product.
EVENT_MARGIN = 1e-11

#: Tracker: distance of a multiplier from its bound, relative to its cap, that counts as "at the bound".
EVENT_BOX = 1e-11

#: Tracker: slopes below this share of the terms they are a difference of are rounding noise, not movement.
SLOPE_NOISE = 1e-10

#: Tracker: a sample whose Schur complement is below this share of its diagonal depends on the margin set.
#: A Gram entry is known to 1e-16 of the diagonal, so below this a positive pivot cannot be told from zero.
DEPENDENT = 1e-12

#: Tracker: a recomputed solution outside its box or on the wrong side of its margin by more than this
#: (same units as EVENT_*) is a numerical failure, never a tie.
INFEASIBLE = 1e-6

#: Clarabel's tolerances for `accuracy="fast"` and `accuracy="reference"`.
SOLVER_FAST = 1e-8
SOLVER_REFERENCE = 1e-12

#: A compiled solver is set up anew when the largest entry of q leaves [1/this, this] times its value at setup:
#: its equilibration is never redone on update and gives false "infeasible" over wide sweeps.
SETUP_DRIFT = 1e2

#: Path against CVXPY reference: relative difference of objectives that counts as agreement.
AGREE_OBJECTIVE = 1e-9
