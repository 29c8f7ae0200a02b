"""Fuzz targets: answers and files of other programs: Kaggle, General Game Playing."""

import json
import random
import zipfile
from pathlib import Path

from fuzz_inputs import Attempt, keep
from mutations import mutate_bytes, mutate_json_text, mutate_sheet, mutate_text


def kaggle_answers(folder: Path) -> Attempt:
    """Read mutated answers of the processes of Kaggle submissions."""
    from ludoteca.agents.external.failure import FailureError
    from ludoteca.agents.external.kaggle.process import read_answer

    seeds = [
        {"number": 7, "action": "NORTH"}, {"number": 7, "invalid": "'UP'"},
        {"number": 7, "error": "ZeroDivisionError"}, {"number": 7, "found": "<function a>"},
    ]  # fmt: skip

    def attempt(rng: random.Random) -> None:
        data = mutate_json_text(rng, rng.choice(seeds)).encode(errors="surrogatepass")
        data = data if rng.random() < 0.8 else mutate_bytes(rng, data)
        try:
            answer = read_answer(keep(data), 7)
        except FailureError as failure:
            failure.message.encode()
            raise ValueError(failure.message) from None
        for text in answer.values():
            text.encode()

    return attempt


def submission_archives(folder: Path) -> Attempt:
    """Unpack mutated archives of Kaggle submissions."""
    import tarfile

    from ludoteca.agents.external.kaggle.agent import find_submission

    seeds = []
    (folder / "main.py").write_text("def agent(o): return 'EAST'")
    with zipfile.ZipFile(folder / "bot.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.write(folder / "main.py", "main.py")
    with tarfile.open(folder / "bot.tar", "w") as tar:
        tar.add(folder / "main.py", "main.py")
    with tarfile.open(folder / "bot.tar.gz", "w:gz") as tar:
        tar.add(folder / "main.py", "main.py")
    for name in ("bot.zip", "bot.tar", "bot.tar.gz"):
        seeds.append((folder / name, (folder / name).read_bytes()))

    class Owner:
        """Object whose attributes keep the unpacked files alive."""

    def attempt(rng: random.Random) -> None:
        path, seed = rng.choice(seeds)
        path.write_bytes(keep(mutate_bytes(rng, seed)))
        find_submission(path, Owner())

    return attempt


def rule_sheets(folder: Path) -> Attempt:
    """Play games by mutated rule sheets in GDL, the Game Description Language."""
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.evaluate.gdl.machine import make_machine, play_random_games

    names = ("breakthrough", "prisoners_dilemma", "three_in_line", "tictactoe", "tron")
    seeds = [find_sheet(name).read_text() for name in names]
    file = folder / "sheet.kif"

    def attempt(rng: random.Random) -> None:
        sheet = mutate_sheet(rng, rng.choice(seeds))
        file.write_text(keep(sheet), errors="replace")
        machine = make_machine(file, max_seconds=5.0, max_instances=20_000)
        for position in play_random_games(machine, games=2, seed=rng.randrange(100), max_plies=10):
            position.line()

    return attempt


def ggp_messages(folder: Path) -> Attempt:
    """Parse mutated messages of the General Game Playing protocol."""
    from ludoteca.evaluate.protocols.ggp_messages import parse_message

    seeds = (
        "( START kiosk.1 x ( (role x) (role o) (<= (legal x (mark ?c 1)) (true ?c)) ) 30 10 )",
        "( PLAY kiosk.1 ( (mark a 1) noop ) )", "( PLAY kiosk.1 NIL )", "( ABORT kiosk.1 )",
        "( STOP kiosk.1 ( (mark a 1) noop ) )", "( PREVIEW ( (role x) ) 10 )", "( INFO )",
    )  # fmt: skip

    def attempt(rng: random.Random) -> None:
        parse_message(keep(mutate_text(rng, rng.choice(seeds))))

    return attempt


def gdl_traces(folder: Path) -> Attempt:
    """Compare a rule sheet with mutated traces of its games."""
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.evaluate.gdl.differences import compare_trace
    from ludoteca.evaluate.gdl.machine import make_machine, play_random_games
    from ludoteca.evaluate.gdl.traces import read_trace

    machine = make_machine(find_sheet("tictactoe"))
    positions = [json.loads(position.line()) for position in play_random_games(machine, 1, 0, 20)]

    def attempt(rng: random.Random) -> None:
        lines = [json.dumps(position) for position in positions]
        k = rng.randrange(len(lines))
        lines[k] = mutate_json_text(rng, positions[k])
        compare_trace(machine, read_trace(keep(lines)))

    return attempt
