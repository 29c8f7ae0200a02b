"""SequentialGames to learn from: generated, kept in files, and read again without a change."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from ludoteca.agents.mcts.act import ACTION_SELECTIONS
from ludoteca.agents.registry import make_agent
from ludoteca.envs.registry import make_game
from ludoteca.train.data import generate_sequential as generating
from ludoteca.train.data import othello_table as table
from ludoteca.train.data.__main__ import main
from ludoteca.train.data.formats import TableConversion, convert, load_games, save_games
from ludoteca.train.data.generate_sequential import SequentialGenerationConfig, generate, play_games
from ludoteca.train.data.sequential import UNKNOWN, SequentialGames

RANDOM = SequentialGenerationConfig(game="othello:board_size=4", agent="random", games=60)
# The shortest game on 4x4: b1 c1 d1 a1 a3, white passes, d4. White (1) is left with a1 and no move.
SHORT = """\
0,0,0,0,0,1,2,0,0,2,1,0,0,0,0,0
0,2,0,0,0,2,2,0,0,2,1,0,0,0,0,0
0,2,1,0,0,2,1,0,0,2,1,0,0,0,0,0
0,2,2,2,0,2,2,0,0,2,1,0,0,0,0,0
1,2,2,2,0,1,2,0,0,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,1,0,0,0,0,0
1,2,2,2,0,2,2,0,2,2,2,0,0,0,0,2
""".splitlines()


@pytest.mark.parametrize(("label", "side"), [(1, 0), (-1, 1)])
def test_a_table_written_by_hand(tmp_path, label, side):
    path = tmp_path / "hand.csv"
    path.write_text("".join(f"{line},{label}\n" for line in SHORT))
    games = load_games(path)
    names = [games.game.action_names[action] for action in games.actions]
    assert names == ["b1", "c1", "d1", "a1", "a3", "pass", "d4"]
    assert (games.lengths[0], games.results[0], games.sides[0]) == (7, 1, side)
    assert save_games(tmp_path / "again.csv", games).read_text() == path.read_text()


def test_a_table_that_does_not_repeat_positions_when_a_player_passes(tmp_path):
    path = tmp_path / "hand.csv"
    lines = [*SHORT[:6], SHORT[7]]
    path.write_text("".join(f"{line},1\n" for line in lines))
    games = load_games(path)
    assert games.game.params["auto_pass"]
    assert games.lengths[0] == 6
    assert save_games(tmp_path / "again.csv", games).read_text() == path.read_text()


def brute_force(games):
    """Return the table by playing every game in plain Python, move by move."""
    lines, move = [], 0
    for k, length in enumerate(games.lengths):
        s = games.game.new()
        boards = [games.game.layout.cells(s)]
        for action in games.actions[move : move + length]:
            assert action in games.game.legal(s)
            with np.errstate(over="ignore"):
                games.game.step(s, int(action))
            boards.append(games.game.layout.cells(s))
        move += length
        assert s.over
        black, white = ((boards[-1] == disc).sum() for disc in (1, 2))
        result = np.sign(int(black) - int(white))
        assert games.results[k] == result
        label = -result if games.sides[k] == 1 else result
        for board in boards:
            codes = np.array([0, 2, 1])[board]  # ours are black 1, white 2
            lines.append(",".join(map(str, [*codes.ravel(), label])))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("size", "auto_pass"), [(4, False), (4, True), (8, False)])
def test_the_table_is_what_brute_force_says_and_comes_back_byte_by_byte(
    tmp_path, size, auto_pass, monkeypatch
):
    monkeypatch.setattr(table, "BLOCK", 5000)  # blocks end within games and lines
    game = f"othello:board_size={size},auto_pass={auto_pass}"
    games = play_games(replace(RANDOM, game=game, games=30, opponent="greedy"))
    assert set(games.sides) == {0, 1}
    text = brute_force(games)
    first = save_games(tmp_path / "first.csv", games)
    assert first.read_text() == text
    compact = convert(TableConversion(first, tmp_path / "compact.npz"))
    assert convert(TableConversion(compact, tmp_path / "second.csv")).read_text() == text
    again = load_games(compact)
    assert again.game is games.game
    np.testing.assert_array_equal(again.actions, games.actions)
    np.testing.assert_array_equal(again.lengths, games.lengths)
    np.testing.assert_array_equal(again.results, games.results)
    drawn = games.results == 0
    assert (again.sides[~drawn] == games.sides[~drawn]).all()
    assert (again.sides[drawn] == UNKNOWN).all()
    assert compact.stat().st_size < len(text) / 5


def test_windows_line_ends_and_a_missing_last_one_are_read(tmp_path):
    games = play_games(replace(RANDOM, games=3))
    path = save_games(tmp_path / "a.csv", games)
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\n", b"\r\n")[:-2])
    np.testing.assert_array_equal(load_games(path).actions, games.actions)


def whole_game():
    return brute_force(play_games(replace(RANDOM, games=1, seed=3))).splitlines()


def changed(k, text):
    lines = whole_game()
    lines[k] = text(lines[k]) if callable(text) else text
    return lines


BROKEN = {
    "empty": (lambda: [], "is empty"),
    "columns": (lambda: ["0,1,2"], r"line 1: expected 65 columns .*got 3"),
    "letters": (lambda: changed(2, "a" + "0," * 16), r"line 3: expected 16 cells.*got 'a0"),
    "cell 3": (lambda: changed(1, lambda line: "3" + line[1:]), r"line 2: expected 16 cells"),
    "label 2": (lambda: changed(1, lambda line: line[:32] + "2"), r"line 2: expected 16 cells"),
    "cut line": (lambda: changed(4, lambda line: line[:11]), r"line 5: expected 16 cells"),
    "cut": (lambda: whole_game()[:-2], r"line \d+: the file ends, but the game goes on"),
    "middle": (lambda: whole_game()[2:], r"line 1: the file does not begin with a starting"),
    "gap": (lambda: whole_game()[:3] + whole_game()[4:], r"line 4: no legal move leads here"),
    "begins": (lambda: whole_game()[:4] * 2, r"line 5: a game begins before the last one is over"),
    "goes on": (lambda: whole_game() + whole_game()[-1:], r"line \d+: the game is over, but goes"),
    "label changes": (
        lambda: changed(5, lambda line: line[:32] + ("0" if line[32] == "1" else "1")),
        r"line 6: the label is not that of the lines before",
    ),
    "label wrong": (
        lambda: [line[:32] + "0" for line in whole_game()],
        r"line \d+: the game does not end as the label says",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_tables_are_refused_with_the_line(tmp_path, case):
    lines, message = BROKEN[case]
    path = tmp_path / "broken.csv"
    path.write_text("".join(f"{line}\n" for line in lines()))
    with pytest.raises(ValueError, match=message):
        load_games(path)


def test_the_compact_form_is_checked(tmp_path):
    games = play_games(replace(RANDOM, games=5))
    path = save_games(tmp_path / "a.npz", games)
    content = path.read_bytes()
    for size in (10, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match=r"a\.npz holds no games, or is damaged"):
            load_games(path)
    moves = games.actions.copy()
    moves[games.starts[2] + 3] = moves[games.starts[2]]
    with pytest.raises(ValueError, match=r"game 2 of othello.* cannot have gone so: move 3 is"):
        replace(games, actions=moves).positions()
    with pytest.raises(ValueError, match=r"game 0 .* do not end with the result"):
        replace(games, results=-games.results + 2).positions()
    with pytest.raises(ValueError, match=r"files of games end with .npz or .csv"):
        save_games(tmp_path / "a.txt", games)
    with pytest.raises(ValueError, match="tables are of Othello"):
        save_games(
            tmp_path / "a.csv",
            play_games(SequentialGenerationConfig(game="tictactoe", agent="random", games=2)),
        )
    with pytest.raises(ValueError, match="two players who move in turn"):
        play_games(SequentialGenerationConfig(game="tron", agent="random", games=2))


def test_generation_does_not_depend_on_workers_or_blocks(tmp_path, monkeypatch):
    config = SequentialGenerationConfig(game="othello:board_size=4", games=70, iterations=10)
    monkeypatch.setattr(generating, "TOGETHER", 16)
    one = generate(replace(config, out=tmp_path / "1.npz", num_actors=1)).read_bytes()
    three = generate(replace(config, out=tmp_path / "3.npz", num_actors=3)).read_bytes()
    assert one == three
    monkeypatch.setattr(generating, "TOGETHER", 256)
    assert generate(replace(config, out=tmp_path / "4.npz")).read_bytes() == one
    assert generate(replace(config, out=tmp_path / "5.npz", seed=1)).read_bytes() != one


@pytest.mark.parametrize("side", ["first", "second", "both"])
def test_labels_are_told_from_the_side_of_uct(side):
    games = play_games(
        SequentialGenerationConfig(
            game="tictactoe", games=100, iterations=200, side=side, opponent="random"
        )
    )
    expected = {"first": np.zeros(100), "second": np.ones(100), "both": np.arange(100) % 2}[side]
    np.testing.assert_array_equal(games.sides, expected)
    assert games.labels().mean() > 0.6
    assert (games.labels() >= 0).mean() > 0.95


def test_self_play_is_told_from_the_first_player():
    games = play_games(
        SequentialGenerationConfig(game="tictactoe", games=20, iterations=20, opponent="self")
    )
    assert (games.sides == 0).all()
    np.testing.assert_array_equal(games.labels(), games.results)


def test_the_default_is_the_document_s_uct():
    agent = make_agent(SequentialGenerationConfig().player, make_game("othello"))
    assert (agent.simulations, agent.features.policy) == (50, "uct")
    assert ACTION_SELECTIONS[agent.action_selection] == "mean"
    assert agent._settings["c"][0, 0] == 2**0.5


def test_positions_tell_game_ply_and_mover():
    games = play_games(SequentialGenerationConfig(game="tictactoe", agent="random", games=7))
    positions = games.positions()
    assert len(positions) == len(games.actions) + 7
    ends = np.flatnonzero(positions.plies == games.lengths[positions.games])
    np.testing.assert_array_equal(positions.games[ends], np.arange(7))
    assert [bool(games.game.is_terminal(s)) for s in positions.states.view(np.recarray)[ends]] == [
        True
    ] * 7
    np.testing.assert_array_equal(positions.seats, positions.plies % 2)
    np.testing.assert_array_equal(positions.results, games.results[positions.games])


def test_commands(tmp_path, capsys):
    main(replace(RANDOM, games=10, out=tmp_path / "a.csv"))
    assert "a.csv: 10 games" in capsys.readouterr().out
    main(TableConversion(tmp_path / "a.csv", tmp_path / "b.npz"))
    assert "b.npz: 10 games" in capsys.readouterr().out
    assert isinstance(load_games(tmp_path / "b.npz"), SequentialGames)


def test_a_file_with_a_member_that_is_not_an_array_is_refused(tmp_path):
    """Found by `tests/fuzz`: NumPy returns bytes for it."""
    path = tmp_path / "games.npz"
    generate(replace(RANDOM, games=2, out=path))
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
        load_games(path)
