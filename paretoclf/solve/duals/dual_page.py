"""A dual as a page: what is maximised, over which multipliers, under which conditions; and how it comes about."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.solve.duals.construction.conjugates import EVEN, Conjugate, is_number, number, power_constant
from paretoclf.solve.duals.construction.dual_parts import Parts
from paretoclf.solve.duals.construction.multipliers import (
    EXPONENTIAL,
    FREE,
    NONNEGATIVE,
    POWER,
    PSD,
    SECOND_ORDER,
    Multiplier,
)
from paretoclf.solve.duals.construction.tree import Occurrence, argument_letter
from paretoclf.solve.duals.notation import Speaker, joined
from paretoclf.solve.models.lazily import cp

#: Where an expression needs no parentheses: between bars and brackets, and as the side of a comparison.
_OPEN = r"(?:^|[|({\[]|(?:[<>]?=|\\le|\\ge|\\preceq|,|,\\) )"
_CLOSE = r"(?=$|\\?[|)}\]]|,| (?:[<>]?=|\\le|\\ge|\\preceq|\\succeq|psd))"


def filled(template: str, atom: Occurrence, speaker: Speaker) -> str:
    """A text of the table with the names of an atom's multipliers, weight and numbers in it."""
    if not template:
        return ""
    text = _with_numbers(template, atom, speaker)
    text = _with_weight(text, atom.w, speaker) if atom.w is not None else text
    ys = [_said(y, atom, speaker) for y in atom.ys]
    text = text.replace("<us>", ", ".join(letters_of(atom, speaker))).replace("<ys>", ", ".join(ys))
    total = " + ".join(y if " - " not in y else f"({y})" for y in ys)
    text = text.replace("<sum>", re.sub(r"\+ -\s?", "- ", total))
    text = text.replace("<sum of>", "" if atom.ys[0].ndim == 0 else r"\textstyle\sum " if speaker.latex else "sum ")
    copies = letters_of(atom, speaker)
    second = atom.row.name == "perspective"
    names = {"u": ", ".join(copies[1:]) if second else copies[0], "r": copies[0 if second else -1], "y": ys[0]}
    if len(atom.ys) > 1:
        names |= {"s": ys[1]}
    if atom.row.name == "perspective":
        names |= {"y": ", ".join(ys[1:]), "s": ys[0]}
    for letter, y in zip("ys", atom.ys, strict=False):
        text = _put(text, {letter: _negative(y, speaker)}, "-")
    return _numbers_together(_put(text, names))


def _negative(y: Any, speaker: Speaker) -> str:
    """Minus an expression."""
    terms = [(-sign, text) for sign, text in speaker.terms(y)]
    return f"-{terms[0][1]}" if len(terms) == 1 and terms[0][0] < 0 else joined(terms)


def _said(y: Any, atom: Occurrence, speaker: Speaker) -> str:
    """A multiplier in words; of an even function its sign does not matter."""
    terms = speaker.terms(y)
    if atom.row.name in EVEN and y is atom.ys[0] and terms and terms[0][0] < 0:
        terms = [(-sign, text) for sign, text in terms]
    return joined(terms)


def letters_of(atom: Occurrence, speaker: Speaker) -> list[str]:
    """The letters of the copies of an atom's arguments, with its number."""
    count, number_of = len(atom.args), _number_of(atom)
    u, r = (_numbered(speaker, letter, number_of) for letter in "ur")
    if count == 1:
        return [u]
    if atom.row.name == "maximum":
        own = [argument_letter(k, count) if number_of else str(k + 1) for k in range(count)]
        return [_numbered(speaker, "u", number_of + each) for each in own]
    if atom.row.name == "perspective":
        own = [argument_letter(k, count - 1) for k in range(count - 1)]
        return [r, *(_numbered(speaker, "u", number_of + each) for each in own)]
    return [u, r]


def _numbered(speaker: Speaker, letter: str, number_of: str) -> str:
    """A letter that is not the user's, with a number behind it."""
    own = speaker.letters[letter]
    return speaker.leaf(f"{own}_{number_of}") if number_of else own


def _number_of(atom: Occurrence) -> str:
    """The number of an atom, as the variable above it has it; nothing for one that stands alone."""
    return "" if atom.v is None else str(atom.v.name()).partition("_")[2]


