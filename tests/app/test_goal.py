"""Options of a command, as the curve and the rule that they ask for."""

import inspect

import pytest

from boundshift import Blend, ClopperPearson, Floors, InvalidInputError, SupportRadius
from boundshift.app.goal import Goal, takes_goal


def test_nothing_asked_is_the_default_and_open():
    assert Goal(confidence=0.9).claims() == Goal().claims()
    assert isinstance(Goal().claims()[0], Blend)
    assert Goal(confidence=0.9).is_open
    assert not Goal(rule="cost").is_open


def test_floors_keep_their_names_and_the_confidence_is_the_curve_s():
    goal = Goal(specificity_floor=0.9, npv_floor=0.8, max_flagged=0.1, then="f1", confidence=0.8)
    curve, rule = goal.claims()
    assert curve == ClopperPearson(0.8)
    assert rule == Floors(specificity=0.9, npv=0.8, flagged=0.1, then="f1")


def test_a_curve_without_a_rule_brings_its_own():
    curve, rule = Goal(curve="paper").claims()
    assert isinstance(curve, SupportRadius)
    assert rule.name == "sum"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rule": "f1", "metric": "f1"}, "one rule"),
        ({"costs": "1,2", "recall_floor": 0.9}, "--then f1"),
        ({"prevalence": 0.1}, "got none"),
        ({"prevalence": 0.1, "rule": "youden"}, "does not depend on it"),
        ({"then": "f1"}, "with a floor"),
    ],
)
def test_what_does_not_go_together_is_refused(asked, message):
    with pytest.raises(InvalidInputError, match=message):
        Goal(**asked).claims()


def test_a_command_takes_every_field_as_an_option():
    seen = []

    def command(file: str, *, goal: Goal, force: bool = False) -> None:
        """Do."""
        seen.append((file, goal, force))

    wrapped = takes_goal(command)
    names = list(inspect.signature(wrapped).parameters)
    assert names[0] == "file"
    assert names[-1] == "force"
    assert {"curve", "max_flagged", "confidence"} < set(names)
    given = dict.fromkeys(names) | {"file": "a", "rule": "f1", "force": True}
    wrapped(**given)
    assert seen[0][1].rule == "f1"
