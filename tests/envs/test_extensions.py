"""Games and agents from outside the package: registered, and by target.

A target is `MODULE:NAME`, a factory that is imported.
"""

import json
import pickle
import sys
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from dots_and_boxes import dots_and_boxes
from pettingzoo_make import make_pettingzoo

import ludoteca
from ludoteca.agents import Agent
from ludoteca.agents.register import code_registrations, name_of, restore_registrations
from ludoteca.agents.registry import AGENTS, agent_source, find_maker, make_agent, remove_agent
from ludoteca.envs import targets
from ludoteca.envs.game import Game, unique
from ludoteca.envs.registry import (
    GAMES,
    default_game,
    find_factory,
    game_id,
    game_source,
    make_game,
    remove_game,
)
from ludoteca.envs.replay import Replay
from ludoteca.evaluate.match import play_match
from ludoteca.evaluate.tournament.plan import short_names
from ludoteca.evaluate.tournament.saved_results import read_results
from ludoteca.executor import make_executor

pytestmark = pytest.mark.interpreted

TARGET = "dots_and_boxes:dots_and_boxes"
SMALL = f"{TARGET}:size=1"


class HighestAgent(Agent):
    """Agent that plays the legal action with the highest number, after skipping some.

    Args:
        skip: maximum number of skipped actions; the lowest legal action is never skipped.
    """

    def __init__(self, game: Game, skip: int = 0):
        super().__init__(game)
        self.skip = skip

    def act(self, states, seats, rngs, env_indices):
        """Choose an action for each position."""
        legal = [self.game.legal(s) for s in states.view(np.recarray)]
        return np.array(
            [actions[-1 - min(self.skip, len(actions) - 1)] for actions in legal], np.int64
        )


# Agent whose name would be that of its module.
MISNAMED = type("Misnamed", (HighestAgent,), {"__module__": "test_extensions"})


@pytest.fixture
def clean(monkeypatch):
    """Remove the games, agents and modules that a test registers and loads."""
    before = {*GAMES}, {*AGENTS}
    monkeypatch.setattr(targets, "_loaded", dict(targets._loaded))
    yield
    for id_ in {*GAMES} - before[0]:
        remove_game(id_)
        del gym.registry[f"ludoteca/{id_}"]
    for name in {*AGENTS} - before[1]:
        remove_agent(name)


def test_a_target_is_a_game_with_parameters():
    game = make_game(SMALL)
    assert game is dots_and_boxes(size=1)
    assert game.spec == SMALL
    assert game.name == "dots_and_boxes"
    assert make_game(game.spec) is game
    assert make_game(TARGET, size=1) is game
    assert pickle.loads(pickle.dumps(game)) is game
    assert default_game(game) is dots_and_boxes()
    assert find_factory(SMALL) is dots_and_boxes


def test_a_target_of_a_registered_game_is_that_game():
    assert make_game("ludoteca.envs.games.hex:hex:board_size=4") is make_game("hex:board_size=4")
    assert make_game("ludoteca.envs.games.hex:hex:board_size=4").spec.startswith("hex:")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (f"{TARGET}:size=6", "size must be an integer from 1 to 5, got 6"),
        (f"{TARGET}:sise=2", r"no parameter 'sise' \(did you mean 'size'\?\); it has size"),
        (f"{TARGET}:2", "expected key=value after the colon of .*, got '2'"),
        ("dots_and_boxes:dots_and_boxs", r"has no 'dots_and_boxs' \(did you mean 'dots_and_boxes'"),
        ("dots_and_boxes", "unknown game 'dots_and_boxes'"),
        (
            "hexx:five",
            r"unknown game 'hexx' \(did you mean 'hex'\?\).*; and not a module: ",
        ),
        ("hexx:board_size=5", r"unknown game 'hexx' \(did you mean 'hex'\?\)"),
        ("hex:dots_and_boxes", "expected key=value after the colon of 'hex:dots_and_boxes', got"),
        ("dots_and_boxes:cells", "must have a default for s"),
        ("json:JSONEncoder", "must be a factory, a function that returns a Game"),
        ("json:dumps", "must have a default for obj"),
    ],
)
def test_invalid_games_are_errors(spec, problem):
    with pytest.raises(ValueError, match=problem):
        make_game(spec)


