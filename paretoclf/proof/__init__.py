"""Proofs: certificates of single points, and proofs of whole lines. NumPy and SciPy only, from raw arrays."""

from paretoclf.proof.certificates import VERDICTS as VERDICTS
from paretoclf.proof.certificates import Certificate as Certificate
from paretoclf.proof.line import LineProof as LineProof
from paretoclf.proof.line import SegmentCertificate as SegmentCertificate
from paretoclf.proof.prove import prove as prove
from paretoclf.proof.refined import PRECISELY as PRECISELY
from paretoclf.proof.refined import Refined as Refined
from paretoclf.proof.soft_margin import SoftMargin as SoftMargin
