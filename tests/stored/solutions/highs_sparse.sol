Model status
Optimal

# Primal solution values
Feasible
Objective 15
# Columns -3 sparse
X 1 0
Y 5 1
Z 0.5 2
