import os

# Tests draw into memory, also where there is no screen.
os.environ.setdefault("MPLBACKEND", "agg")
# Threads that wait for each other make tiny fits a hundred times slower on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
