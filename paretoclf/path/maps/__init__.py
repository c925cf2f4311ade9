"""The map of the cost plane: every optimal classifier of a rectangle of costs."""
