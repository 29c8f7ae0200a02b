"""Alternatives: rules that differ in one literal become one rule with an auxiliary relation.

`or` in a body makes several rules of one, as in

    (<= (threatened ?x ?y) (or (rook ?u ?v) (queen ?u ?v)) (sees ?u ?v ?x ?y))

With an auxiliary relation that has a rule for each alternative, the rest of the body is joined once
instead of once for each of them.
"""

from collections import defaultdict
from dataclasses import replace

from ludoteca.envs.gdl.estimates import Estimates
from ludoteca.envs.gdl.parse import variables
from ludoteca.envs.gdl.rules import Atom, Rule

EITHER = "either "  # prefix of the names of the auxiliary relations


def merge_alternatives(rules: list[Rule], estimates: Estimates, few_rows: int) -> list[Rule]:
    """Return equivalent rules, those that differ in one positive literal merged.

    Args:
        rules: the rules of a sheet.
        estimates: estimates for these rules.
        few_rows: number of instances of a rule up to which it is left as it is.
    """
    groups: dict[object, list[tuple[int, Atom]]] = defaultdict(list)
    for k, rule in enumerate(rules):
        if len(rule.positive) > 1 and estimates.rows(rule.positive) > few_rows:
            for atom in rule.positive:
                if atom[0] != "does":
                    groups[_rest(rule, atom)].append((k, atom))
    merged: dict[int, Rule | None] = {}  # by index of the rule; None: merged with another one
    either: dict[tuple[Atom, ...], Atom] = {}
    for members in groups.values():
        group = [(k, atom) for k, atom in members if k not in merged]
        if len(group) > 1:
            k, replaced = group[0]
            alternatives = tuple(atom for _, atom in group)
            names = sorted(set(variables(replaced)))
            union = either.setdefault(alternatives, (f"{EITHER}{len(either)}", *names))
            merged.update((other, None) for other, _ in group)
            positive = [union if atom == replaced else atom for atom in rules[k].positive]
            merged[k] = replace(rules[k], positive=positive)
    result = [merged.get(k, rule) for k, rule in enumerate(rules)]
    added = [Rule(union, [atom]) for atoms, union in either.items() for atom in atoms]
    return [rule for rule in result if rule] + added


def _rest(rule: Rule, atom: Atom) -> object:
    """Return a key that is equal for rules that differ in one literal with the same variables."""
    return (
        rule.head,
        frozenset(variables(atom)),
        frozenset(each for each in rule.positive if each != atom),
        frozenset(rule.negative),
        frozenset(rule.distinct),
        frozenset(rule.equal),
    )
