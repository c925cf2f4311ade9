c Problem:    
c Rows:       4
c Columns:    4
c Non-zeros:  7
c Status:     OPTIMAL
c Objective:  PROFIT = -15 (MINimum)
c
s bas 4 4 f f -15
i 1 u 6 -2
i 2 b 5 0
i 3 s 0.5 -1
i 4 b 1 0
j 1 b 1 0
j 2 u 5 -0.5
j 3 b 0.5 0
j 4 l 0 1
e o f
