"""The map of the cost plane: every optimal 2C-SVM of a rectangle of costs."""
