"""Fuzz targets: data sets, episodes, ratings and records of tournaments."""

import json
import random
import zipfile
from pathlib import Path

from fuzz_inputs import GOLDEN, Attempt, keep
from mutations import mutate_bytes, mutate_json_text
from short_othello import ROWS

from ludoteca.envs.registry import make_game


def tables(folder: Path) -> Attempt:
    """Load mutated data sets in CSV."""
    from ludoteca.train.data.storage import load_dataset

    seed = "".join(f"{line},1\n" for line in ROWS).encode()
    file = folder / "table.csv"

    def attempt(rng: random.Random) -> None:
        file.write_bytes(keep(mutate_bytes(rng, seed * rng.choice((1, 1, 2)))))
        load_dataset(file)

    return attempt


def archives_of_games(folder: Path) -> Attempt:
    """Load mutated data sets of generated games."""
    from ludoteca.train.data.generate import GenerationConfig, generate
    from ludoteca.train.data.storage import load_dataset

    file = folder / "games.npz"
    generate(GenerationConfig(game="othello:board_size=4", agents=("random",), games=3, out=file))
    seed = file.read_bytes()

    def attempt(rng: random.Random) -> None:
        file.write_bytes(keep(mutate_bytes(rng, seed)))
        load_dataset(file)

    return attempt


def episodes(folder: Path) -> Attempt:
    """Read mutated episodes of Kaggle."""
    from ludoteca.train.data.kaggle import read_record
    from ludoteca.train.data.kaggle_verify import verify_episode

    with zipfile.ZipFile(GOLDEN / "geese_episodes.zip") as archive:
        episode = json.loads(archive.read("small.json"))
    spec = (
        "hungry_geese:num_players=2,rows=5,columns=6,hunger_rate=7,min_food=1,max_length=3,"
        "episode_steps=30"
    )
    game = make_game(spec)
    verify_episode(
        game, read_record(json.dumps(episode).encode(), game), "name"
    )  # compiling takes long

    def attempt(rng: random.Random) -> None:
        data = mutate_json_text(rng, episode).encode(errors="replace")
        verify_episode(game, read_record(keep(data), game), "name")

    return attempt


def ratings(folder: Path) -> Attempt:
    """Read mutated ratings of Kaggle's agents."""
    from ludoteca.train.data.ratings import read_rating_table, read_sidecar

    seed = {"id": 5, "agents": [{"index": 0, "updatedScore": 3.5}, {"index": 1}]}
    table = b"Id,EpisodeId,Index,UpdatedScore\n1,5,0,100.5\n2,5,1,\n3,7,0,99\n"
    file = folder / "agents.csv"

    def attempt(rng: random.Random) -> None:
        if rng.random() < 0.7:
            data = mutate_json_text(rng, seed).encode(errors="replace")
            read_sidecar(keep(data), "5_info", "updated")
        else:
            file.write_bytes(keep(mutate_bytes(rng, table)))
            read_rating_table(file, {5, 7}, "updated")

    return attempt


def tournament_records(folder: Path) -> Attempt:
    """Resume tournaments from mutated records."""
    from ludoteca.evaluate.tournament.game_log import GAMES_FILE as LINES
    from ludoteca.evaluate.tournament.game_log import TOURNAMENT_FILE, GameLog
    from ludoteca.evaluate.tournament.plan import Match, Tournament
    from ludoteca.evaluate.tournament.played_games import PlayedGames

    plan = Tournament(("tictactoe",), ("random", "greedy"), games_per_pair=4, repeats=1)
    with GameLog(plan, folder) as record:
        record.add(PlayedGames(Match(0, (0, 1), 0), 0, "WL", 12, 0.5))
    head, lines = (folder / TOURNAMENT_FILE).read_bytes(), (folder / LINES).read_bytes()

    def attempt(rng: random.Random) -> None:
        if rng.random() < 0.8:
            line = mutate_json_text(rng, json.loads(lines)).encode(errors="replace") + b"\n"
            line = line if rng.random() < 0.8 else mutate_bytes(rng, line)
            (folder / LINES).write_bytes(keep(line))
            (folder / TOURNAMENT_FILE).write_bytes(head)
        else:
            (folder / LINES).write_bytes(lines)
            text = mutate_json_text(rng, json.loads(head)).encode(errors="replace")
            (folder / TOURNAMENT_FILE).write_bytes(keep(text))
        with GameLog(plan, folder):
            pass

    return attempt


def tournaments_in_progress(folder: Path) -> Attempt:
    """Show mutated records of tournaments that are still being played."""
    from ludoteca.evaluate.arena.tournament_view import tournament_view
    from ludoteca.evaluate.forfeits import Forfeit
    from ludoteca.evaluate.tournament.game_log import FORMAT_VERSION, TOURNAMENT_FILE
    from ludoteca.evaluate.tournament.game_log import GAMES_FILE as LINES
    from ludoteca.evaluate.tournament.plan import Match, Tournament
    from ludoteca.evaluate.tournament.played_games import PlayedGames, to_line
    from ludoteca.evaluate.tournament.progress import TournamentProgress

    agents = ("random", "greedy", "flat")
    plan = Tournament(("tictactoe", "hex"), agents, games_per_pair=4, repeats=1)
    head = plan.identity() | {"format": FORMAT_VERSION}
    seeds = [
        to_line(
            PlayedGames(Match(0, (0, 1), 0), 0, "WL", 12, 0.5, (Forfeit(1, 1, 0, 2, "x", ""),))
        ),
        to_line(PlayedGames(Match(1, (0, 2), 0), 0, "DDLW", 60, 0.1)),
    ]

    def attempt(rng: random.Random) -> None:
        lines, text = list(seeds), json.dumps(head).encode()
        if rng.random() < 0.3:
            text = mutate_json_text(rng, head).encode(errors="replace")
        else:
            lines[rng.randrange(2)] = mutate_json_text(rng, rng.choice(seeds))
        content = "\n".join(
            line if isinstance(line, str) else json.dumps(line) for line in lines
        ).encode(errors="replace")
        content = content + b"\n" if rng.random() < 0.8 else mutate_bytes(rng, content)
        (folder / TOURNAMENT_FILE).write_bytes(text)
        (folder / LINES).write_bytes(content)
        keep((text, content))
        progress = TournamentProgress(folder)
        progress.update()
        json.dumps(tournament_view(progress, folder), allow_nan=False)

    return attempt
