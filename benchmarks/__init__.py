"""`chaingrad` beside its peers: run with `make bench`, or `python -m benchmarks`."""
