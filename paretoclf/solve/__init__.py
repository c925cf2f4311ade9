"""From a formulation to numbers: what it states, one solve, a compiled problem, the active-set polish, the sweep."""
