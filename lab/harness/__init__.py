"""What reproduction and suite share: scores on disk, methods, rows, statistics, tables."""
