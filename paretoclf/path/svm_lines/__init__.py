"""Lines of support vector machines: followed in stages, stored in pieces, and what is read off them."""
