"""Commands for users, with options that make them short, and documented imports.

`CORE_COMMANDS` need no extra; each of `EXTRA_COMMANDS` needs the extra that is its value.
"""

import re

from bounds import ROOT, project

SCRIPT = project()["scripts"]["ludoteca"].partition(":")[0]
# Programs that only the package itself starts.
INTERNAL_MODULES = {
    "agents.external.kaggle.worker", "evaluate.bench.peers.serve", "evaluate.bench.rllib",
    "evaluate.recipes.execute",
}  # fmt: skip
# Adapters of libraries that no extra installs: `make recipes` runs them.
OTHER_ADAPTERS = re.compile(r"ludoteca\.(envs\.adapters\.(?!sb3)|train\.rllib)")
STUDIES = (
    "amaf", "bandit_policies", "bandits", "equivalence", "exploration", "geese", "ggp", "hex",
    "othello", "p_game", "playout_policy", "related_work", "solved", "statistics",
    "ucb_tuned",
)  # fmt: skip
# Commands that succeed without extras.
CORE_COMMANDS = [
    [SCRIPT, "list"],
    [SCRIPT, "list", "tictactoe"],
    [SCRIPT, "match", "tictactoe", "--agents", "random", "random", "--games", "2"],
    [SCRIPT, "tournament", "--help"],
    [SCRIPT, "play", "tictactoe", "--help"],
    [SCRIPT, "render", "tictactoe", "--out", "x.svg"],
    ["ludoteca.evaluate.exploit", "--help"],
    ["ludoteca.evaluate.studies", "--help"],
]
# Commands that need an extra, which their error message names.
EXTRA_COMMANDS = {
    (SCRIPT, "render", "tictactoe", "--out", "x.png"): "render",
    (SCRIPT, "arena", "--no-browser"): "arena",
    (SCRIPT, "match", "tictactoe", "--agents", "random", "dqn:x", "--games", "2"): "train",
    (SCRIPT, "match", "tictactoe", "--agents", "random", "sb3:x.zip", "--games", "2"): "train",
}


def modules() -> list[str]:
    """Return every module that users run with `python -m`."""
    names = []
    for folder in ("envs", "agents", "train", "evaluate"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if '__name__ == "__main__"' in path.read_text(encoding="utf-8"):
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                names.append(name.removesuffix(".__main__"))
    return [f"ludoteca.{name}" for name in names if name not in INTERNAL_MODULES]


def documented_imports() -> list[str]:
    """Return the imports from this package in the documents' examples."""
    imports: set[str] = set()
    pattern = re.compile(r"^(?:from|import) ludoteca[\w.]*(?: import \w[\w, ]*)?(?=  #|$)", re.M)
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        imports |= set(pattern.findall(path.read_text(encoding="utf-8")))
    return sorted(line for line in imports if not OTHER_ADAPTERS.search(line))


def help_and_imports() -> list[list[str]]:
    """Return `--help` of each module and the documented imports, as commands of `run_commands`."""
    commands = [[module, "--help"] for module in modules()]
    commands += [["ludoteca.evaluate.studies", name, "--help"] for name in STUDIES]
    return commands + [["import", line] for line in documented_imports()]
