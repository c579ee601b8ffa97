from lab.suite.rows import SuiteRow


def row(dataset="a1", family="a", model="logistic", seed=0, method="smote", **values):
    """A row in which only what matters to a test is said."""
    known = {"half": "report", "n_minority": 30, "auc": 0.9, "status": "DECIDED", "solved": True}
    return SuiteRow(dataset=dataset, family=family, model=model, seed=seed, method=method,
                    **known | values)  # fmt: skip