def test_invalid_factories_are_errors(clean):
    def copied(name="another"):
        fields = {key: getattr(dots_and_boxes(1), key) for key in Game.__dataclass_fields__}
        return Game(**fields | {"name": name, "params": {}})

    wrong = {
        "must have a default for rows": lambda rows: copied(),
        r"must accept all its parameters by name, got \*sizes": lambda *sizes: copied(),
        r"got \*\*sizes": lambda **sizes: copied(),
        "a parameter opponent, but that is a keyword argument": lambda opponent=1: copied(),
        "must return a Game, it returned 3": lambda: 3,
        "a game with the name 'Another One'": lambda: copied("Another One"),
        r"\['size'\], got \[\]": lambda size=1: copied(),
        "'hex': that is a name of Hex-v0": lambda: copied("hex"),
        "'gomoku': that is a name of TicTacToe-v0": lambda: copied("gomoku"),
        "'Hex-v0': that is": partial(ludoteca.register_game, id="Hex-v0"),
        "the form 'DotsAndBoxes-v0', got 'dots'": partial(ludoteca.register_game, id="dots"),
        "'reversi': that is": partial(ludoteca.register_game, aliases=["reversi"]),
    }
    for problem, wrong_part in wrong.items():  # a wrong factory, or wrong arguments
        register = wrong_part if isinstance(wrong_part, partial) else ludoteca.register_game
        factory = (lambda: copied()) if isinstance(wrong_part, partial) else wrong_part
        with pytest.raises((ValueError, TypeError), match=problem):
            register(factory)
    with pytest.raises(TypeError, match="a game, not a function"):
        ludoteca.register_game(copied())
    assert "Another-v0" not in GAMES


def test_a_registered_game_is_available_in_all_environment_apis(clean):
    register = ludoteca.register_game(aliases=["kaesekaestchen"])
    assert register(dots_and_boxes) is dots_and_boxes
    assert make_game("Dots-and-boxes") is make_game("Kaesekaestchen") is dots_and_boxes()
    assert game_id("dots_and_boxes") == "DotsAndBoxes-v0"
    assert game_source("DotsAndBoxes-v0") == f"registered by {TARGET}"
    assert make_game(SMALL).spec == "dots_and_boxes:size=1"
    env = gym.make("ludoteca/DotsAndBoxes-v0")
    env.reset(seed=0)
    assert env.action_space.n == 12
    assert gym.make_vec("ludoteca/DotsAndBoxes-v0", num_envs=3, opponent="random").num_envs == 3
    aec = make_pettingzoo("aec", "ludoteca/DotsAndBoxes-v0")
    aec.reset(seed=0)
    from ludoteca.envs import dots_and_boxes_v0

    assert dots_and_boxes_v0.parallel_env().possible_agents == ["player_0", "player_1"]
    assert play_match("dots_and_boxes", ["random", "random"], 10).games == 10
    register(dots_and_boxes)  # again, as a cell of a notebook that is run twice


def test_a_registered_factory_becomes_unique(clean):
    def fresh(size: int = 1) -> Game:
        fields = {key: getattr(dots_and_boxes(size), key) for key in Game.__dataclass_fields__}
        return Game(**fields | {"name": "fresh"})

    assert fresh() is not fresh()
    made = ludoteca.register_game(fresh)
    assert made() is made(size=1) is make_game("fresh") is make_game("fresh:size=1")


