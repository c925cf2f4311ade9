"""The study of examples/papers/davenport2010.py on a cluster, with a worker killed on the way: the same table.

Run it with ``python examples/cluster_tuning.py`` (a minute). It needs dask: ``pip install 'paretoclf[dask]'``. The
cluster is a local one of `dask.distributed`, two processes; give ``Client("scheduler-address:8786")`` in its place for
one of many machines. joblib hands each realisation to it as a task, and so does every ``n_jobs=`` of this package:

    with joblib.parallel_config(backend="dask"):
        pc.tune(X, y, n_jobs=-1)  # one task for each bandwidth

A realisation depends on its number only, so that it does not matter which worker does it, nor how often. While the
tasks run, one of the two processes is killed: the scheduler gives its tasks to the other, and starts a new one. The
table of mean ranks is then compared with that of one process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import joblib

sys.path.insert(0, str(Path(__file__).parent / "papers"))

import davenport2010

PROTOCOL = davenport2010.Protocol(("twonorm", "waveform"), 2, 5, 3, n_train=60)


def one(name: str, i: int, unbalanced: bool) -> list[dict[str, Any]]:
    """One realisation, on whatever machine."""
    return davenport2010.study(davenport2010.realisation(name, i, unbalanced, None, PROTOCOL), PROTOCOL)


def every() -> list[Any]:
    """All realisations, as tasks."""
    return [
        joblib.delayed(one)(name, i, unbalanced)
        for i in range(PROTOCOL.realisations)
        for name in PROTOCOL.sets
        for unbalanced in (False, True)
    ]


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without what differs from run to run: how long it took."""
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows]


def main() -> None:
    """Run the study on a cluster and in this process, and compare."""
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        print("This example needs dask: pip install 'paretoclf[dask]'")
        return
    print(PROTOCOL)
    began = time.perf_counter()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill() -> None:
            print(f"killing worker process {victim}")
            os.kill(victim, signal.SIGKILL)

        timer = threading.Timer(2.0, kill)
        timer.start()
        with joblib.parallel_config(backend="dask"):
            there = joblib.Parallel(n_jobs=-1)(every())
        timer.cancel()
    print(f"cluster: {len(there)} realisations in {time.perf_counter() - began:.0f} s")
    here = [one(*task[1]) for task in every()]
    rows = [[row for each in found for row in each] for found in (there, here)]
    tables = [davenport2010.tables_1_to_3(each) for each in rows]
    same = without_times(rows[0]) == without_times(rows[1])
    print("rows are the same:", same, "- tables are the same:", tables[0] == tables[1])
    print(davenport2010.shown([row for row in tables[0] if row["table"] == 1]))
    if not same:
        raise SystemExit("the cluster and this process differ")


if __name__ == "__main__":
    main()
