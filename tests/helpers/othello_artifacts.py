"""Artifacts of the tasks of the study of Othello with invented results."""


def match_record(wins: int, draws: int, losses: int) -> dict:
    """Return the counts of a match."""
    return {"games": wins + draws + losses, "wins": wins, "draws": draws, "losses": losses}


ABOUT = {"command": "x", "date": "2026-01-02T03:04:05", "cpu": "fast", "cores": 2}


def example_artifact(task) -> dict:
    """Return an artifact of a task without running it."""
    if task.kind == "network":
        games = task.options["games"]
        rows = [
            {"step": k, "training_loss": 1 / k, "validation_loss": 0.5 + abs(k - 2) / 8}
            for k in (1, 2, 3)
        ]
        return {
            "about": ABOUT,
            "game": "othello",
            "data": {"games": games, "training_positions": 55 * games},
            "training": {
                "epochs": 3,
                "best": {"epoch": 2, "loss": 0.5, "accuracy": 0.75},
                "seconds": 90.0,
                "precision": "float32",
            },
            "validation": [],
            "metrics": rows,
        }
    if task.kind == "match":
        seats = [match_record(120, 10, 70), match_record(100, 10, 90)]
        ours = {"moves": 1, "seconds_per_move": 0.02, "simulations_per_second": 12_345.0}
        other = {"seconds_per_move": 0.0215, "simulations_per_second": 400_000.0}
        return {
            "about": ABOUT,
            "seconds": 60.0,
            "agents": [{"total": match_record(220, 20, 160), "seats": seats, **ours}, other],
        }
    phases = [{"moves": "0 to 9", "loss": 0.875, "accuracy": 0.5}]
    tests = [
        {"opponent": "random", "player_won": 0.97, "loss": 0.625, "accuracy": 0.7},
        {"opponent": "self", "player_won": 0.49, "loss": 0.75, "accuracy": 0.6},
    ]
    tests = [test | {"phases": phases} for test in tests]
    return {"about": ABOUT, "games": 2_000, "tests": tests}
