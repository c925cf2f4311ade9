Model status
Optimal

# Primal solution values
Feasible
Objective 15
# Columns 4
X 1
Y 5
Z 0.5
W 0
# Rows 4
BUDGET 6
NEED 5
TIE 0.5
A_VERY_LONG_NAME_OF_A_ROW 1

# Dual solution values
Feasible
# Columns 4
X 0
Y 0.5
Z 0
W -1
# Rows 4
BUDGET 2
NEED 0
TIE 1
A_VERY_LONG_NAME_OF_A_ROW 0

# Basis
HiGHS_basis_file v2
Valid
# Columns 4
X 1
Y 2
Z 1
W 0
# Rows 4
BUDGET 2
NEED 1
TIE 2
A_VERY_LONG_NAME_OF_A_ROW 1
