"""Affine expressions of multipliers as a textbook writes them, in plain text or in LaTeX, with the user's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.solve.duals.construction.conjugates import is_number, number
from paretoclf.solve.duals.construction.letters import LETTERS
from paretoclf.solve.models.lazily import cp

#: A term of a sum: its sign, and the rest.
Term = tuple[int, str]

GREEK = ("lambda", "nu", "mu", "alpha", "beta", "gamma", "delta", "theta", "sigma", "tau", "rho", "xi", "eta", "phi")


@dataclass(frozen=True)
class Speaker:
    """Says expressions of CVXPY.

    Attributes
    ----------
    names : mapping of str to array
        Names of the user's arrays, which are recognised by their numbers.
    latex : bool
    letters : mapping of str to str
        The letters of what is not the user's: `LETTERS`, but where the user has them.
    """

    names: Mapping[str, Any] = field(default_factory=dict)
    latex: bool = False
    letters: Mapping[str, str] = field(default_factory=lambda: {letter: letter for letter in LETTERS})

    def sum(self, expression: Any) -> str:
        """A sum of terms with their signs; 0 for none."""
        return joined(self.terms(expression))

    def factor(self, expression: Any) -> str:
        """A sum to be multiplied: several terms, or a minus, stand in parentheses."""
        terms = self.terms(expression)
        text = joined(terms)
        return text if len(terms) < 2 and not text.startswith("-") else f"({text})"

    def terms(self, expression: Any) -> list[Term]:
        """The terms of an expression."""
        if is_number(expression):
            return self._of_numbers(number(expression))
        say = _SAID.get(type(expression).__name__)
        return [(1, self.leaf(expression.name()))] if say is None else say(self, expression)

    def leaf(self, name: str) -> str:
        """The name of a variable or a parameter, in LaTeX as the first letter and an index."""
        if not self.latex:
            return name
        head, _, index = name.partition("_")
        if not re.fullmatch(r"[A-Za-z]+\d*'*", head):
            return rf"\text{{{_escaped(name)}}}"
        found = re.fullmatch(r"([A-Za-z]+?)(\d*)('*)", head)
        letter, digits, marks = found.groups() if found else (head, "", "")
        index = index or digits
        if index.endswith("'"):
            index, marks = index.rstrip("'"), "'" * (len(index) - len(index.rstrip("'")))
        said = rf"\{letter}" if letter in GREEK else letter if len(letter) == 1 else rf"\text{{{letter}}}"
        below = index if re.fullmatch(r"\d*|[A-Za-z]", index) else rf"\text{{{_escaped(index)}}}"
        return f"{said}{marks}" if not below else f"{said}_{{{below}}}{marks}"

    def turned(self, text: str) -> str:
        """The transpose of a factor."""
        return rf"{text}^\top" if self.latex else f"{text}'"

    def named(self, value: Any) -> tuple[int, str] | None:
        """Sign and name of an array that has one, itself or transposed."""
        for name, given in self.names.items():
            array = np.asarray(given.toarray() if sp.issparse(given) else given, dtype=float)
            for sign in (1, -1):
                if array.shape == value.shape and np.array_equal(sign * array, value):
                    return sign, self.leaf(name)
                if array.ndim == 2 and array.T.shape == value.shape and np.array_equal(sign * array.T, value):
                    return sign, self.turned(self.leaf(name))
        return None

    def _of_numbers(self, value: Any) -> list[Term]:
        """A number, an array with a name, or one of equal entries."""
        if value.size == 0 or not np.any(value):
            return []
        found = self.named(value)
        if found is not None:
            return [found]
        if value.size == 1 or np.ptp(value) == 0:
            first = float(value.ravel()[0])
            return [(-1 if first < 0 else 1, self.digits(abs(first)))]
        if value.ndim == 2 and value.shape[0] == value.shape[1] and np.array_equal(value, np.eye(len(value))):
            return [(1, "I")]
        size = " x ".join(str(n) for n in value.shape)
        return [(1, rf"[{size}\text{{ numbers}}]" if self.latex else f"[{size} numbers]")]

    def digits(self, value: float) -> str:
        """A number: a small fraction, or its digits."""
        plain = f"{value:.6g}"
        if len(plain) <= 4 and "." not in plain:
            return plain
        ratio = Fraction(value).limit_denominator(12)
        if abs(float(ratio) - value) <= 1e-15 * abs(value) and ratio.denominator > 1 and ratio.denominator != 10:
            text = f"{ratio.numerator}/{ratio.denominator}"
            return rf"\tfrac{{{ratio.numerator}}}{{{ratio.denominator}}}" if self.latex else text
        mantissa, _, exponent = plain.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if self.latex and exponent else plain

    def times(self, scalar: list[Term], terms: list[Term]) -> list[Term]:
        """A scalar times a sum."""
        if not scalar or not terms:
            return []
        if len(scalar) == 1 and scalar[0][1] == "1":
            return [(scalar[0][0] * sign, text) for sign, text in terms]
        if len(terms) == 1 and terms[0][1] == "1":
            return [(terms[0][0] * sign, text) for sign, text in scalar]
        sign, text = scalar[0] if len(scalar) == 1 else (1, f"({joined(scalar)})")
        if len(terms) == 1:
            return [(sign * terms[0][0], f"{text} {terms[0][1]}")]
        return [(sign, f"{text} ({joined(terms)})")]

    def product(self, left: list[Term], right: list[Term], sign: str) -> list[Term]:
        """A product of two factors, with a sign between them."""
        if not left or not right:
            return []
        signs, factors, numbers = 1, [], ""
        for terms in (left, right):
            signs *= terms[0][0] if len(terms) == 1 else 1
            text = terms[0][1] if len(terms) == 1 else f"({joined(terms)})"
            found = re.fullmatch(r"([\d.]+(?:/\d+)?|\\tfrac\{\d+\}\{\d+\}) (.+)", text)
            if found and terms is right and sign != "/":
                numbers, text = f"{found[1]} ", found[2]
            wide = re.search(r"[ .](?!\\top)", _outside(text)) and not _closed(text)
            factors.append(f"({text})" if wide else text)
        gap = sign or ("" if factors[0].endswith("'") else " ")
        return [(signs, f"{numbers}{factors[0]}{gap}{factors[1]}")]


def _outside(text: str) -> str:
    """A text without what stands in brackets."""
    return re.sub(r"\[[^\]]*\]", "", text)


def _closed(text: str) -> bool:
    """Whether a text is one bracket, from its first letter to its last."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 and k < len(text) - 1:
            return False
    return text[:1] in ("(", "[")


