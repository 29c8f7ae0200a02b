"""The commands that users have, each with options that end it at once, and the documented imports.

Those of `CORE` need no extra, and those of `MORE` need the extra beside them.
"""

import re

from bounds import ROOT, project

SCRIPT = project()["scripts"]["ludoteca"].partition(":")[0]
# Modules that other programs run, not users.
NOT_TRIED = {
    "agents.external.kaggle.worker", "evaluate.bench.peers.serve", "evaluate.bench.rllib",
    "evaluate.recipes.execute",
}  # fmt: skip
# Adapters of libraries that no extra installs: `make recipes` tries them.
OTHER_ADAPTERS = re.compile(r"ludoteca\.(envs\.adapters\.(?!sb3)|train\.rllib)")
EXPERIMENTS = ("bandits", "geese", "ggp", "hex", "othello", "solved")
# Commands that need nothing but the core, to the end.
CORE = [
    [SCRIPT, "list"],
    [SCRIPT, "list", "tictactoe"],
    [SCRIPT, "match", "tictactoe", "--agents", "random", "random", "--games", "2"],
    [SCRIPT, "tournament", "--help"],
    [SCRIPT, "play", "tictactoe", "--help"],
    [SCRIPT, "render", "tictactoe", "--out", "x.svg"],
    ["ludoteca.evaluate.exploit", "--help"],
    ["ludoteca.evaluate.studies", "--help"],
]
# Commands that need more, and the extra that they name.
MORE = {
    (SCRIPT, "render", "tictactoe", "--out", "x.png"): "render",
    (SCRIPT, "match", "tictactoe", "--agents", "random", "dqn:x", "--games", "2"): "train",
    (SCRIPT, "match", "tictactoe", "--agents", "random", "sb3:x.zip", "--games", "2"): "train",
}


def modules() -> list[str]:
    """Return every module that users run with `python -m`."""
    found = []
    for folder in ("envs", "agents", "train", "evaluate"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if '__name__ == "__main__"' in path.read_text(encoding="utf-8"):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                found.append(name.removesuffix(".__main__"))
    return [f"ludoteca.{name}" for name in found if name not in NOT_TRIED]


def documented_imports() -> list[str]:
    """Return the imports from this package in the documents' examples."""
    found: set[str] = set()
    line = re.compile(r"^(?:from|import) ludoteca[\w.]*(?: import \w[\w, ]*)?(?=  #|$)", re.M)
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        found |= set(line.findall(path.read_text(encoding="utf-8")))
    return sorted(one for one in found if not OTHER_ADAPTERS.search(one))


def tried() -> list[list[str]]:
    """Return commands that end at once when they have all that they import."""
    commands = [[module, "--help"] for module in modules()]
    commands += [["ludoteca.evaluate.studies", name, "--help"] for name in EXPERIMENTS]
    return commands + [["import", line] for line in documented_imports()]
