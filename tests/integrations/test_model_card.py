import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, InvalidInputError
from boundshift.integrations.model_card import model_card


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_card_has_certificate_and_deciding_rows(n_classes):
    X, y = make_classification(300, n_informative=4, n_classes=n_classes, random_state=0)
    shifted = BoundShiftClassifier(LogisticRegression()).fit(X, y)
    text = model_card(shifted).render()
    assert str(shifted.certificate_) in text
    assert "status: cross-fitted" in text
    assert "Rows that decided" in text


def test_a_model_that_is_not_fitted_has_no_card():
    with pytest.raises(InvalidInputError, match="Fit it first"):
        model_card(BoundShiftClassifier(LogisticRegression()))
