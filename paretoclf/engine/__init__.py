"""How it is solved for every parameter: a parametric QP goes in, the log of its path comes out."""
