"""Tests of recorded sequential games: generation, replay, tables of Othello, files, commands."""

import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from short_othello import ROWS

from ludoteca.agents.registry import make_agent
from ludoteca.agents.search.select import ACTION_SELECTIONS
from ludoteca.envs.registry import make_game
from ludoteca.train.data import generate as generation
from ludoteca.train.data import othello_table
from ludoteca.train.data.__main__ import VerificationConfig, main
from ludoteca.train.data.convert import ConversionConfig, convert
from ludoteca.train.data.dataset import GameDataset
from ludoteca.train.data.generate import GenerationConfig, generate, play_games
from ludoteca.train.data.positions import replay_positions
from ludoteca.train.data.storage import load_dataset, save_dataset

pytestmark = pytest.mark.interpreted

SMALL = GenerationConfig(
    game="othello:board_size=4", agents=("random", "random"), learn_from=(0,), games=60
)


def uct(simulations):
    """Return the spec string of the UCT agent of the Seville paper."""
    return f"mcts:policy=uct,simulations={simulations},action_selection=mean"


@pytest.mark.parametrize(("label", "player"), [(1, 0), (-1, 1)])
def test_reads_handwritten_table(tmp_path, label, player):
    path = tmp_path / "hand.csv"
    path.write_text("".join(f"{line},{label}\n" for line in ROWS))
    games = load_dataset(path)
    names = [games.game.action_names[action] for action in games.actions[:, 0]]
    assert names == ["b1", "c1", "d1", "a1", "a3", "pass", "d4"]
    assert (games.lengths[0], games.returns[0].tolist()) == (7, [1, -1])
    assert games.selected[0].tolist() == [player == 0, player == 1]
    assert games.labels()[0] == label
    assert save_dataset(tmp_path / "again.csv", games).read_text() == path.read_text()


def test_reads_table_without_repeated_positions_at_passes(tmp_path):
    path = tmp_path / "hand.csv"
    lines = [*ROWS[:6], ROWS[7]]
    path.write_text("".join(f"{line},1\n" for line in lines))
    games = load_dataset(path)
    assert games.game.params["auto_pass"]
    assert games.lengths[0] == 6
    assert save_dataset(tmp_path / "again.csv", games).read_text() == path.read_text()


def brute_force(games):
    """Return the table of games, replayed in plain Python."""
    lines, move = [], 0
    for k, length in enumerate(games.lengths):
        s = games.game.new()
        boards = [games.game.layout.cells(s)]
        for action in games.actions[move : move + length, 0]:
            assert action in games.game.legal(s)
            with np.errstate(over="ignore"):
                games.game.step(s, int(action))
            boards.append(games.game.layout.cells(s))
        move += length
        assert s.over
        black, white = ((boards[-1] == disc).sum() for disc in (1, 2))
        result = np.sign(int(black) - int(white))
        assert games.returns[k].tolist() == [result, -result]
        label = result if games.selected[k, 0] else -result
        for board in boards:
            codes = np.array([0, 2, 1])[board]  # ours are black 1, white 2
            lines.append(",".join(map(str, [*codes.ravel(), label])))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("size", "auto_pass", "count"),
    [(4, False, 60), pytest.param(4, True, 200, marks=pytest.mark.slow), (8, False, 10)],
)
@pytest.mark.interpreted
def test_table_equals_brute_force_and_round_trips(tmp_path, size, auto_pass, count, monkeypatch):
    monkeypatch.setattr(othello_table, "BLOCK_BYTES", 5000)  # blocks end within games and lines
    game = f"othello:board_size={size},auto_pass={auto_pass}"
    games = play_games(replace(SMALL, game=game, games=count, agents=("random", "greedy")))
    assert set(games.selected.argmax(1)) == {0, 1}
    text = brute_force(games)
    first = save_dataset(tmp_path / "first.csv", games)
    assert first.read_text() == text
    convert(ConversionConfig((first,), compact := tmp_path / "compact.npz"))
    convert(ConversionConfig((compact,), second := tmp_path / "second.csv"))
    assert second.read_text() == text
    reloaded = load_dataset(compact)
    assert reloaded.game is games.game
    np.testing.assert_array_equal(reloaded.actions, games.actions)
    np.testing.assert_array_equal(reloaded.lengths, games.lengths)
    np.testing.assert_array_equal(reloaded.returns, games.returns)
    is_draw = games.returns[:, 0] == 0
    assert (reloaded.selected[~is_draw] == games.selected[~is_draw]).all()
    assert reloaded.selected[is_draw].all()  # the label 0 of a draw fits both players
    assert compact.stat().st_size < len(text) / 5


def test_reads_windows_line_ends_and_missing_last_newline(tmp_path):
    games = play_games(replace(SMALL, games=3))
    path = save_dataset(tmp_path / "a.csv", games)
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", b"\r\n")[:-2])
    np.testing.assert_array_equal(load_dataset(path).actions, games.actions)


def whole_game():
    """Return the lines of the table of one game."""
    return brute_force(play_games(replace(SMALL, games=1, seed=3))).splitlines()