def joined(terms: list[Term]) -> str:
    """Terms with the signs between them."""
    text = " ".join(f"{'-' if sign < 0 else '+'} {each}" for sign, each in terms)
    return text.removeprefix("+ ") if text else "0"


def _escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("%", r"\%").replace("#", r"\#").replace("&", r"\&")


# --- One atom each --------------------------------------------------------------------------------------------------


def _added(speaker: Speaker, expression: Any) -> list[Term]:
    """A sum, in which equal terms stand once, with their number; what adds up to 0 is left out."""
    terms = [(arg, term) for arg in expression.args for term in speaker.terms(arg)]
    counts: dict[str, int] = {}
    for _, (sign, text) in terms:
        counts[text] = counts.get(text, 0) + sign
    found = []
    for arg, (sign, text) in terms:
        if not _tells_all(arg, text):
            found.append((sign, text))
        elif text in counts:
            count = counts.pop(text)
            if count:
                found.append((1 if count > 0 else -1, text if abs(count) == 1 else f"{abs(count)} {text}"))
    return found


def _tells_all(expression: Any, text: str) -> bool:
    """Whether no other expression is written like this one: arrays without a name and some atoms are not told apart.

    Nor is a text that begins with a number ready to have another number before it.
    """
    if re.search(r"^\d|^\\tfrac|numbers| at |places", text):
        return False
    kind = type(expression).__name__
    if kind in ("reshape", "special_index") or (kind == "Sum" and expression.size > 1):
        return False
    return all(_tells_all(arg, "") for arg in getattr(expression, "args", ()))


def _negative(speaker: Speaker, expression: Any) -> list[Term]:
    return [(-sign, text) for sign, text in speaker.terms(expression.args[0])]


def _through(speaker: Speaker, expression: Any) -> list[Term]:
    return speaker.terms(expression.args[0])


def _promoted(speaker: Speaker, expression: Any) -> list[Term]:
    """A number at every entry."""
    inner = speaker.terms(expression.args[0])
    if not inner:
        return []
    sign, text = inner[0] if len(inner) == 1 else (1, f"({joined(inner)})")
    return [(sign, "1" if text == "1" else f"{text} 1")]


