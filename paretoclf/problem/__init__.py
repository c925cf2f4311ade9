"""Problems to be solved: samples, kernels, costs, the parametric QP and the lines of its parameters; classifiers."""
