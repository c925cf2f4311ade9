"""Proofs: certificates of single points, and proofs of whole lines. NumPy and SciPy only, from raw arrays."""

from paretoclf.proof.certificates import VERDICTS as VERDICTS
from paretoclf.proof.certificates import Certificate as Certificate
from paretoclf.proof.hinge import prove_costs as prove_costs
from paretoclf.proof.hinge import prove_quantile as prove_quantile
from paretoclf.proof.hulls import prove_nu as prove_nu
from paretoclf.proof.line import LineProof as LineProof
from paretoclf.proof.line import SegmentCertificate as SegmentCertificate
from paretoclf.proof.margins import prove_margins as prove_margins
from paretoclf.proof.refined import Refined as Refined
from paretoclf.proof.refined import prove_refined as prove_refined