def _reshaped(speaker: Speaker, expression: Any) -> list[Term]:
    """An array of another shape: the same entries. What was put at a place of a matrix says at which."""
    arg = expression.args[0]
    while type(arg).__name__ == "reshape":
        arg = arg.args[0]
    if (
        type(arg).__name__ == "MulExpression"
        and (places := _selection(arg.args[0])) is not None
        and expression.ndim == 2
    ):
        return _placed(speaker, arg.args[1], _in_matrix(places, expression.shape))
    return speaker.terms(arg)


def _transposed(speaker: Speaker, expression: Any) -> list[Term]:
    inner = speaker.terms(expression.args[0])
    if expression.ndim < 2 or (isinstance(expression.args[0], cp.Expression) and expression.args[0].is_symmetric()):
        return inner
    return [(sign, _double(speaker, text)) for sign, text in inner]


def _double(speaker: Speaker, text: str) -> str:
    """The transpose of a text; of a transpose what it was."""
    if re.fullmatch(r"\w+'", text):
        return text[:-1]
    if re.fullmatch(r"\\?[\w{}]+\^\\top", text):
        return text.removesuffix(r"^\top")
    return speaker.turned(text if re.fullmatch(r"\\?[\w{}]+", text) or _closed(text) else f"({text})")


def _product(speaker: Speaker, expression: Any) -> list[Term]:
    """A matrix product: a vector on the left is turned."""
    left, right = expression.args
    places = _selection(left)
    if places is not None:
        said_places = ", ".join(map(str, places)) if len(places) < 5 else _range(places)
        return _placed(speaker, right, said_places)
    said = speaker.terms(left)
    if left.ndim == 1 and right.ndim:
        said = [(sign, _double(speaker, text)) for sign, text in said]
    if left.ndim == 1 and is_number(left) and np.ptp(number(left)) == 0 and speaker.named(number(left)) is None:
        return speaker.times(speaker.terms(left), _ones_times(speaker, speaker.terms(right)))
    between = " " if speaker.latex or not said or not said[0][1].endswith("'") else ""
    return speaker.product(said, speaker.terms(right), between)


def _selection(matrix: Any) -> list[int] | None:
    """Rows of the ones of a matrix that puts entries at their places, or None."""
    if not isinstance(matrix, cp.Constant) or not sp.issparse(matrix.value):
        return None
    value = sp.csc_array(matrix.value)
    one_a_column = (np.diff(value.indptr) == 1).all() and (value.data == 1).all()
    return [int(row) for row in value.indices] if one_a_column else None


def _range(places: list[int]) -> str:
    """Neighbouring places as a slice."""
    if places == list(range(places[0], places[-1] + 1)):
        return f"{places[0]}:{places[-1] + 1}"
    return f"{places[0]}, ..., {places[-1]}"


def _in_matrix(places: list[int], shape: tuple[int, ...]) -> str:
    """Places of a matrix, by row and column."""
    pairs = [f"{place % shape[0]}, {place // shape[0]}" for place in places]
    return pairs[0] if len(pairs) == 1 else f"{len(pairs)} places"


def _placed(speaker: Speaker, expression: Any, places: str) -> list[Term]:
    """Entries at their places, 0 elsewhere; one number is a multiple of the unit vector of its place."""
    inner = speaker.terms(expression)
    if not inner:
        return []
    sign, text = inner[0] if len(inner) == 1 else (1, joined(inner))
    if not speaker.latex:
        return [(sign, f"({text} at [{places}])")]
    if expression.size == 1 and "," not in places:
        return [(sign, rf"{text if len(inner) == 1 else f'({text})'}\, e_{{{places}}}")]
    return [(sign, rf"[{text}]_{{\text{{at }}{places}}}")]


def _entries(speaker: Speaker, expression: Any) -> list[Term]:
    """A product entry by entry; one with a scalar has no sign between."""
    left, right = expression.args
    for scalar, other in ((left, right), (right, left)):
        plain = scalar.args[0] if type(scalar).__name__ == "Promote" else scalar
        equal = is_number(scalar) and np.ptp(number(scalar)) == 0
        if plain.ndim == 0 or (equal and speaker.named(number(scalar)) is None):
            return speaker.times(speaker.terms(plain), speaker.terms(other))
    return speaker.product(speaker.terms(left), speaker.terms(right), r" \circ " if speaker.latex else ".")


def _quotient(speaker: Speaker, expression: Any) -> list[Term]:
    above, below = expression.args
    if is_number(below) and below.size == 1:
        inverse = cp.Constant(1 / number(below))
        return speaker.times(speaker.terms(inverse), speaker.terms(above))
    below = below.args[0] if type(below).__name__ == "Promote" else below  # one number below all entries is said once
    found = speaker.product(speaker.terms(above), speaker.terms(below), "/")
    of_ones = expression.ndim and not below.ndim and is_number(above) and np.ptp(number(above)) == 0
    return [(sign, f"{text} 1") for sign, text in found] if of_ones else found


