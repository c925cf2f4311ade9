"""Classes with known distributions or moments: error rates and optimal classifiers without samples."""
