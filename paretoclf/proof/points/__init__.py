"""The judges: from raw arrays to a proof, one file for each family of problems. They know no solver."""
