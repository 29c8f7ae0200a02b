"""Games from rule sheets in the Game Description Language (GDL).

    from ludoteca import make_game
    game = make_game("gdl:path=breakthrough.kif")       # a `Game` like any other
    game = make_game("gdl:path=connect4")               # a sheet of this package, by name

The compiler, in the order of its stages:

- `parse.read_sheet(path)`, `parse.parse(text)`: statements with lines and columns
- `rules.read_rules(statements)`: rules in disjunctive normal form
- `checks.check_rules(rules)`: faults against the specification, `checks.Problem`
- `split.split_rules(rules)`: equivalent rules with fewer variables each
- `ground.ground(rules, limits)`: ground instances, of large relations by demand (`demand`)
- `gates.Gates(grounder, limits)`: and-inverter graph
- `network.make_network(grounder, gates)`: `network.Network`, gates as arrays in two phases
- `compile.compile_sheet(path)`, `compile.compile_text(text)`: all of these, with a disk cache
- `dynamics.analyze(network)`: sequential or simultaneous, waiting moves, bound on the length
- `game.gdl(path)`: the `Game`; `game.rules(game)` returns its network, `game.dynamics(game)` its
  dynamics

`batch.BatchSimulator(network).play(rounds)` plays 512 random games at once. Errors are
`errors.GDLError` (a `ValueError`), `errors.GDLLimitError` and `errors.GDLWarning`.
"""
