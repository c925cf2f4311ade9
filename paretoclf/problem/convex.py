r"""The one rule by which a quadratic objective counts as convex, whoever asks.

Each connected block of P is judged alone, in units in which its diagonal is 1 (`paretoclf.problem.definite`):

(a) It is proved positive semidefinite: nothing is said.
(b) It is with a share s of its diagonal added, which rounding of its entries can have taken: what is proved and stored
    is the problem with s added, and what is printed of it says so. A diagonal entry that is negative, or 0 beside other
    entries in its row, is never rounding.
(c) It is with more, :math:`P+\operatorname{diag}(d)`: a point x that is optimal to first order is then no worse than
    any other by more than :math:`\tfrac12\sum_jd_j(x_j'-x_j)^2`. Where the constraints bound all :math:`x_j` with
    :math:`d_j>0`, and that is within the tolerance of the value, it is part of the gap
    (`paretoclf.proof.programs.convexity`).
(d) Else the problem is not convex, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.problem.definite import connected_blocks, enlarged, lacking, rounding_shares

#: Names of variables that are listed.
_LISTED = 3

#: Rows up to which the nearest semidefinite matrix is worked out, to say how far it is.
_DENSE = 1500


@dataclass(frozen=True)
class Convexity:
    """The verdict on a symmetric matrix, and the matrix that is proved positive semidefinite in its place.

    Attributes
    ----------
    P : sparse array of shape (n, n)
        The matrix with what rounding took from its diagonal.
    shift : array of shape (n,) or None
        Numbers that were added to its diagonal, if there are any.
    lacks : array of shape (n,) or None
        Numbers that are still to be added until it is proved positive semidefinite, if there are any; infinite where
        nothing is proved.
    """

    P: Any = field(repr=False)
    shift: Array | None
    lacks: Array | None

    @classmethod
    def of(cls, P: Any) -> Convexity:
        """Judge a matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.problem.convex import Convexity
        >>> Convexity.of(np.diag([1.0, 0.0])).lacks, Convexity.of(np.diag([1.0, -0.5])).lacks.tolist()
        (None, [0.0, 0.5])
        """
        shares = rounding_shares(P)
        if not shares.any():  # nan is not 0
            return cls(P, None, None)
        hollow, shares = np.isnan(shares), np.nan_to_num(shares)
        lacks = lacking(P, hollow) if hollow.any() else None
        if not shares.any():
            return cls(P, None, lacks)
        larger = enlarged(P, shares)
        return cls(larger, larger.diagonal() - sp.csc_array(P).diagonal(), lacks)


def not_convex(
    P: Any,
    lacks: Array,
    name_of: Callable[[int], str],
    why: str = "",
    what: str = "the quadratic part x'Px/2 of what is minimised",
) -> InputError:
    """Error that refuses a problem: the variables of the worst block, its eigenvalue, and a remedy.

    Parameters
    ----------
    P : sparse array of shape (n, n)
        Matrix of the minimised objective.
    lacks : array of shape (n,)
        As in `Convexity`.
    name_of : callable
        The user's name of a variable.
    why : str
        Reason, after a comma.
    what : str
        Name of the expression that has the matrix P.
    """
    P = sp.csc_array(P)
    off = [block for block in connected_blocks(P) if lacks[block[0]] > 0.0]
    blocks = [P[block][:, block] for block in off]
    sizes = [float(abs(B).max()) for B in blocks]
    lacking_shares = [lacks[rows[0]] / size for rows, size in zip(off, sizes, strict=True)]
    worst = int(np.argmax(lacking_shares))
    B, size = blocks[worst], sizes[worst]
    least, names = _least(B), _listed(off[worst], name_of)
    return InputError(
        f"problem must be convex, got a matrix P of {what} with an eigenvalue of {least:.3g} among "
        f"{names}, where its largest entry is {size:.3g}: not semidefinite by more than rounding "
        f"(float32? a pairwise correlation?){why}. {_remedy(B, size)}"
    )


def said_of_lack(lacks: Array, cost: float) -> str:
    """Say how large a negative curvature is that is part of the gap."""
    return (
        f"P is not positive semidefinite, by up to {float(lacks.max()):.1e}: between the bounds of the variables that "
        f"may cost {cost:.1e}, which is part of every gap."
    )


def said_of_shift(s: float, share: float) -> str:
    """Say how much was added to the diagonal of P."""
    return (
        f"P is positive semidefinite up to rounding of its entries: what is proved is of P + s diag(P), s = {s:.1e}, "
        f"and s x'diag(P)x/2 is at most {share:.1e} of the value."
    )


def _listed(block: Index, name_of: Callable[[int], str]) -> str:
    """The first few names of a block."""
    count = _LISTED if block.size > _LISTED + 1 else block.size
    names = [name_of(int(column)) for column in block[:count]]
    more = f" and {block.size - len(names)} more" if block.size > len(names) else ""
    return f"{', '.join(names)}{more}"


def _least(B: Any) -> float:
    """Compute the smallest eigenvalue of a block."""
    if B.shape[0] <= _DENSE:
        return float(np.linalg.eigvalsh(B.toarray())[0])
    return float(eigsh(B, 1, which="SA", return_eigenvectors=False, tol=1e-3)[0])


def _remedy(B: Any, size: float) -> str:
    """Name a matrix that would do, and how far it is from the user's."""
    from paretoclf.problem.gram import nearest_psd  # kernels, which no program needs

    if B.shape[0] > _DENSE:
        return "pc.nearest_psd(P) is"
    own = B.toarray()
    change = float(np.abs(nearest_psd(own) - own).max())
    return f"pc.nearest_psd(P) is, and changes its entries by up to {change:.2g}, {change / size:.1g} of the largest"
