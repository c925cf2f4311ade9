"""Polygons on which one basis is optimal, and where they touch: what maps of both kinds share."""
