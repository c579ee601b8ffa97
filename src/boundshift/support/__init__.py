"""The paper's problem: kept points, levels of slack, and the division of the free space."""
