"""Games and agents of an installed package, found by its entry points."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.interpreted


# Files of two installed packages: `dots`, whose entry points work, and `wreck`, which is broken.
PACKAGE = {
    "third_party.py": "from dots_and_boxes import dots_and_boxes\n"
    "from test_extensions_agent import HighestAgent\n",
    "test_extensions_agent.py": "import numpy as np\n"
    "from ludoteca.agents import Agent\n"
    "class HighestAgent(Agent):\n"
    "    '''Plays high.'''\n"
    "    def act(self, states, seats, rngs, env_indices):\n"
    "        return np.array([self.game.legal(s)[-1] for s in states.view(np.recarray)])\n",
    "broken_party.py": "raise RuntimeError('this package is broken')\n",
    "dots-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: dots\nVersion: 1.2\n",
    "dots-1.2.dist-info/entry_points.txt": "[ludoteca.games]\n"
    "dots_and_boxes = third_party:dots_and_boxes\n"
    "hex = third_party:dots_and_boxes\n"
    "misnamed = third_party:dots_and_boxes\n"
    "[ludoteca.agents]\nhighest = third_party:HighestAgent\n",
    "wreck-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: wreck\nVersion: 0.1\n",
    "wreck-0.1.dist-info/entry_points.txt": "[ludoteca.games]\nsunk = broken_party:sunk\n"
    "[ludoteca.agents]\nsinking = broken_party:Sinking\n",
}
PROGRAM = """
import sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import ludoteca
print("warned", [str(warning.message) for warning in caught if "dots" in str(warning.message)])
print("loaded", {"third_party", "broken_party"} & {*sys.modules})
import gymnasium
print("made", gymnasium.make("ludoteca/DotsAndBoxes-v0", size=1).unwrapped.game.spec)
from ludoteca.envs import dots_and_boxes_v0
print("agent", type(ludoteca.make_agent("highest", ludoteca.make_game("tictactoe"))).__name__)
for name in ("sunk", "misnamed"):
    try:
        ludoteca.make_game(name)
    except ImportError as error:
        print("broken", error)
from ludoteca.__main__ import main
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    main(["list"])
print("left out", [str(warning.message) for warning in caught])
main(["list", "dots_and_boxes"])
"""


def test_installed_packages_offer_games_and_agents(tmp_path):
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    places = [str(tmp_path), *sys.path]
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys\nsys.path[:0] = {places}\n{PROGRAM}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    printed = {line.partition(" ")[0]: line for line in lines[:7]}
    warned = "the package dots 1.2 offers 'hex' in ludoteca.games, a name that is taken by"
    assert warned in printed["warned"]
    assert printed["loaded"] == "loaded set()"
    assert printed["made"] == "made dots_and_boxes:size=1"
    assert printed["agent"] == "agent HighestAgent"
    broken = [line for line in lines if line.startswith("broken")]
    assert "package wreck 0.1 is broken" in broken[0]
    assert "RuntimeError: this package is broken" in broken[0]
    assert "makes a game with the name 'dots_and_boxes', expected 'misnamed'" in broken[1]
    left_out = next(line for line in lines if line.startswith("left out"))
    assert "the game sunk is left out: package wreck 0.1 is broken" in left_out
    listed = done.stdout.partition("left out")
    assert "DotsAndBoxes-v0" in listed[0]
    assert "size=2 (package dots 1.2)" in listed[0]
    assert "Agent of another package: highest (package dots 1.2)." in listed[0]
    assert "package dots 1.2" in listed[2]
    assert "Plays high." in listed[2]
    assert "package wreck 0.1 is broken" in " ".join(listed[2].split())
