"""Names in any spelling, aliases, and suggestions."""

import re

import pytest

from ludoteca.agents.registry import AGENTS, find_maker, make_agent, resolve_alias
from ludoteca.agents.registry import ALIASES as AGENT_ALIASES
from ludoteca.envs.names import did_you_mean, plain_name
from ludoteca.envs.registry import ALIASES, GAMES, game_id, make_game
from ludoteca.envs.spec import parse_spec

NAMES = [make_game(id_).name for id_ in GAMES]


@pytest.mark.parametrize("id_", GAMES)
def test_games_are_found_in_any_spelling(id_):
    game = make_game(id_)
    spaced = game.name.replace("_", " ")
    hyphened = game.name.replace("_", "-")
    for name in (id_, f"ludoteca/{id_}", game.name, game.name.upper(), spaced, hyphened):
        assert game_id(name) == id_
        assert make_game(name) is game


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_a_game(alias):
    name, params = parse_spec(ALIASES[alias])
    assert make_game(alias) is make_game(name, **params)
    assert make_game(alias.replace("_", "-").title()) is make_game(name, **params)
    assert plain_name(alias) not in map(plain_name, NAMES)


def test_the_parameters_of_an_alias_can_be_changed():
    assert make_game("gomoku").spec == "tictactoe:board_size=15,line=5"
    assert make_game("gomoku:board_size=9").spec == "tictactoe:board_size=9,line=5"
    assert make_game("gomoku", line=6).spec == "tictactoe:board_size=15,line=6"


@pytest.mark.parametrize("alias", AGENT_ALIASES)
def test_an_alias_is_an_agent(alias):
    name, _ = parse_spec(AGENT_ALIASES[alias])
    assert name in AGENTS
    assert find_maker(alias) is find_maker(name)
    assert resolve_alias(alias.replace("_", "-").upper()) == AGENT_ALIASES[alias]
    assert plain_name(alias) not in map(plain_name, AGENTS)


def test_agents_are_made_by_their_aliases():
    game = make_game("hex:board_size=5")
    assert make_agent("uct:simulations=7", game).simulations == 7
    assert make_agent("UCT", game).config.policy == "uct"
    assert make_agent("uct:policy=ucb1", game).config.policy == "ucb1"
    assert make_agent("AlphaZero:hex5,simulations=2", game).simulations == 2
    with pytest.raises(FileNotFoundError, match="no network 'hex4'"):
        make_agent("alpha-zero:hex4", game)


@pytest.mark.parametrize("name", [*NAMES, *ALIASES, *AGENTS])
def test_misspelled_names_are_corrected_by_the_suggestion(name):
    known = [*NAMES, *ALIASES, *AGENTS]
    misspellings = [name + "x"]
    if len(name) > 4:  # without the last or a middle character, and with two exchanged
        middle = len(name) // 2
        misspellings += [name[:-1], name[:middle] + name[middle + 1 :]]
        misspellings.append(
            name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]
        )
    for wrong in misspellings:
        if wrong not in known:
            near = re.fullmatch(r" \(did you mean '(.*)'\?\)", did_you_mean(wrong, known))
            assert near is not None, wrong
            assert near[1] == name or plain_name(wrong) == plain_name(near[1]), wrong


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("sise", ["first", "board_size", "swap"], "board_size"),
        ("sims", ["policy", "simulations", "seconds"], "simulations"),
        ("heks", NAMES, "hex"),
        ("chess", NAMES, None),
        ("", NAMES, None),
        ("-", NAMES, None),
        ("go", ["hex"], None),
        ("hex", [], None),
    ],
)
def test_suggestions(name, known, near):
    assert did_you_mean(name, known) == (f" (did you mean {near!r}?)" if near else "")


def test_unknown_names_are_errors_with_a_suggestion():
    with pytest.raises(
        ValueError, match=r"unknown game 'gomuko' \(did you mean 'gomoku'\?\); there"
    ):
        make_game("gomuko")
    with pytest.raises(
        ValueError, match=r"unknown agent 'alphazro' \(did you mean 'alphazero'\?\)"
    ):
        make_agent("alphazro", make_game("tictactoe"))
    with pytest.raises(ValueError, match=r"no parameter 'lin' \(did you mean 'line'\?\); it has"):
        make_game("gomoku:lin=4")
    with pytest.raises(ValueError, match=r"got 'blck' \(did you mean 'black'\?\)"):
        make_game("hex", first="blck")
