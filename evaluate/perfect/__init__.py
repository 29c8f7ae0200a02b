"""How perfectly an agent plays: against every opponent, or in positions that are solved."""

from ludoteca.evaluate.perfect.exploitability import Exploitability, exploitability
from ludoteca.evaluate.perfect.lines import Lines, all_lines
from ludoteca.evaluate.perfect.positions import Solved, solved_positions

__all__ = ["Exploitability", "Lines", "Solved", "all_lines", "exploitability", "solved_positions"]
