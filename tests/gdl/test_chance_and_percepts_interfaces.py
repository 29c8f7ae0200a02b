"""Games with chance and hidden information: kernels, environments, positions, agents."""

from dataclasses import replace

import numpy as np
import pytest
from chance_games import COINS, MATCH, SHEETS, chance_to_win, play, true_fluents, write

from ludoteca.agents.networks.encoder import Encoder
from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.network.search import NetworkGuidedSearch
from ludoteca.agents.search.sequential.tree import UNEXPANDED, entry_dtype
from ludoteca.envs.contract_chance import check_chance
from ludoteca.envs.contract_positions import ContractError
from ludoteca.envs.gdl.errors import GDLWarning
from ludoteca.envs.gdl.game import new_position, rules
from ludoteca.envs.gdl.percepts import percept_names
from ludoteca.envs.interpreted import interpreting
from ludoteca.envs.registry import make_game
from ludoteca.testing import check_game, check_kernels

pytestmark = pytest.mark.interpreted


@pytest.mark.parametrize("name", SHEETS)
def test_kernels_keep_the_contract(name):
    check_kernels(make_game("gdl", path=name), games=3)


@pytest.mark.parametrize("name", ["dice_race", "kuhn_poker"])
def test_chance_that_is_not_enumerated_is_found(name):
    game = make_game("gdl", path=name)
    assert game.chance is not None
    with interpreting(), pytest.raises(ContractError, match="does not enumerate the position"):
        check_chance(replace(game, chance=game.chance._replace(count=lambda s: 1)))


@pytest.mark.parametrize("name", ["dice_race", "kuhn_poker"])
def test_interpreted_games_keep_the_contract(name):
    with pytest.warns(GDLWarning, match="its rules are interpreted"):
        game = make_game("gdl", path=name, max_instances=1)
    assert game.num_players == 2
    check_kernels(game, games=2)