def _with_numbers(text: str, atom: Occurrence, speaker: Speaker) -> str:
    """A text with the numbers of an atom in it: exponents, counts."""
    p = atom.numbers.get("p")
    if isinstance(p, float) and p != 1:
        q = p / (p - 1)
        root = atom.row.name == "-power below 1"
        exponents = {"p": p, "q": q, "e": 1 / (1 - p) if root else 1 - q, "d": p / (1 - p)}
        for letter, value in exponents.items():
            said = speaker.digits(value) if value >= 0 else f"-{speaker.digits(-value)}"
            text = text.replace(f"<{letter}>", said)
        text = text.replace("<c>", f"{power_constant(p):.4g}").replace("^(1)", "").replace("^{1}", "")
        text = re.sub(r"\^\((-?[\d.]+)\)", r"^\1", text)
    for token in ("k", "M"):
        given = atom.numbers.get(token)
        if given is None:
            said = token
        elif isinstance(given, float):
            said = speaker.digits(given)
        else:
            said = speaker.sum(given)
        text = text.replace(f"<{token}>", said)
    if "<const>" in text:
        text = text.replace("<const>", _constant_of_log_det(atom, speaker))
    if "<P>" in text:
        text = text.replace("<P>", _matrix_of_form(atom, speaker)).replace(
            "<h>", _numbered(speaker, "h", _number_of(atom))
        )
    return text


def _matrix_of_form(atom: Occurrence, speaker: Speaker) -> str:
    """The matrix of a quadratic form: the user's parameter or name for it, else P."""
    P = atom.numbers["P"]
    if isinstance(P, cp.Expression):
        return speaker.factor(P)
    named = speaker.named(P)
    if named is None:
        return "P"
    sign, name = named
    return name if sign > 0 else f"(-{name})"


def _constant_of_log_det(atom: Occurrence, speaker: Speaker) -> str:
    """N w log w - n w, as a number where it is one."""
    n = atom.args[0].shape[0]
    if atom.w is not None and is_number(atom.w) and float(number(atom.w)) > 0:
        w = float(number(atom.w))
        return f"{n * (w * np.log(w) - w):.6g}"
    return rf"{n} <w> \log <w> - {n} <w>" if speaker.latex else f"{n} <w> log <w> - {n} <w>"


def _numbers_together(text: str) -> str:
    """Factors that are numbers, multiplied."""
    pair = r"(?<![\w.^_/{-])(\d+(?:\.\d+)?) (\d+(?:\.\d+)?)(?![\w./^])"
    while found := re.search(pair, text):
        product = float(found[1]) * float(found[2])
        text = f"{text[: found.start()]}{product:.6g}{text[found.end() :]}"
    return text


