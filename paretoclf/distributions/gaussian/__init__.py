"""Two classes known by their means and covariances: moments, and what can be said of them without a solver."""
