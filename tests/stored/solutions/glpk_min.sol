Problem:    goods
Rows:       4
Columns:    4
Non-zeros:  7
Status:     OPTIMAL
Objective:  PROFIT = -15 (MINimum)

   No.   Row name   St   Activity     Lower bound   Upper bound    Marginal
------ ------------ -- ------------- ------------- ------------- -------------
     1 BUDGET       NU             6                           6            -2 
     2 NEED         B              5             1               
     3 TIE          NS           0.5           0.5             =            -1 
     4 A_VERY_LONG_NAME_OF_A_ROW
                    B              1                           4 

   No. Column name  St   Activity     Lower bound   Upper bound    Marginal
------ ------------ -- ------------- ------------- ------------- -------------
     1 X            B              1             0               
     2 Y            NU             5             0             5          -0.5 
     3 Z            B            0.5                             
     4 W            NL             0             0                           1 

Karush-Kuhn-Tucker optimality conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

KKT.PB: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

KKT.DE: max.abs.err = 0.00e+00 on column 0
        max.rel.err = 0.00e+00 on column 0
        High quality

KKT.DB: max.abs.err = 0.00e+00 on row 0
        max.rel.err = 0.00e+00 on row 0
        High quality

End of output
