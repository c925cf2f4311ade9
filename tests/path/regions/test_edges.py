"""What a map stores of the edges of its regions is judged: error maps read the contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.path.cost_plane.cost_plane import check_proof
from paretoclf.path.regions.critical_region import Facet
from paretoclf.path.regions.edges import contradiction, wrong_facet
from paretoclf.path.regions.polygon import rectangle


@pytest.fixture(scope="module", params=["rbf", "linear", "sparse", "precomputed"])
def found(request):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(14) < 6, 1.0, -1.0)
    X = rng.normal(size=(14, 2)) + 0.5 * y[:, None]
    kernel = pc.RBF(1.0) if request.param in ("rbf", "precomputed") else None
    if request.param == "precomputed":
        X, kernel = kernel(X, X), "precomputed"
    return pc.plane(pc.TwoCSVM(sp.csr_array(X) if request.param == "sparse" else X, y, kernel), (0.05, 2), (0.05, 2))


def objection(found):
    frame = rectangle(found.C_plus, found.C_minus)
    wrong = contradiction(found.regions, found.contacts, frame)
    return wrong or wrong_facet(found.regions, frame, found.gram, found.y, found.unit_caps)


def refused(found, cause):
    assert cause in objection(found).cause


def with_contact(found, k, **changes):
    contacts = list(found.contacts)
    contacts[k] = replace(contacts[k], **changes)
    return replace(found, contacts=tuple(contacts))


def test_a_map_is_refused_for_a_contact_or_a_facet(found):
    assert objection(found) is None
    check_proof(found)
    contacts = replace(found, contacts=found.contacts[1:])
    facets = replace(found.regions[0], facets=(None,) * len(found.regions[0].facets))
    for wrong in (contacts, replace(found, regions=(facets, *found.regions[1:]))):
        with pytest.raises(pc.DegeneratePathError, match=r"the contacts do not cover|it is another sample"):
            check_proof(wrong)


def test_a_contact_that_is_elsewhere(found):
    for k in range(0, len(found.contacts), 5):
        here = found.contacts[k]
        along = here.stop - here.start
        across = np.array([-along[1], along[0]])
        for by in (0.3 * along, 1e-3 * across / np.hypot(*across), -0.3 * along, np.array([0.5, 0.5])):
            refused(with_contact(found, k, start=here.start + by), "contact")
        refused(with_contact(found, k, start=here.start + along, stop=here.stop + along), "contact")
        refused(with_contact(found, k, start=here.stop, stop=here.start), "contact does not lie on an edge")


def test_a_contact_of_other_regions(found):
    for k in range(0, len(found.contacts), 5):
        here = found.contacts[k]
        refused(with_contact(found, k, first=here.second, second=here.first), "contact does not lie on an edge")
        refused(with_contact(found, k, first=here.second), "of a region with itself")
        refused(with_contact(found, k, second=(here.second + 3) % len(found.regions)), "contact")


def test_a_contact_that_is_missing_or_there_twice(found):
    refused(replace(found, contacts=found.contacts[:3] + found.contacts[4:]), "do not cover an edge once")
    refused(replace(found, contacts=(*found.contacts, found.contacts[3])), "do not cover an edge once")
    refused(replace(found, contacts=()), "do not cover an edge once")


def test_a_facet_of_another_sample_or_set(found):
    rng = np.random.default_rng(1)
    for k in rng.choice(len(found.regions), 12, replace=False).tolist():
        region, j = found.regions[k], int(rng.integers(len(found.regions[k].facets)))
        i, to = region.facets[j] or (-1, 0)
        for other in (None, Facet((i + 1) % 14, to), Facet(i, (to + 1) % 3), Facet(int(region.margin[-1]), 2)):
            if other == region.facets[j] or (i < 0 and other == Facet(i, 1)):
                continue
            facets = (*region.facets[:j], other, *region.facets[j + 1 :])
            regions = (*found.regions[:k], replace(region, facets=facets), *found.regions[k + 1 :])
            refused(replace(found, regions=regions), "another sample")
