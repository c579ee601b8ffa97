"""The paper's problem: windows of kept points, levels of slack, and the division of the free space."""
