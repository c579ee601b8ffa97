"""The boundary at which a rule on two error curves is least."""
