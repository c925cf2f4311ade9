"""Data sets: generators with known Bayes errors, wdbc, and a reader of CSV and npz files that says what is wrong."""

from paretoclf.datasets.dataset import Dataset as Dataset
from paretoclf.datasets.files import read_csv as read_csv
from paretoclf.datasets.generators import make_bimodal as make_bimodal
from paretoclf.datasets.generators import make_gaussians as make_gaussians
from paretoclf.datasets.generators import make_ringnorm as make_ringnorm
from paretoclf.datasets.generators import make_threenorm as make_threenorm
from paretoclf.datasets.generators import make_twonorm as make_twonorm
from paretoclf.datasets.generators import make_waveform as make_waveform
from paretoclf.datasets.hard_cases import ExactOptimum as ExactOptimum
from paretoclf.datasets.hard_cases import HardCase as HardCase
from paretoclf.datasets.hard_cases import hard_cases as hard_cases
from paretoclf.datasets.load import list_datasets as list_datasets
from paretoclf.datasets.load import load as load
from paretoclf.datasets.openml import fetch as fetch
from paretoclf.datasets.openml import list_fetched as list_fetched