@pytest.mark.slow
def test_interpreted_games_keep_the_contract_in_compiled_code():
    with pytest.warns(GDLWarning, match="its rules are interpreted"):
        game = make_game("gdl:path=kuhn_poker,max_instances=2")
    check_game(game, games=3, environments=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_environments_pass_the_conformance_suites(name):
    check_game(make_game("gdl", path=name), games=5)


@pytest.mark.slow
@pytest.mark.parametrize("text", [COINS, MATCH])
def test_other_environments_with_chance_pass_the_conformance_suites(text, tmp_path):
    check_game(make_game("gdl", path=write(tmp_path, text)), games=5)


def test_the_state_is_observed_on_demand_and_without_percepts():
    hidden, state = make_game("gdl:path=kuhn_poker"), make_game("gdl:path=kuhn_poker,observe=state")
    network = rules(state)
    assert state.observation_shape == (len(network.fluents) + 2, 1, 1)
    assert hidden.observation_shape == (2 * len(percept_names(network)) + 4 + 2, 1, 1)
    race = make_game("gdl:path=dice_race")
    assert race.observation_shape == (len(rules(race).fluents) + 2, 1, 1)
    s, out = state.new(1), np.zeros(state.observation_shape, np.int8)
    state.observe(s, 1, out)
    shown = {network.fluents[i] for i in np.flatnonzero(out[:-2])}
    assert shown == true_fluents(state, s)
    with pytest.raises(ValueError, match="observe must be"):
        make_game("gdl:path=kuhn_poker,observe=all")


def test_a_position_is_made_from_its_fluents():
    game = make_game("gdl:path=kuhn_poker")
    s = game.new(4)
    play(game, s, "bet")
    same = new_position(game, true_fluents(game, s), int(s.plies), seed=1)
    assert game.validate(same) == ""
    assert game.legal(same) == game.legal(s)
    assert game.player(same) == game.player(s) == 1
    with pytest.raises(ValueError, match="can never be true"):
        new_position(game, ["(has first ace)"])


def test_chance_moves_in_a_position_in_which_players_wait():
    game = make_game("gdl:path=kuhn_poker")
    network, kernels = rules(game), vars(game)["_rules"][2]
    initial = np.array(network.fluents)[network.initial].tolist()
    s = new_position(game, initial)
    assert game.validate(s) == ""
    assert len(game.legal(s)) == 2
    assert (s.plies, new_position(game, initial, plies=1).plies) == (0, 2)  # chance deals
    s.fluents[:] = 0
    for i in np.flatnonzero(network.initial):
        s.fluents[i >> 6] |= np.uint64(1 << (i & 63))
    with np.errstate(over="ignore"):
        kernels.refresh(s)
    assert game.legal(s) == []
    assert "only chance moves" in game.validate(s)


def test_validate_finds_percepts_that_do_not_exist():
    game = make_game("gdl:path=kuhn_poker")
    for name, value in (("last_action", 4), ("game_percepts", 2**63)):
        s = game.new()
        s[name] = value
        assert name in game.validate(s)


def test_options_that_need_a_game_without_chance_are_refused():
    game = make_game("gdl:path=dice_race")
    for option in ("solver=True", "transpositions=True", "decisive=win", "reuse=True"):
        with pytest.raises(ValueError, match=r"needs? a game without chance"):
            make_agent(f"mcts:{option}", game)
    for name in ("alphabeta", "mcts:amaf=rave,threads=2"):
        with pytest.raises(ValueError, match="chance"):
            make_agent(name, game)
    with pytest.raises(ValueError, match="needs a game without chance"):
        NetworkGuidedSearch(Encoder(game), 1, 10)


@pytest.mark.slow
def test_openspiel_has_no_hidden_information():
    pytest.importorskip("pyspiel")
    from ludoteca.envs.adapters.openspiel import load_game

    with pytest.raises(ValueError, match="expected observe=state"):
        load_game("gdl:path=kuhn_poker")
    state = load_game("gdl:path=kuhn_poker,observe=state").new_initial_state()
    assert state.is_chance_node()
    while not state.is_terminal():
        state.apply_action((state.legal_actions() or [0])[0])
    assert state.returns() in ([0.5, -0.5], [-0.5, 0.5], [1, -1], [-1, 1])


def test_search_does_not_know_the_chance_events_to_come():
    game = make_game("gdl:path=dice_race")
    fluents = ["(at white 14)", "(at black 15)", "(control white)"]
    for spec in ("mcts:simulations=20", "flat:simulations=20"):
        actions = []
        for stream in range(3):
            s = new_position(game, fluents, seed=stream)
            agent = make_agent(spec, game)
            rngs = np.array([[9]], np.uint64)
            states = np.array([s], game.state)
            actions.append(int(agent.act(states, np.zeros(1, int), rngs, np.zeros(1, int))[0]))
            actions.append(int(rngs[0, 0]))
        assert actions == actions[:2] * 3


@pytest.mark.parametrize("entries", [16, 4096])
def test_all_nodes_of_a_tree_with_chance_are_found_by_its_table(entries):
    agent = make_agent("mcts:simulations=120", make_game("gdl:path=dice_race"))
    table = np.zeros(entries, entry_dtype(agent.game.action_dtype))
    tree = agent._workspace.trees[0]._replace(table=table)
    agent._workspace.trees[0] = tree
    report = agent.search(agent.game.new())
    used = tree.table[tree.table["first_child"] != UNEXPANDED]
    assert (len(used) == entries) == (entries == 16)
    assert tree.size == 1 + used["num_children"].sum()  # 1: the root
    assert report.simulations == 120


@pytest.mark.slow
def test_search_finds_the_values_of_the_dice_race():
    game = make_game("gdl:path=dice_race")
    agent = make_agent("mcts:simulations=20000", game)
    for own, other in ((0, 0), (13, 12), (15, 17), (17, 14)):
        fluents = [f"(at white {own})", f"(at black {other})", "(control white)"]
        report = agent.search(new_position(game, fluents))
        walk, run = chance_to_win(own, other, "best")[1]
        assert report.name == ("walk" if walk > run else "run")
        means = {candidate.name: candidate.mean for candidate in report.candidates}
        assert means[report.name] == pytest.approx(max(walk, run), abs=0.03)
