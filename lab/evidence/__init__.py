"""One script a claim of the documentation: coverage, unsolved fits, many classes, costs, floors."""
