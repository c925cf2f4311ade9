"""From a formulation to numbers: one solve, a compiled problem, the active-set polish, the sweep.

Nothing here knows a particular formulation. What is asked of one is the protocol `paretoclf.solve.model.Solvable`,
so this room stands below `paretoclf.formulations` and never imports it.
"""
