"""Where to solve a line of cone programs so that its optimal value is known within eps."""
