"""Replays of whole games, which are verified when they are read."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ludoteca import files
from ludoteca.envs.api.aec import aec_env
from ludoteca.envs.api.parallel import parallel_env
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.envs.replay import Replay

pytestmark = pytest.mark.interpreted

MakeSmallGame = Callable[[str], Game]
ids = pytest.mark.parametrize("id_", GAMES)


def play(game: Game, seed: int, plies: int | None = None, agents: str = "aec") -> tuple[Any, Any]:
    """Play a game at random, or its first plies; return its replay and the last position."""
    env: Any = aec_env(game) if agents == "aec" else parallel_env(game)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    game_batch = env.unwrapped.game_batch
    while env.agents and (plies is None or game_batch.plies_of(0) < plies):
        masks = game_batch.masks[0]
        masks = np.broadcast_to(masks, (game.num_players, game.num_actions))
        choices = {
            agent: int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0
            for agent, mask in zip(env.possible_agents, masks, strict=True)
        }
        if agents == "parallel":
            env.step({agent: choices[agent] for agent in env.agents})
        else:
            over = env.terminations[env.agent_selection]
            env.step(None if over else choices[env.agent_selection])
    return env.replay(), game_batch.states.view(np.recarray)[0]


@pytest.fixture(scope="module")
def finished(make_small_game: MakeSmallGame) -> Callable[[str], dict[str, Any]]:
    """Return a function that returns the replay of a whole game on a small board, as JSON data."""
    texts: dict[str, str] = {}

    def finished(id_: str) -> dict[str, Any]:
        if id_ not in texts:
            texts[id_] = play(make_small_game(id_), seed=3)[0].to_json()
        data: dict[str, Any] = json.loads(texts[id_])
        return data

    return finished


def same(one: Any, other: Any) -> bool:
    """Return whether two positions are equal."""
    return all(np.array_equal(one[name], other[name]) for name in one.dtype.names)


@ids
@pytest.mark.parametrize("agents", ["aec", "parallel"])
@pytest.mark.parametrize("plies", [None, 0, 3])
def test_games_survive_serialization(
    id_: str, agents: str, plies: int | None, make_small_game: MakeSmallGame, tmp_path: Path
) -> None:
    for seed in range(3):
        replay, last = play(make_small_game(id_), seed, plies, agents)
        assert make_game(replay.game) is make_small_game(id_)
        assert Replay.from_json(replay.to_json()) == replay
        replay.save(tmp_path / "new" / "game.json")
        assert Replay.load(tmp_path / "new" / "game.json") == replay
        positions = list(replay.positions())
        assert len(positions) == 1 + len(replay.actions)
        assert same(positions[-1], last)
        over = make_small_game(id_).is_terminal(last)
        assert (replay.returns is not None) == over
        if plies is None:
            assert over
            assert sum(replay.returns) == pytest.approx(0, abs=1e-5)


@ids
def test_games_on_default_boards_survive_serialization(id_: str) -> None:
    replay, last = play(make_game(id_), seed=1)
    again = Replay.from_json(replay.to_json())
    assert again == replay
    assert same(list(again.positions())[-1], last)


@ids
@pytest.mark.parametrize("seat", [0, 1, "random"])
def test_replays_of_games_against_opponents_hold_the_opponents_moves(
    id_: str, seat: Any, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    env = gym.make(f"ludoteca/{id_}", agent_seat=seat, **game.params).unwrapped
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    opponent_moves = 0
    for _ in range(5):
        _, info = env.reset()
        over, moves = False, 0
        while not over:
            mask = info["action_mask"]
            # A mask without actions says that the opponents have won before the agent can move.
            moves += int(mask.any())
            _, _, over, _, info = env.step(
                int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0
            )
        replay = env.replay()
        assert Replay.from_json(replay.to_json()) == replay
        assert same(list(replay.positions())[-1], env.game_batch.states.view(np.recarray)[0])
        if game.simultaneous:
            assert len(replay.actions) == moves
            assert all(len(joint) == game.num_players for joint in replay.actions)
        else:
            movers = [game.player(s) for s in list(replay.positions())[:-1]]
            assert movers.count(info["player"]) == moves
            opponent_moves += len(movers) - moves
    assert game.simultaneous or opponent_moves >= 3


@ids
def test_errors_of_illegal_actions_name_the_move(
    id_: str, finished: Any, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    for k in {0, len(finished(id_)["actions"]) - 1}:
        too_low = FORFEIT - 1 if game.simultaneous else -1
        for wrong in (too_low, game.num_actions, 10**30, "0", 1.0, True, None, [0], {}):
            data = finished(id_)
            if game.simultaneous:
                mover = next(p for p in range(game.num_players) if active(data, k, p))
                data["actions"][k][mover] = wrong
                message = (
                    rf"move {k}: action .* of player {mover} is illegal: "
                    r"the legal actions are \[0, 1, 2, 3\]"
                )
            else:
                data["actions"][k] = wrong
                message = rf"move {k}: action .* is illegal: the legal actions are \["
            with pytest.raises(ValueError, match=message):
                Replay.from_json(json.dumps(data))


def active(data: dict[str, Any], k: int, player: int) -> bool:
    """Return whether a player is active in a simultaneous game before move k."""
    replay = Replay(data["game"], data["seed"], data["actions"], tuple(data["returns"]))
    position = list(replay.positions())[k]
    is_active = make_game(data["game"]).is_active
    assert is_active is not None
    return is_active(position, player)


@ids
def test_a_move_played_twice_is_an_error(
    id_: str, finished: Any, make_small_game: MakeSmallGame
) -> None:
    data = finished(id_)
    if make_small_game(id_).simultaneous:
        joint = data["actions"][0]
        for wrong in (joint[:-1], [*joint, 0], 0, "ab", None, {"0": 1}):
            data["actions"][0] = wrong
            with pytest.raises(ValueError, match=rf"move 0: expected {len(joint)} actions, got"):
                Replay.from_json(json.dumps(data))
        return
    data["actions"].insert(1, data["actions"][0])
    with pytest.raises(ValueError, match=r"move \d+|returns"):
        Replay.from_json(json.dumps(data))


def test_players_that_are_out_cannot_act(finished: Any) -> None:
    data = finished("HungryGeese-v0")
    for k in range(len(data["actions"])):
        for player in range(3):
            if not active(data, k, player):
                data["actions"][k][player] = 2
                with pytest.raises(
                    ValueError, match=f"move {k}: player {player} has no legal action, expected 0"
                ):
                    Replay.from_json(json.dumps(data))
                return
    pytest.fail("nobody was out before the end of this game: choose another seed")


@ids
def test_a_wrong_result_is_an_error(id_: str, finished: Any) -> None:
    data = finished(id_)
    right = data["returns"]
    plies = len(data["actions"])
    wrong: list[Any] = [None, [0.25] * len(right), right[:-1], [*right, 0], [float("nan")] * 2]
    wrong += [[-value for value in right]] if any(right) else [[1, -1]]
    for returns in wrong:
        data["returns"] = returns
        with pytest.raises(ValueError, match=f"after its {plies} moves the game has the returns"):
            Replay.from_json(json.dumps(data))


@ids
def test_a_game_cut_short_has_no_result(id_: str, finished: Any) -> None:
    data = finished(id_)
    data["actions"].pop()
    with pytest.raises(ValueError, match="moves the game has the returns None, but the replay has"):
        Replay.from_json(json.dumps(data))
    data["returns"] = None
    assert Replay.from_json(json.dumps(data)).returns is None


@ids
def test_a_game_cannot_continue_after_its_end(id_: str, finished: Any) -> None:
    data = finished(id_)
    plies = len(data["actions"])
    data["actions"] += [data["actions"][0]] * 200_000
    with pytest.raises(
        ValueError, match=f"move {plies}: the game is over, but the replay continues"
    ):
        Replay.from_json(json.dumps(data))


def test_another_seed_is_another_game(finished: Any) -> None:
    data = finished("HungryGeese-v0")
    first = next(Replay.from_json(json.dumps(data)).positions())
    assert not same(first, make_game(data["game"]).new(data["seed"] + 1))


@pytest.mark.parametrize(
    ("game", "message"),
    [
        ("tictactoe", "move"),
        ("chess", "unknown game 'chess'"),
        ("", "unknown game"),
        ("hex:board_size=99", "board_size must be an integer from 2 to 19"),
        ("hex:colour=red", "hex has no parameter 'colour'"),
        (None, "not a replay: game must be of type str, got None"),
        (7, "not a replay: game must be of type str, got 7"),
    ],
)
def test_the_game_must_be_the_one_that_was_played(game: Any, message: str, finished: Any) -> None:
    data = finished("Hex-v0") | {"game": game}
    with pytest.raises(ValueError, match=message):
        Replay.from_json(json.dumps(data))


def test_a_spec_may_leave_out_defaults(finished: Any) -> None:
    data = finished("TicTacToe-v0")
    assert Replay.from_json(json.dumps(data | {"game": "tictactoe"})).actions == data["actions"]


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "7", '"text"', "{", "{}", '{"format": "x"}', "[" * 10**5, "9" * 5000, "NaN"],
    ids=lambda text: text[:12],
)
def test_text_that_is_not_a_replay_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a replay"):
        Replay.from_json(text)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        *[("seed", seed) for seed in (-1, 2**64, 10**400, 1.5, "1", True, None, [])],
        *[("actions", actions) for actions in (None, 3, "0123", {"0": 1})],
        *[("players", players) for players in (None, 3, "ab", {"0": 1})],
        *[("returns", returns) for returns in (3, "x", [None, None], [[1], [2]], [10**400, 0])],
        *[("format", format_) for format_ in (None, "ludoteca-state", 3)],
    ],
    ids=lambda value: str(value)[:12],
)
def test_values_of_a_wrong_type_are_errors(key: str, wrong: Any, finished: Any) -> None:
    data = finished("TicTacToe-v0")
    with pytest.raises(ValueError, match="not a replay: ") as caught:
        Replay.from_json(json.dumps(data | {key: wrong}))
    assert len(str(caught.value)) < 600
    del data[key]
    with pytest.raises(ValueError, match=f"not a replay: '{key}' is missing"):
        Replay.from_json(json.dumps(data))


def test_unreadable_files_are_named_in_the_error(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    for content in (b"", b"\xff\xfe\x00", b"{}"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"game\.json: "):
            Replay.load(file)
    with pytest.raises(FileNotFoundError):
        Replay.load(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError):
        Replay.load(tmp_path)


@pytest.mark.parametrize("broken", ["os.replace", "Path.open"])
def test_a_failed_save_leaves_only_the_old_file(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: Any
) -> None:
    replay = Replay.from_json(json.dumps(finished("TicTacToe-v0")))
    file = tmp_path / "game.json"
    file.write_text("old")

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    owner, name = broken.split(".")
    monkeypatch.setattr(getattr(files, owner), name, fail)
    with pytest.raises(OSError, match="disk full"):
        replay.save(file)
    monkeypatch.undo()
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["game.json"]

    replay.save(file)
    assert Replay.load(file) == replay
    assert os.listdir(tmp_path) == ["game.json"]
    other = tmp_path / "other"
    other.touch()
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_an_interrupted_save_leaves_only_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def break_off() -> None:
        with files.atomic_writer(path) as file:
            file.write(b"half a fi")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        break_off()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_names_of_the_players_survive_serialization(finished: Any) -> None:
    data = finished("TicTacToe-v0") | {"players": ["Ana", "Zoë"]}
    assert Replay.from_json(json.dumps(data)).players == ("Ana", "Zoë")


def test_positions_are_copies(finished: Any) -> None:
    replay = Replay.from_json(json.dumps(finished("TicTacToe-v0")))
    for s in replay.positions():
        s.board[:] = 1
    assert all((s.board != 1).any() for s in list(replay.positions())[:5])


@ids
def test_a_game_lost_by_an_illegal_action_is_unfinished(
    id_: str, make_small_game: MakeSmallGame
) -> None:
    env: Any = aec_env(make_small_game(id_))
    env.reset(seed=0)
    while not any(env.terminations.values()):
        env.step(-1)
    replay = env.replay()
    assert replay.returns is None
    assert len(replay.actions) == 0
    assert Replay.from_json(replay.to_json()) == replay
