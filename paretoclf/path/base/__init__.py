"""Common to all paths: the questions they answer, their answers, names, and samples in files."""
