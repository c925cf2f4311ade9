"""What every room needs: errors, checks of arguments, tolerances, files, memory, progress, tables."""
