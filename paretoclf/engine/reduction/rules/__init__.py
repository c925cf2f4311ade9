"""The rules by which a compiled program is reduced, a file each: what a rule accepts, applies and inverts."""
