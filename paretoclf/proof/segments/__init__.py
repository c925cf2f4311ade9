"""The theorem of all lines, and how stored segments are held against it."""
