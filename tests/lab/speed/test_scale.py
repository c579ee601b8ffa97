"""What the page of scale says of measurements of other code."""

import ast

from lab.speed import digest, scale, scale_page


def test_rows_of_this_code_are_not_called_older():
    code = digest.digest_code()
    facts = {name: {"code": code} for name in scale.COMMANDS}
    assert scale_page.older(facts, scale.COMMANDS) == ""
    facts["dask"] = {"code": "another"}
    del facts["spark"]
    assert scale_page.older(facts, scale.COMMANDS).split(". ") == [
        "Measured with earlier code of the engines: `dask`",
        "Not measured yet: `spark`.\n\n",
    ]


def test_words_about_code_are_no_code():
    said, unsaid = (
        ast.dump(digest._without_words(ast.parse(text)))
        for text in (
            'def f():\n    """Say."""\n    return 1  # one',
            'def f():\n    ""\n    return 1',
        )
    )
    assert said == unsaid
    other = ast.dump(digest._without_words(ast.parse('def f():\n    ""\n    return 2')))
    assert other != said
