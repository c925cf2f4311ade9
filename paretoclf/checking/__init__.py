"""Checks of solutions that somebody else computed: rows of numbers, their certificates, a suite of hard cases."""
