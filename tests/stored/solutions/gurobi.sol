# Solution for model PROFIT
# Objective value = 15
X 1
Y 5
Z 0.5
W 0
