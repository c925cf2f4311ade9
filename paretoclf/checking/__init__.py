"""Where a stranger's solutions and ours meet: rows of numbers from anywhere, their certificates, a suite of tests."""
