"""Letters that the user's names leave free."""

from __future__ import annotations

from paretoclf.solve.duals.construction.letters import LETTERS, free_letters, free_suffix


def test_a_letter_with_a_number_that_the_user_has_gives_way() -> None:
    assert free_letters(()) == {letter: letter for letter in LETTERS}
    assert free_letters(("y", "u_x", "w")) == {letter: letter for letter in LETTERS}
    assert free_letters(("y1",))["y"] == "q"
    assert free_letters(("y_1",))["y"] == "q"
    assert free_letters(("u3a", "a_7"))["u"] == "uu"
    assert free_letters(("u3", "a7", "uu1"))["u"] == "uuu"
    found = free_letters([f"{letter}1" for letter in LETTERS])
    assert len(set(found.values())) == len(found)
    assert not set(found.values()) & set(LETTERS)


def test_a_suffix_gives_way_to_a_name_of_the_user() -> None:
    assert free_suffix("cap", ("lambda", "nu"), ("cap", "lambda_x")) == "cap"
    assert free_suffix("cap", ("lambda", "nu"), ("nu_cap",)) == "of_cap"
    assert free_suffix("cap", ("lambda",), ("lambda_cap", "lambda_of_cap")) == "of_of_cap"
