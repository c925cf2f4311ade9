"""Figures. Each is an object that holds what it shows, in the manner of scikit-learn's Display objects."""

from paretoclf.plotting.roc import RocDisplay as RocDisplay
