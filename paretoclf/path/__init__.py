"""The exact tracker: follows the solution of a parametric box QP from breakpoint to breakpoint."""