def test_a_registered_agent_plays_by_its_name(clean):
    assert ludoteca.register_agent(HighestAgent) is HighestAgent
    game = make_game("tictactoe")
    assert make_agent("highest:2", game).skip == 2
    assert make_agent("Highest:skip=1", game).skip == 1
    result = play_match(game, ["highest:skip=1", "random"], 10)
    assert result.agents == ("highest:skip=1", "random")
    env = gym.make("ludoteca/TicTacToe-v0", opponent="highest", agent_seat=1)
    env.reset(seed=0)
    assert (
        env.unwrapped.game_batch.states["board"][0].ravel()[8]
        != env.unwrapped.game_batch.states["board"][0].ravel()[0]
    )
    ludoteca.register_agent(HighestAgent)  # registering it again is harmless

    @ludoteca.register_agent(name="lowest")
    def make(game, depth: int):
        return make_agent("random", game)

    assert make_agent("lowest:depth=3", game)
    with pytest.raises(ValueError, match=r"agent lowest needs depth=\.\.\."):
        make_agent("lowest", game)
    assert name_of(HighestAgent) == "highest"
    assert name_of(type("TwoPlyAgent", (HighestAgent,), {})) == "two_ply"
    for problem, name, maker in (
        ("'dqn': that is the agent dqn", "dqn", HighestAgent),
        ("'test_extensions', the name of its module", "test_extensions", MISNAMED),
        ("'uct': that is the agent uct", "uct", HighestAgent),
        ("'highest': that is the agent highest", "highest", make),
        ("lower-case letters", "Two-ply", HighestAgent),
        ("must take the game as its first argument", "no_game", lambda: None),
        (r"by name, got \*\*options", "options", lambda game, **options: None),
        ("must be a subclass of ludoteca.agents.Agent", "plain", int),
        ("must implement act", "abstract", type("Abstract", (Agent,), {})),
        ("a subclass of Agent, or a function", "three", 3),
    ):
        with pytest.raises((ValueError, TypeError), match=problem):
            ludoteca.register_agent(maker, name=name)


