Columns
    Index Status        Lower        Upper       Primal         Dual  Name
        0     BS            0          inf            1           -0  X
        1     UB            0            5            5          0.5  Y
        2     BS         -inf          inf          0.5           -0  Z
        3     LB            0          inf            0           -1  W
Rows
    Index Status        Lower        Upper       Primal         Dual  Name
        0     UB         -inf            6            6            2  BUDGET
        1     BS            1          inf            5            0  NEED
        2     FX          0.5          0.5          0.5            1  TIE
        3     BS         -inf            4            1            0  A_VERY_LONG_NAME_OF_A_ROW

Model status: Optimal

Objective value: 15
