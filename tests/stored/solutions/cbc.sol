Optimal - objective value 15.00000000
      0 X                                       1                       0
      1 Y                                       5                     0.5
      2 Z                                     0.5                       0
      3 W                                       0                      -1
