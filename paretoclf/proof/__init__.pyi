"""What is public of the proofs: certificates of single points, and proofs of whole lines."""

from .certificates import VERDICTS as VERDICTS
from .certificates import Certificate as Certificate
from .line import LineProof as LineProof
from .line import SegmentCertificate as SegmentCertificate
from .proving import prove as prove
from .refined import Refined as Refined
from .soft_margin import PRECISELY as PRECISELY
from .soft_margin import SoftMargin as SoftMargin
