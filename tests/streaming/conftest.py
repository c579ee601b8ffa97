"""A cluster of two worker processes, started once."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Return a client of a real cluster."""
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit="1GiB",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
