"""Fixtures of training tests."""

import csv
import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch
from episodes import GOLDEN, STANDARD, golden

from ludoteca.train.data.generate import GenerationConfig, generate
from ludoteca.train.data.storage import save_dataset


@pytest.fixture(autouse=True)
def torch_threads():
    """Restore PyTorch's number of threads, which trainings set."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def sidecar(episode, scores):
    """Return Kaggle's metadata of an episode as JSON; they omit the index of agent 0."""
    agents = [
        {"index": p, "submissionId": 7, "initialScore": 600.0, "updatedScore": score}
        for p, score in enumerate(scores)
    ]
    del agents[0]["index"]
    return json.dumps({"id": episode, "competitionId": 25401, "agents": agents})


# Ratings of the agents by id of the episode; one agent has none.
RATED = {700041: [950, 1050, 1100, 1201.5], 700326: [1101, None, 1099.9, 1000]}


@pytest.fixture(params=["folder", "archive", "table"])
def rated(request, tmp_path):
    """Return sources of three episodes, two of which are rated, as `ConversionConfig` has them."""
    names = STANDARD[:3]
    if request.param == "table":
        text = io.StringIO()
        table = csv.writer(text)
        table.writerow(["Id", "EpisodeId", "Index", "Reward", "InitialScore", "UpdatedScore"])
        table.writerow([1, 5, 0, 0, 0, 1050])  # another episode
        for episode, scores in RATED.items():
            for p, score in enumerate(scores):
                table.writerow([1, episode, p, "", 600, "" if score is None else score])
        (tmp_path / "EpisodeAgents.csv").write_text(text.getvalue())
        return {"sources": (GOLDEN,), "ratings_csv": tmp_path / "EpisodeAgents.csv"}
    files = {f"{name}.json": golden(name).decode() for name in names}
    files |= {f"{episode}_info.json": sidecar(episode, RATED[episode]) for episode in RATED}
    if request.param == "archive":
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(f"episodes/{name}", content)
        return {"sources": (tmp_path / "all.zip",)}
    (tmp_path / "all").mkdir()
    for name, content in files.items():
        (tmp_path / "all" / name).write_text(content)
    return {"sources": (tmp_path / "all",)}


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    """Return a file of 60 games of tic-tac-toe between random agents."""
    path = tmp_path_factory.mktemp("data") / "games.npz"
    generate(GenerationConfig(game="tictactoe", agents=("random",), games=60, out=path))
    return path


@pytest.fixture(scope="session")
def mixed(tmp_path_factory):
    """Return a file of 30 games of `greedy`, rated 1000, and `random_safe`, rated 0, 1, ..., 29."""
    from imitation_runs import games_of  # reads presets

    games = games_of("greedy", "random_safe")
    greedy = games.agents == games.agent_names.index("greedy")
    ratings = np.where(greedy, 1000, np.arange(30)[:, None])
    rated = replace(games, ratings=ratings.astype(np.float32))
    return save_dataset(tmp_path_factory.mktemp("mixed") / "games.npz", rated)
