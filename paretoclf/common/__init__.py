"""Helpers for every room: errors, checks of arguments, tolerances, files, memory, progress, tables."""
