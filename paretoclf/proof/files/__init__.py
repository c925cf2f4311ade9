"""Certificate files: how they are written. `paretoclf.proof.check` reads them."""