def _summed(speaker: Speaker, expression: Any) -> list[Term]:
    """A sum of entries: an inner product where it is one."""
    arg = expression.args[0]
    if expression.size == 1 and type(arg).__name__ == "multiply":
        left, right = arg.args
        if not any(type(each).__name__ == "Promote" for each in arg.args):
            symmetric = left.ndim == 2 and is_number(left) and np.array_equal(number(left), number(left).T)
            said = speaker.terms(left)
            if not symmetric:
                said = [(sign, _double(speaker, text)) for sign, text in said]
            found = speaker.product(said, speaker.terms(right), " " if speaker.latex else "")
            if arg.ndim < 2:
                return found
            trace = r"\operatorname{tr}(" if speaker.latex else "tr("
            return [(sign, f"{trace}{text})") for sign, text in found]
    inner = speaker.terms(arg)
    if not inner:
        return []
    if expression.size > 1:
        sign, text = inner[0] if len(inner) == 1 else (1, f"({joined(inner)})")
        return [(sign, rf"\textstyle\sum {text}" if speaker.latex else f"sums of {text}")]
    return _ones_times(speaker, inner)


def _ones_times(speaker: Speaker, inner: list[Term]) -> list[Term]:
    """The sum of the entries of a vector."""
    ones = speaker.turned("1")
    gap = " " if speaker.latex else ""
    if not inner:
        return []
    if len(inner) == 1:
        sign, text = inner[0]
        return [(sign, f"{ones}{gap}{text}" if not re.search(r"[ .]", text) else f"{ones}({text})")]
    return [(1, f"{ones}({joined(inner)})")]


def _traced(speaker: Speaker, expression: Any) -> list[Term]:
    inner = joined(speaker.terms(expression.args[0]))
    return [(1, rf"\operatorname{{tr}}({inner})" if speaker.latex else f"tr({inner})")]


def _diagonal(speaker: Speaker, expression: Any) -> list[Term]:
    inner = joined(speaker.terms(expression.args[0]))
    return [(1, rf"\operatorname{{diag}}({inner})" if speaker.latex else f"diag({inner})")]


def _picked(speaker: Speaker, expression: Any) -> list[Term]:
    """Entries of an array."""
    inner = speaker.terms(expression.args[0])
    key = _places_of_mask(expression) or expression.name()[len(expression.args[0].name()) :]
    sign, text = inner[0] if len(inner) == 1 else (1, f"({joined(inner)})")
    return [(sign, rf"{text}_{{{key.strip('[]')}}}" if speaker.latex and "_" not in text else f"{text}{key}")]


def _places_of_mask(expression: Any) -> str:
    """The key of entries that an array of truth values picks: the places of these, or how many; else nothing."""
    mask = np.asarray(expression.key) if type(expression).__name__ == "special_index" else np.zeros(0)
    if mask.dtype != np.bool_:
        return ""
    places = np.argwhere(mask).tolist()
    listed = "; ".join(", ".join(map(str, place)) for place in places)
    return f"[{listed}]" if len(places) < 5 else f"[{len(places)} places]"


def _log_sum_exp(speaker: Speaker, expression: Any) -> list[Term]:
    inner = speaker.sum(expression.args[0])
    return [(1, rf"\log 1^\top e^{{{inner}}}" if speaker.latex else f"log sum exp({inner})")]


def _stacked(speaker: Speaker, expression: Any) -> list[Term]:
    return [(1, f"[{'; '.join(speaker.sum(arg) for arg in expression.args)}]")]


_SAID: dict[str, Callable[[Speaker, Any], list[Term]]] = {
    "AddExpression": _added,
    "NegExpression": _negative,
    "reshape": _reshaped,
    "symmetric_wrap": _through,
    "psd_wrap": _through,
    "Promote": _promoted,
    "transpose": _transposed,
    "MulExpression": _product,
    "multiply": _entries,
    "DivExpression": _quotient,
    "Sum": _summed,
    "Trace": _traced,
    "diag_vec": _diagonal,
    "diag_mat": _diagonal,
    "index": _picked,
    "special_index": _picked,
    "log_sum_exp": _log_sum_exp,
    "Hstack": _stacked,
    "Vstack": _stacked,
}