@pytest.mark.parametrize(
    ("source", "spec", "problem"),
    [
        ("", "agents_here:Player", "agents_here has no 'Player'"),
        ("Player = 3", "agents_here:Player", "must be a subclass of Agent, or a function"),
        ("def play(planes, masks): ...", "agents_here:play", "use function:agents_here:"),
        ("def play(game): return 3", "agents_here:play", "it made 3; for a function policy"),
        (
            "def play(game): return 3",
            "agents_here:play:x=1",
            "no parameter 'x'; it has no parameters",
        ),
        ("import not_there", "agents_here:play", "No module named 'not_there'"),
    ],
)
def test_invalid_agents_are_errors(source, spec, problem, tmp_path, monkeypatch):
    (tmp_path / "agents_here.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises((ValueError, ImportError), match=problem):
            make_agent(spec, make_game("tictactoe"))
    finally:
        sys.modules.pop("agents_here", None)


def test_names_of_agents_and_networks_come_before_targets():
    game = make_game("tictactoe")
    assert make_agent("mcts:simulations=5", game).simulations == 5
    assert make_agent("uct:simulations=5", game).simulations == 5
    with pytest.raises(FileNotFoundError, match="no network 'connect5'"):
        make_agent("dqn:connect5", game)
    with pytest.raises(ValueError, match=r"random is an agent; .* its file, random\.py:Agent"):
        make_agent("random:Agent", game)
    assert find_maker("function:a:b") is find_maker("function")
    assert short_names(["dqn:hex5", "dqn:hex6"]) == ("hex5", "hex6")
    assert short_names(["mine:A", "mine:B:2,x=3"]) == ("mine:A", "mine:B:2,x=3")


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Yield the name of a module, and check that it was not imported: importing writes a file."""
    (tmp_path / "evil_module.py").write_text(
        f"open({str(tmp_path / 'imported')!r}, 'w')\nfrom dots_and_boxes import dots_and_boxes\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "evil_module"
    sys.modules.pop("evil_module", None)
    assert not (tmp_path / "imported").exists()


def test_names_in_files_import_nothing(evil, tmp_path, clean):
    game = make_game("tictactoe")
    spec = f"{evil}:dots_and_boxes"
    text = Replay(game.spec, 0, [0, 1], None).to_json().replace(game.spec, spec)
    refused = rf"names '{spec}', which is not imported"
    with pytest.raises(ValueError, match=refused):
        Replay.from_json(text)
    plan = {"games": [spec], "agents": ["random", "greedy"], "names": [], "games_per_pair": 2}
    plan |= {"repeats": 1, "seed": 0, "draws": "half"}
    for changed in ({}, {"agents": ["random", f"{evil}:Agent"], "games": ["tictactoe"]}):
        plan = plan | changed
        (tmp_path / "results.json").write_text(json.dumps({"tournament": plan, "pairs": []}))
        with pytest.raises(ValueError, match="which is not imported"):
            read_results(tmp_path)
    with (
        targets.untrusted_names("a file"),
        pytest.raises(ValueError, match="which is not imported"),
    ):
        make_agent(f"function:{evil}:policy", game)


def test_weights_and_archives_import_nothing(evil, tmp_path):
    torch = pytest.importorskip("torch")
    from ludoteca.agents.networks.weights import find_weights, load_weights, save_weights
    from ludoteca.train.data.dataset import ARRAYS
    from ludoteca.train.data.storage import FORMAT, load_dataset

    weights, metadata = load_weights(find_weights("hex5", "dqn"))
    file = tmp_path / "q.safetensors"
    save_weights(file, weights, metadata | {"game": f"{evil}:dots_and_boxes"})
    with pytest.raises(ValueError, match=r"q\.safetensors.*, which is not imported"):
        make_agent(f"dqn:{file}", make_game("tictactoe"))
    header = json.dumps({"format": FORMAT, "game": f"{evil}:dots_and_boxes"}).encode()
    arrays = {name: np.zeros(0) for name in ARRAYS}
    with (tmp_path / "a.npz").open("wb") as out:
        np.savez(out, ludoteca=np.frombuffer(header, np.uint8), **arrays)
    with pytest.raises(ValueError, match=r"a\.npz names .*, which is not imported"):
        load_dataset(tmp_path / "a.npz")
    assert torch


def test_targets_named_by_the_user_are_allowed_in_files(clean):
    game = make_game(SMALL)
    replay = play_match(game, ["random", "random"], 1, num_replays=1).replays[0]
    assert replay.game == SMALL
    assert Replay.from_json(replay.to_json()) == replay


def test_another_process_adopts_registered_games(clean):
    ludoteca.register_game(dots_and_boxes)
    ludoteca.register_agent(HighestAgent)
    sent = pickle.dumps(code_registrations())
    assert make_game("dots_and_boxes").spec == "dots_and_boxes:size=2"
    remove_game("DotsAndBoxes-v0")
    remove_agent("highest")
    restore_registrations(pickle.loads(sent))
    assert make_game("dots_and_boxes") is dots_and_boxes()
    assert agent_source("highest").endswith(":HighestAgent")


def test_unique_factories_do_not_change(clean):
    assert ludoteca.register_game(dots_and_boxes) is dots_and_boxes
    assert unique(dots_and_boxes)() is dots_and_boxes()


@pytest.mark.slow
def test_workers_have_the_registered_games_and_named_targets(clean, tmp_path):
    ludoteca.register_game(dots_and_boxes)
    (tmp_path / "policies.py").write_text("def first(planes, masks):\n    return masks.argmax(1)\n")
    agent = f"function:{tmp_path}/policies.py:first"
    tasks = [
        partial(play_match, "dots_and_boxes:size=1", [agent, "random"], 4),
        partial(play_match, SMALL, ["random", agent], 4),
    ]
    with make_executor("local", 2) as executor:
        results = list(executor.run(tasks))
    assert [result.game for result in results] == ["dots_and_boxes:size=1"] * 2
    assert {result.agents for result in results} == {(agent, "random"), ("random", agent)}
