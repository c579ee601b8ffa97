"""Data sets of the laboratory: the paper's, and imbalanced ones of KEEL and UCI."""
