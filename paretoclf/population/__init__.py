"""Two classes whose distributions are known: what a convex loss does to a linear classifier without any sample."""
