Optimal - objective value 15.00000000
      0 BUDGET                                  6                       2
      1 NEED                                    5                      -0
      2 TIE                                   0.5                       1
      3 A_VERY_LONG_NAME_OF_A_ROW               1                      -0
      0 X                                       1                       0
      1 Y                                       5                     0.5
      2 Z                                     0.5                       0
      3 W                                       0                      -1
