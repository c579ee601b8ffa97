import os

# Tests draw into memory, also where there is no screen.
os.environ.setdefault("MPLBACKEND", "agg")
