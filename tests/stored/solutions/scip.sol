objective value:                                   15
X                                                   1 	(obj:3)
Y                                                   5 	(obj:2.5)
Z                                                 0.5 	(obj:-1)
