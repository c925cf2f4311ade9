* A workshop makes chairs and tables: profit, hours, planks, and no more than 12 tables are sold.
NAME shop
OBJSENSE
    MAX
ROWS
 N  profit
 L  hours
 L  planks
COLUMNS
    chairs  profit  20  hours  1
    chairs  planks  2
    tables  profit  30  hours  4
    tables  planks  1
RHS
    RHS  hours  40  planks  30
BOUNDS
 UP BND  tables  12
ENDATA
