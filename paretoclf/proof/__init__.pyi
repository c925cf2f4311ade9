"""What is public of the proofs: certificates of single points, and proofs of whole lines."""

from .lines.prove import prove as prove
from .lines.refined_lines import Refined as Refined
from .points.soft_margin import PRECISELY as PRECISELY
from .points.soft_margin import SoftMargin as SoftMargin
from .segments.line_proof import LineProof as LineProof
from .segments.line_proof import SegmentCertificate as SegmentCertificate
from .verdicts.certificate import VERDICTS as VERDICTS
from .verdicts.certificate import Certificate as Certificate