def _with_weight(template: str, w: Any, speaker: Speaker) -> str:
    """A text with the weight in it; a weight that is a number is multiplied out."""
    same = is_number(w) and w.size > 0 and np.ptp(number(w)) == 0
    if not same:
        # A weight that all entries have in common is said once.
        name = speaker.sum(w.args[0] if type(w).__name__ == "Promote" else w)
        if re.fullmatch(r"[^ ]+ 1", name):
            name = name.removesuffix(" 1")
        power = f"({name})^" if " " in name else f"{name}^"
        return _put(_divided(template, name).replace("<w>^", power), {"w": name})
    value = float(number(w).ravel()[0])
    four = speaker.digits(4 * value)
    text = template.replace("(4 <w>)", four).replace("{4 <w>}", f"{{{four}}}").replace("4 <w>", four)
    text = re.sub(r" / 1(?![\d./])", "", text)
    text = re.sub(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{1\}", r"\1", text)
    if value == 1:
        text = re.sub(r" ?<w>\^(?:-?[\d./]+|\{(?:[^{}]|\{[^{}]*\})*\})(?= |$)", "", text)
        text = re.sub(r"<w>\^(?:-?[\d./]+|\{(?:[^{}]|\{[^{}]*\})*\}) ?", "", text)
        text = re.sub(r"(?:/| )<w>(?:\^-?[\d./]+|\^\([^()]*\)|\^\{[^{}]*\})(?= |$)", "", text)
        text = text.replace("/<w>", "").replace("sqrt(<w>) ", "").replace(r"\sqrt{<w>} ", "")
        text = re.sub(r"<w>(?:\^\([^()]*\)+|\^\{[^{}]*\})? (?=[\\\w(|-]*[a-z(|])(?!log <w>|\\log <w>|- )", "", text)
    said = speaker.digits(value)
    return _divided(text, said).replace("<w>", said)


def _divided(text: str, weight: str) -> str:
    """A text with parentheses around a weight that something is divided by, where it is a product or a fraction."""
    return text.replace("/<w>", f"/({weight})") if re.search(r"[ /]", weight) else text


def _put(text: str, names: dict[str, str], before: str = "") -> str:
    """Put names where their letters stand, in parentheses where they are sums or products and need them."""
    for letter, name in names.items():
        compound = bool(re.search(r" [+-] |^-", name))
        token = f"{before}<{letter}>"
        if compound:
            open_sides = re.compile(rf"({_OPEN}){token}{_CLOSE}")
            while found := open_sides.search(text):
                text = f"{text[: found.start()]}{found[1]}{name}{text[found.end() :]}"
            text = text.replace(token, f"({name})")
        elif re.search(r"[ /'.]", name):  # a product
            text = text.replace(f"{token}^", f"({name})^")
        text = text.replace(token, name)
    return text


def objective_of(parts: Parts, speaker: Speaker) -> str:
    """The value of a dual, as it is maximised or minimised."""
    terms = speaker.terms(parts.value)
    for atom in parts.atoms:
        words = atom.row.latex if speaker.latex else atom.row.plain
        cost = _over_slices(filled(words.cost, atom, speaker), atom, speaker)
        if cost and not _vanishes(atom):
            terms.append((1, cost[1:]) if cost.startswith("-") and " - " not in cost else (-1, _grouped(cost)))
    terms = terms if parts.sense > 0 else [(-sign, text) for sign, text in terms]
    text = " ".join(f"{'-' if sign < 0 else '+'} {each}" for sign, each in terms).removeprefix("+ ")
    return text or "0"


def _slices(atom: Occurrence, speaker: Speaker) -> str:
    """Words for a condition of each row, or of each column."""
    axis = atom.numbers.get("axis")
    if axis is None:
        return ""
    which = "row" if axis == 1 else "column"
    return rf"\quad \text{{(each {which})}}" if speaker.latex else f" (each {which})"


def _over_slices(cost: str, atom: Occurrence, speaker: Speaker) -> str:
    """A cost of each row or column, where the sum of all is not said by its own words."""
    axis = atom.numbers.get("axis")
    if axis is None or atom.row.name != "sum_squares" or not cost:
        return cost
    which = "rows" if axis == 1 else "columns"
    return rf"\textstyle\sum_{{\text{{{which}}}}} {cost}" if speaker.latex else f"sum over {which} {cost}"


def _grouped(cost: str) -> str:
    """A cost to be subtracted: sums stand in parentheses."""
    depth, plain = 0, ""
    for letter in cost:
        depth += letter in "({["
        plain += letter if depth == 0 else ""
        depth -= letter in ")}]"
    return f"({cost})" if re.search(r" [+-] ", plain) else cost


def _vanishes(atom: Occurrence) -> bool:
    """Whether nothing asks for an atom: then its multipliers are those of its domain."""
    return is_number(atom.w) and not number(atom.w).any()


def conditions_of(parts: Parts, speaker: Speaker) -> list[tuple[str, str]]:
    """The conditions of a dual, each with where it is from."""
    found = [(f"{speaker.sum(g)} = 0", f"coefficient of {name}") for name, g in parts.equations.items()]
    for atom in parts.atoms:
        words = atom.row.latex if speaker.latex else atom.row.plain
        domain = words.at_zero if _vanishes(atom) else words.domain
        if domain:
            said = filled(domain, atom, speaker) + _slices(atom, speaker)
            found.append((said, atom.row.name))
        if not is_number(atom.w) and not atom.w.is_nonneg() and not re.search("<y>|<sum>", domain):
            weight = speaker.sum(atom.w)
            found.append((rf"{weight} \ge 0" if speaker.latex else f"{weight} >= 0", atom.row.name))
    found += [(said, m.label) for m in parts.multipliers if (said := _cone(m, speaker))]
    sources: dict[str, str] = {}
    for condition, source in found:
        if condition:
            sources.setdefault(condition, source)
    return list(sources.items())


def _cone(multiplier: Multiplier, speaker: Speaker) -> str:
    """The set of a multiplier, as a condition."""
    said = [speaker.sum(part) for part in multiplier.parts]
    if multiplier.cone == FREE:
        return ""
    if multiplier.cone == NONNEGATIVE:
        return rf"{said[0]} \ge 0" if speaker.latex else f"{said[0]} >= 0"
    if multiplier.cone == PSD:
        return rf"{said[0]} \succeq 0" if speaker.latex else f"{said[0]} psd"
    if multiplier.cone == SECOND_ORDER:
        return rf"\|{said[1]}\| \le {said[0]}" if speaker.latex else f"|{said[1]}| <= {said[0]}"
    kind = {EXPONENTIAL: "exponential", POWER: "power"}[multiplier.cone]
    listed = ", ".join(said)
    return rf"({listed}) \in K^*_{{\text{{{kind}}}}}" if speaker.latex else f"({listed}) in the dual {kind} cone"


def variables_of(parts: Parts) -> list[Any]:
    """The variables of a dual that a page names: multipliers, and no auxiliary ones."""
    found: dict[int, Any] = {}
    expressions = [part for m in parts.multipliers for part in m.parts]
    expressions += [y for atom in parts.atoms for y in atom.ys]
    for expression in [*expressions, parts.value, *parts.equations.values()]:
        for variable in expression.variables():
            found.setdefault(variable.id, variable)
    return list(found.values())


def halves_of(parts: Parts, speaker: Speaker) -> list[str]:
    """Names of the variables that quadratic forms have of their own."""
    forms = [atom for atom in parts.atoms if atom.row.name == "quad_form" and not _vanishes(atom)]
    return [_numbered(speaker, "h", _number_of(atom)) for atom in forms]


def text_of(parts: Parts, names: dict[str, Any]) -> str:
    """The page of a dual as plain text."""
    speaker = Speaker(names, letters=parts.letters)
    verb = "maximise" if parts.sense > 0 else "minimise"
    over = ", ".join([*(speaker.leaf(v.name()) for v in variables_of(parts)), *halves_of(parts, speaker)])
    conditions = conditions_of(parts, speaker)
    width = max((len(condition) for condition, _ in conditions), default=0)
    lines = [f"{verb}    {objective_of(parts, speaker)}", f"over        {over or 'nothing'}"]
    for k, (condition, source) in enumerate(conditions):
        head = "subject to  " if k == 0 else " " * 12
        lines.append(f"{head}{condition:{min(width, 60)}}    ({source})")
    return "\n".join(lines)


def latex_of(parts: Parts, names: dict[str, Any]) -> str:
    """The page of a dual in LaTeX, to stand in a display."""
    speaker = Speaker(names, latex=True, letters=parts.letters)
    verb = "maximise" if parts.sense > 0 else "minimise"
    lines = [rf"\text{{{verb}}} \quad & {objective_of(parts, speaker)} \\"]
    conditions = [condition for condition, _ in conditions_of(parts, speaker)]
    for k, condition in enumerate(conditions):
        head = r"\text{subject to} \quad & " if k == 0 else "& "
        lines.append(rf"{head}{condition} \\")
    lines[-1] = lines[-1].removesuffix(r" \\")
    return "\\begin{aligned}\n" + "\n".join(lines) + "\n\\end{aligned}"


def lagrangian_of(parts: Parts, speaker: Speaker) -> list[str]:
    """The Lagrangian, a product a line."""
    lines = [speaker.sum(parts.objective)]
    for multiplier in parts.multipliers:
        for part, added in zip(multiplier.parts, multiplier.added, strict=True):
            lines.append(f"+ {_of_pair(part, added, speaker)}    ({multiplier.label})")
    for k, atom in enumerate(parts.atoms):
        w = _numbered(speaker, "w", str(k + 1))
        inside = _function(atom, speaker)
        lines.append(f"+ {w}'({inside} - {speaker.sum(atom.v)})")
        for letter, y, arg in zip(letters_of(atom, speaker), atom.ys, atom.args, strict=True):
            lines.append(f"+ {speaker.factor(y)}'({speaker.sum(arg)} - {letter})")
    return lines


def _of_pair(part: Any, added: Any, speaker: Speaker) -> str:
    times = "'" if added.ndim else " "  # an inner product, or one of numbers
    return f"{speaker.sum(part)}{times}({speaker.sum(added)})"


def _function(atom: Occurrence, speaker: Speaker) -> str:
    words = atom.row.latex if speaker.latex else atom.row.plain
    return filled(words.atom, atom, speaker)


def derivation_of(parts: Parts, names: dict[str, Any], fewer: Parts | None = None) -> str:
    """How a dual comes about, step by step, as plain text; ``fewer`` are the parts that are left by elimination."""
    speaker = Speaker(names, letters=parts.letters)
    steps: list[tuple[str, list[str]]] = []
    if parts.sense < 0:
        steps.append(("maximise f = - minimise - f, so that the objective is - f from here to the last step.", []))
    copies = [letter for atom in parts.atoms for letter in letters_of(atom, speaker)]
    above = [speaker.sum(atom.v) for atom in parts.atoms]
    if parts.atoms:
        head = (
            f"Each atom that is not affine gets a variable above it, {_listed(above)}, with its argument held in a copy"
        )
        steps.append((f"{head}, {_listed(copies)}.", [_copied(atom, speaker) for atom in parts.atoms]))
    head = "The Lagrangian adds the products of constraints and multipliers to the objective."
    steps.append((head, lagrangian_of(parts, speaker)))
    if parts.atoms:
        head = (
            f"Least over {_listed(above)}: each coefficient must be 0. Then over {_listed(copies)}: each conjugate, by"
        )
        inequalities = [line for atom in parts.atoms for line in _inequality(atom, speaker)]
        steps.append((f"{head} Fenchel-Young's inequality.", inequalities))
    over = _listed([speaker.leaf(name) for name in parts.variables])
    them = "it" if len(parts.variables) == 1 else "them"
    head = f"Least over {over}: the Lagrangian is affine in {them}, so that each coefficient must be 0."
    lines = [f"{speaker.leaf(name)}:  {speaker.sum(g)} = 0" for name, g in parts.equations.items()]
    steps.append((head, [*lines, f"what is left:  {objective_of(replace(parts, sense=1), speaker)}"]))
    end = (
        "What is left is the dual:"
        if parts.sense > 0
        else "What is left bounds - f from below, and minus it is the dual:"
    )
    page = [end, "", text_of(parts, names)]
    if fewer is not None:
        gone = [f"{speaker.leaf(name)} = {speaker.sum(e)}    ({of})" for name, e, of in fewer.eliminated]
        own = {variable.id for m in fewer.multipliers for part in m.parts for variable in part.variables()}
        known = [atom for atom in fewer.atoms if {variable.id for variable in atom.ys[0].variables()} <= own]
        at = [f"{speaker.sum(atom.args[0])} = {least}" for atom in known if (least := _least_at(atom, speaker))]
        gone += [f"The Lagrangian is least where {' and '.join(at)}."] if at else []
        last = [
            f"{len(steps) + 1}. Eliminated, since one of these equations gives it:",
            *(f"   {each}" for each in gone),
        ]
        page += ["", *last, "", text_of(fewer, names)]
    told = [f"{k}. {head}\n" + "".join(f"   {line}\n" for line in lines) for k, (head, lines) in enumerate(steps, 1)]
    return "\n".join([*told, *page])


def _listed(names: list[str]) -> str:
    """Names in a row; of many the first and the last."""
    return ", ".join(names) if len(names) < 5 else f"{names[0]}, ..., {names[-1]}"


def _copied(atom: Occurrence, speaker: Speaker) -> str:
    """An atom under its variable, with the copies of its arguments."""
    pairs = zip(letters_of(atom, speaker), atom.args, strict=True)
    arguments = ", ".join(f"{letter} = {speaker.sum(arg)}" for letter, arg in pairs)
    return f"{speaker.sum(atom.v)} >= {_function(atom, speaker)}, {arguments}"


def _inequality(atom: Occurrence, speaker: Speaker) -> list[str]:
    """Where the weight of an atom comes from, and Fenchel-Young with it."""
    row: Conjugate = atom.row
    pairs = zip(atom.ys, letters_of(atom, speaker), strict=True)
    y = " + ".join(f"{speaker.factor(each)}'{letter}" for each, letter in pairs)
    words = row.plain
    weight = speaker.sum(atom.w) if atom.w is not None else "w"
    cost = filled(words.cost, atom, speaker) or "0"
    domain = filled(words.domain, atom, speaker)
    condition = f"  if {domain}, else there is no bound" if domain else ""
    named = weight if re.fullmatch(r"\w+", weight) else f"({weight})"
    own = _numbered(speaker, "w", _number_of(atom))
    least = _least_at(atom, speaker)
    return [
        f"{speaker.sum(atom.v)}:  {own} = {weight}",
        f"{row.name}:  {y} <= {named} [{_function(atom, speaker)}] + {_grouped(cost)}{condition}",
        *([f"equal at {letters_of(atom, speaker)[0]} = {least}"] if least else []),
    ]


def _least_at(atom: Occurrence, speaker: Speaker) -> str:
    """Where Fenchel-Young's inequality of a square is an equality: ``y / (2 w)``; nothing for other atoms."""
    if atom.row.name not in ("square", "sum_squares") or atom.w is None or not is_number(atom.w):
        return ""
    weights = number(atom.w)
    if not weights.all() or np.ptp(weights):
        return ""
    factor = 1.0 / (2.0 * float(weights.ravel()[0]))
    return joined(speaker.times(speaker.terms(cp.Constant(factor)), speaker.terms(atom.ys[0])))


def shown(parts: Parts, names: dict[str, Any]) -> str:
    """The page in LaTeX as a display of a notebook."""
    return f"$$\n{latex_of(parts, names)}\n$$"
