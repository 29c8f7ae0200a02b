"""The Hungry Geese study, with episodes that do not exist."""

from pathlib import Path

from ludoteca.evaluate.studies.data import read_data
from ludoteca.evaluate.studies.geese.study import make_study

EPISODES = (Path("some episodes.zip"), Path("more"))
STUDY = make_study(EPISODES)
PARTS, TASKS = STUDY.parts, STUDY.tasks
MATCHES = {name: task for name, task in TASKS.items() if task.kind == "match"}
NETWORKS = {name: task for name, task in TASKS.items() if task.kind == "network"}
THESIS = read_data("geese/uib2021.toml")
NAMES = STUDY.template_names
SECONDS = NAMES["seconds"]
