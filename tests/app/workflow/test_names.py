from boundshift.app import workflow


def test_public_names_exist():
    assert {name for names in workflow._FILES.values() for name in names} == set(workflow.__all__)
    assert all(getattr(workflow, name) is not None for name in workflow.__all__)
    assert set(workflow.__all__) <= set(dir(workflow))
