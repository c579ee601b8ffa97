import pytest

from boundshift import InvalidInputError
from boundshift.app.workflow import fit_table, predict_table, report_facts, write_folder
from boundshift.app.workflow.folder import FILES
from boundshift.datasets import load_hepatitis


@pytest.fixture(scope="module")
def fitted():
    return fit_table(load_hepatitis(as_frame=True).frame, "target")


def test_a_folder_is_written_once(fitted, tmp_path):
    facts = report_facts(fitted, tmp_path / "fit")
    files = write_folder(fitted, facts, tmp_path / "fit")
    assert [path.name for path in files] == list(FILES)
    assert all(path.stat().st_size > 100 for path in files)
    with pytest.raises(InvalidInputError, match="--force"):
        write_folder(fitted, facts, tmp_path / "fit")
    (tmp_path / "fit" / "letter.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="letter"):
        write_folder(fitted, facts, tmp_path / "fit", force=True)
    assert (tmp_path / "fit" / "letter.txt").read_text() == "mine"


def test_predictions_are_those_of_the_model_in_memory(fitted, tmp_path):
    write_folder(fitted, report_facts(fitted, "fit"), tmp_path / "fit")
    frame = load_hepatitis(as_frame=True).frame
    frame.to_parquet(tmp_path / "new.parquet")
    predictions, notes = predict_table(tmp_path / "fit", tmp_path / "new.parquet", keep=["AGE"])
    expected = fitted.model.predict(frame.drop(columns="target"))
    assert predictions["prediction"].tolist() == expected.tolist()
    assert predictions["AGE"].tolist() == frame["AGE"].tolist()
    assert notes == []
    with pytest.raises(InvalidInputError, match="'score'"):
        predict_table(tmp_path / "fit", tmp_path / "new.parquet", keep=["score"])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"labels": [1]}'])
def test_a_folder_that_was_changed_is_refused(fitted, tmp_path, text):
    write_folder(fitted, report_facts(fitted, "fit"), tmp_path / "fit")
    (tmp_path / "fit" / "columns.json").write_text(text)
    with pytest.raises(InvalidInputError, match="Run the fit again"):
        predict_table(tmp_path / "fit", "new.csv")
