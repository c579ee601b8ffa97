"""More than two classes: one bias per class. `biases` chooses the way, `floors` keeps recalls."""
