"""Persistent fluents: those that keep their initial value, because the only rule is that they do.

The walls of a maze are often such fluents: `(<= (next (wall ?x ?y)) (true (wall ?x ?y)))`. Other
rules then ask for `init` instead of `true`, which is known while rules are grounded, even in
negative literals. The fluents themselves remain a part of the state.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ludoteca.envs.gdl.parse import Term
from ludoteca.envs.gdl.rules import Atom, Rule

Functor = tuple[Term, int]  # name of a fluent and number of its arguments


def replace_persistent_fluents(rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules with `init` in place of `true` in literals of persistent fluents.

    The rules that keep these fluents are not changed.
    """
    persistent = persistent_fluents(rules)
    if not persistent:
        return list(rules)

    def initial(atom: Atom) -> Atom:
        is_persistent = atom[0] == "true" and functor_of(atom[1]) in persistent
        return ("init", atom[1]) if is_persistent else atom

    return [
        rule
        if rule.head[0] == "next" and functor_of(rule.head[1]) in persistent
        else replace(
            rule,
            positive=[initial(atom) for atom in rule.positive],
            negative=[initial(atom) for atom in rule.negative],
        )
        for rule in rules
    ]


def persistent_fluents(rules: Sequence[Rule]) -> set[Functor]:
    """Return the kinds of fluents whose only rule of `next` is that they stay true."""
    of_fluent: dict[Functor, list[Rule]] = defaultdict(list)
    for rule in rules:
        if rule.head[0] == "next":
            functor = functor_of(rule.head[1])
            if functor is None:  # any fluent
                return set()
            of_fluent[functor].append(rule)
    return {functor for functor, each in of_fluent.items() if all(map(_keeps_fluent, each))}


def functor_of(term: Term) -> Functor | None:
    """Return the name and the number of arguments of a term, or None if it is a variable."""
    if isinstance(term, str):
        return None if term[0] == "?" else (term, 0)
    return term[0], len(term) - 1


def _keeps_fluent(rule: Rule) -> bool:
    """Return whether a rule of `next` says that all fluents of its kind stay true."""
    term = rule.head[1]
    arguments = term[1:] if isinstance(term, tuple) else ()
    return (
        rule.positive == [("true", term)]
        and not (rule.negative or rule.distinct or rule.equal)
        and all(isinstance(each, str) and each[0] == "?" for each in arguments)
        and len(set(arguments)) == len(arguments)
    )