def changed(k, text):
    """Return the lines of a game with line k replaced by a text, or by a function of the line."""
    lines = whole_game()
    lines[k] = text(lines[k]) if callable(text) else text
    return lines


# Invalid tables, as functions that return their lines, and the error message of each.
BROKEN = {
    "empty": (lambda: [], "is empty"),
    "columns": (lambda: ["0,1,2"], r"line 1: expected 65 columns .*got 3"),
    "letters": (lambda: changed(2, "a" + "0," * 16), r"line 3: expected 16 cells.*got 'a0"),
    "cell 3": (lambda: changed(1, lambda line: "3" + line[1:]), r"line 2: expected 16 cells"),
    "label 2": (lambda: changed(1, lambda line: line[:32] + "2"), r"line 2: expected 16 cells"),
    "cut line": (lambda: changed(4, lambda line: line[:11]), r"line 5: expected 16 cells"),
    "cut": (lambda: whole_game()[:-2], r"line \d+: the file ends during a game"),
    "middle": (lambda: whole_game()[2:], r"line 1: the file does not begin with an initial"),
    "gap": (lambda: whole_game()[:3] + whole_game()[4:], r"line 4: no legal move leads to this"),
    "begins": (
        lambda: whole_game()[:4] * 2,
        r"line 5: a game begins before the previous one has ended",
    ),
    "continued": (
        lambda: whole_game() + whole_game()[-1:],
        r"line \d+: the game has already ended",
    ),
    "label changes": (
        lambda: changed(5, lambda line: line[:32] + ("0" if line[32] == "1" else "1")),
        r"line 6: the label differs from the earlier labels",
    ),
    "label wrong": (
        lambda: [line[:32] + "0" for line in whole_game()],
        r"line \d+: the label differs from the result of the game",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_invalid_table_raises_with_line(tmp_path, case):
    lines, message = BROKEN[case]
    path = tmp_path / "broken.csv"
    path.write_text("".join(f"{line}\n" for line in lines()))
    with pytest.raises(ValueError, match=message):
        load_dataset(path)


def test_loading_and_replay_validate_games(tmp_path):
    games = play_games(replace(SMALL, games=5))
    path = save_dataset(tmp_path / "a.npz", games)
    content = path.read_bytes()
    for size in (10, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"a\.npz holds no games, or is damaged"):
            load_dataset(path)
    actions = games.actions.copy()
    actions[games.offsets[2] + 3] = actions[games.offsets[2]]
    with pytest.raises(
        ValueError, match=r"game 2 of othello.* is invalid at step 3 of .*an action is illegal"
    ):
        replay_positions(replace(games, actions=actions))
    with pytest.raises(ValueError, match=r"game 0 .* the returns differ"):
        replay_positions(replace(games, returns=-games.returns + 2))
    with pytest.raises(ValueError, match=r"files of games end with .npz or .csv"):
        save_dataset(tmp_path / "a.txt", games)
    with pytest.raises(ValueError, match="tables are of Othello"):
        save_dataset(
            tmp_path / "a.csv",
            play_games(GenerationConfig(game="tictactoe", agents=("random",), games=2)),
        )
    with pytest.raises(ValueError, match="fixed seats need 2 agents, one per player, got 3"):
        play_games(replace(SMALL, agents=("random",) * 3, seats="fixed"))
    with pytest.raises(ValueError, match="learn_from"):
        replace(SMALL, learn_from=(2,))
    with pytest.raises(ValueError, match="seats"):
        replace(SMALL, seats="first")


@pytest.mark.slow
def test_generation_depends_on_neither_workers_nor_batches(tmp_path, monkeypatch):
    def content(**changes):
        path = tmp_path / "games.npz"
        generate(replace(config, out=path, **changes))
        return path.read_bytes()

    config = replace(SMALL, agents=(uct(10), "random"), games=70)
    monkeypatch.setattr(generation, "SEQUENTIAL_GAMES", 16)
    expected = content(num_workers=1)
    assert content(num_workers=3) == expected
    monkeypatch.setattr(generation, "SEQUENTIAL_GAMES", 256)
    assert content() == expected
    assert content(seed=1) != expected


@pytest.mark.slow
@pytest.mark.parametrize("seats", ["first", "second", "rotating"])
def test_labels_are_returns_of_selected_agent(seats):
    agents = ("random", uct(200)) if seats == "second" else (uct(200), "random")
    games = play_games(
        GenerationConfig(
            game="tictactoe",
            games=100,
            agents=agents,
            seats="rotating" if seats == "rotating" else "fixed",
            learn_from=(agents.index(uct(200)),),
        )
    )
    players = {"first": np.zeros(100), "second": np.ones(100), "rotating": np.arange(100) % 2}
    np.testing.assert_array_equal(games.selected.argmax(1), players[seats])
    assert (games.selected.sum(1) == 1).all()
    assert (games.agents[games.selected] == agents.index(uct(200))).all()
    assert games.labels().mean() > 0.6
    assert (games.labels() >= 0).mean() > 0.95


def test_self_play_labels_are_returns_of_first_player():
    games = play_games(GenerationConfig(game="tictactoe", games=10, agents=(uct(8),)))
    assert games.selected.all()
    np.testing.assert_array_equal(games.labels(), games.returns[:, 0])


def test_default_agent_is_uct_of_seville():
    agent = make_agent(GenerationConfig().agents[0], make_game("othello"))
    assert (agent.simulations, agent.config.policy) == (50, "uct")
    assert ACTION_SELECTIONS[agent.action_selection] == "mean"
    assert agent._params["policy_params"][0, 0] == 2**0.5


def test_positions_have_game_ply_and_player_to_move():
    games = play_games(GenerationConfig(game="tictactoe", agents=("random",), games=7))
    positions = replay_positions(games)
    assert len(positions) == len(games.actions) + 7
    ends = np.flatnonzero(positions.plies == games.lengths[positions.games])
    np.testing.assert_array_equal(positions.games[ends], np.arange(7))
    assert [bool(games.game.is_terminal(s)) for s in positions.states.view(np.recarray)[ends]] == [
        True
    ] * 7
    np.testing.assert_array_equal(positions.players, positions.plies % 2)
    np.testing.assert_array_equal(positions.returns, games.returns[positions.games])
    samples = positions.samples()
    np.testing.assert_array_equal(samples.actions, games.actions[:, 0])
    np.testing.assert_array_equal(samples.players, positions.players[samples.rows])
    np.testing.assert_array_equal(samples.returns, games.returns[samples.games, samples.players])


def test_commands_generate_convert_and_verify(tmp_path, capsys):
    main(replace(SMALL, games=10, out=tmp_path / "a.csv"))
    assert "a.csv: 10 games" in capsys.readouterr().out
    main(ConversionConfig((tmp_path / "a.csv",), tmp_path / "b.npz"))
    assert "b.npz: 10 games" in capsys.readouterr().out
    main(VerificationConfig((tmp_path / "b.npz", tmp_path / "a.csv")))
    assert "b.npz: 10 games" in (text := capsys.readouterr().out)
    assert "a.csv: 10 games" in text
    games = load_dataset(tmp_path / "b.npz")
    assert isinstance(games, GameDataset)
    save_dataset(tmp_path / "c.npz", replace(games, returns=games.returns + 1))
    with pytest.raises(ValueError, match="the returns differ"):
        main(VerificationConfig((tmp_path / "c.npz",)))


def test_printed_games_agree_with_the_table(tmp_path, capsys, monkeypatch):
    """Compare with the last line of each game in the table: its final position and the label."""
    monkeypatch.setattr(generation, "SEQUENTIAL_GAMES", 4)  # so games are played in several tasks
    config = replace(SMALL, games=10, out=tmp_path / "a.csv", num_workers=1)
    main(replace(config, agents=("greedy", "random"), print_games=True))
    printed = re.findall(r"(?<=^game ).*?^label \S+$", capsys.readouterr().out, re.M | re.S)
    rows = [line.split(",") for line in (tmp_path / "a.csv").read_text().splitlines()]
    starts = [k for k, row in enumerate(rows) if row[:16] == ROWS[0].split(",")]
    assert len(printed) == len(starts) == 10
    for k, (text, start, end) in enumerate(
        zip(printed, starts, [*starts[1:], len(rows)], strict=True)
    ):
        first, black, white, _, *lines = text.strip().splitlines()
        assert first == f"{k + 1}: {end - start - 1} plies, {end - start} positions"
        assert [black, white] == [
            f"{name}: {agent}"
            for name, agent in zip(
                ("black", "white"), ("greedy", "random")[:: 1 - k % 2 * 2], strict=True
            )
        ]
        codes = {".": "0", "O": "1", "X": "2"}
        cells = [codes[letter] for line in lines[:4] for letter in line.split()[1:]]
        *expected, label = rows[end - 1]
        assert cells == expected
        assert f"black {cells.count('2')}, white {cells.count('1')}" in lines[4]
        assert lines[5] == f"label {label}"


def test_file_with_member_that_is_not_an_array_raises(tmp_path):
    """Check a member without the header of an array, for which NumPy returns bytes."""
    path = tmp_path / "games.npz"
    generate(replace(SMALL, games=2, out=path))
    with np.load(path) as archive:
        members = {name: archive[name] for name in archive.files}
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w") as file:
                if name == "lengths":
                    file.write(b"nothing")
                else:
                    np.lib.format.write_array(file, array)
    with pytest.raises(ValueError, match=r"games.npz holds no games.*lengths is not an array"):
        load_dataset(path)


def test_damaged_bzip2_stream_raises(tmp_path):
    """The decompressor raises an `OSError` without a number: discovered by `tests/fuzz`."""
    path = tmp_path / "games.npz"
    generate(replace(SMALL, games=2, out=path))
    with np.load(path) as archive:
        members = {name: archive[name] for name in archive.files}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, array in members.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array)
    content = bytearray(path.read_bytes())
    start = content.index(b"BZh")
    content[start : start + 3] = b"bzh"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"games.npz holds no games.*Invalid data stream"):
        load_dataset(path)
