"""Games from rule sheets in the Game Description Language (GDL).

    from ludoteca import make_game
    game = make_game("gdl:path=breakthrough.kif")       # a `Game` like any other
    game = make_game("gdl:path=connect4")               # a sheet of this package, by name

A sheet is a text file of facts and rules. Its fluents are the facts that can change, such as
`(cell 1 1 x)`; a state is the set of fluents that are true. The roles are the players and, in a
game with chance, the role `random`.

The compiler, in the order of its stages:

- `parse.read_sheet(path)`, `parse.parse(text)`: statements with lines and columns
- `rules.read_rules(statements)`: rules in disjunctive normal form
- `checks.check_rules(rules)`: violations of the specification, `checks.Problem`
- `persistence.replace_persistent_fluents(rules)`: rules that treat unchanging fluents as constants
- `ground.ground(rules, limits)`: ground instances of the rules, without variables. The rules are
  split into rules with fewer variables first (`split`), by estimates of the numbers of instances
  (`estimates`) if there are many; large relations are derived by demand (`demand`)
- `gates.Gates(grounder, limits)`: and-inverter graph of the ground rules
- `network.make_network(grounder, gates)`: `network.Network`, gates as arrays in three phases
- `compile.compile_sheet(path)`, `compile.compile_text(text)`: the stages so far, with a disk cache
- `dynamics.analyze(network)`: sequential or simultaneous, waiting moves, bound on the length
- `one_hot.find_groups(network, dynamics)`: fluents of which exactly one, or at most one, is true
- `percepts.make_observe_percepts(network, ...)`: observations in games with hidden information
- `game.gdl(path)`: the `Game`; `game.rules(game)` returns its network, `game.dynamics(game)` its
  dynamics, `game.new_position(game, fluents)` a position

A sheet that exceeds the limits of the compilation is interpreted:

- `datalog.Evaluator(rules)`: goal-directed evaluation of rules with tables of answers
- `interpreter.read_interpreter(path)`: legal moves, goals, end and next state, as terms
- `vocabulary.find_vocabulary(interpreter, ...)`: the fluents, moves and percepts that can occur
- `interpreted_network.interpret_text(text)`: a `Network` without gates, and its dynamics
- `rule_calls`: calls of the interpreter from compiled code

`batch.BatchSimulator(network).play(rounds)` plays 512 random games in a batch. Errors are
`errors.GDLError` (a `ValueError`) and `errors.GDLLimitError`; warnings are `errors.GDLWarning`.
"""
