"""How an optimum moves with parameters and data: derivatives, ranges, and how far they hold."""
