"""What the page of scale says of measurements of other code."""

import ast

from lab.speed import scale


def test_rows_of_this_code_are_not_called_older():
    code = scale.digest_code()
    facts = {name: {"code": code} for name in scale.COMMANDS}
    assert scale.older(facts) == ""
    facts["dask"] = {"code": "another"}
    del facts["spark"]
    assert scale.older(facts).split(". ") == [
        "Measured with earlier code of the engines: `dask`",
        "Not measured yet: `spark`.\n\n",
    ]


def test_words_about_code_are_no_code():
    said, unsaid = (
        ast.dump(scale._without_words(ast.parse(text)))
        for text in (
            'def f():\n    """Say."""\n    return 1  # one',
            'def f():\n    ""\n    return 1',
        )
    )
    assert said == unsaid
    other = ast.dump(scale._without_words(ast.parse('def f():\n    ""\n    return 2')))
    assert other != said
