"""How a dual comes about: the table of conjugates, the walk of the tree, and its parts."""
