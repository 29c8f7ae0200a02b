"""Files of RLlib policies: layers as JSON and weights, in safetensors format.

RLlib's own checkpoints consist of pickles, which can run any code when they are read: the class and
the arguments of an RLModule (`class_and_ctor_args.pkl`) and its weights (`module_state.pkl`).
`export_module` writes the policy to a file without pickles, which the agent `rllib:PATH` reads,
also without Ray.
"""

from pathlib import Path
from typing import Any

from ludoteca.agents.external.rllib_layers import Policy, build_policy, check_scores, describe_layer
from ludoteca.agents.external.rllib_module import extract_policy
from ludoteca.agents.networks.weights import load_network, save_weights
from ludoteca.envs.game import Game

KIND = "RLlib policy"
STATE = "module_state.pkl"  # the weights of one module, in its checkpoint
# Files of a checkpoint directory of Ray.
CHECKPOINT_FILES = ("class_and_ctor_args.pkl", "algorithm_state.pkl", "rllib_checkpoint.json")


def export_module(module: Any, game: Game, path: str | Path) -> Path:
    """Write the policy of an RLModule to a file that the agent `rllib:PATH` reads.

    Supported are RLlib's default networks (`DefaultModelConfig`) without recurrence, of PPO, APPO,
    IMPALA and DQN, with or without an action mask in the observation. Other modules can be played
    with `RLlibAgent.from_module`.

    Args:
        module: the module, as `algorithm.get_module()` returns it.
        game: the game that it was trained for.
        path: the file; `.safetensors` is appended if it has no suffix.

    Returns:
        The path of the file.

    Raises:
        TypeError: if the module has layers that are not supported.
        ValueError: if it does not fit the game.
    """
    policy = extract_policy(module, game)
    path = Path(path)
    file = path if path.suffix else path.with_suffix(".safetensors")
    layers = [describe_layer(layer) for layer in policy.layers]
    network = {"layers": layers, "planes": policy.planes, "logits": policy.logits}
    save_weights(file, policy.state_dict(), {"kind": KIND, "game": game.spec, "network": network})
    return file


def load_policy(game: Game, file: Path) -> Policy:
    """Return the policy in a file that `export_module` wrote.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file contains no such policy, or one that does not fit the game.
    """
    policy, _ = load_network(game, file, build_policy, KIND)
    check_scores(policy, game, str(file))
    return policy.eval()


def check_not_checkpoint(path: Path) -> None:
    """Check that a path is not a checkpoint of Ray.

    Raises:
        ValueError: if it is one; the message says what to do instead.
    """
    if path.is_dir() and any((path / name).exists() for name in CHECKPOINT_FILES):
        raise ValueError(
            f"{path} is a checkpoint of Ray, which consists of pickles, and those can run any code "
            "when they are read. If you trust its author, export it in Python: "
            "from ludoteca.agents.external.rllib import export_module, load_checkpoint; "
            f"export_module(load_checkpoint({str(path)!r}), game, 'policy.safetensors')"
        )


def load_checkpoint(path: str | Path, module_id: str = "default_policy") -> Any:
    """Return an RLModule from a checkpoint of Ray, by unpickling it.

    Warning: a checkpoint can run any code when it is read. Read only those whose authors you trust.

    Args:
        path: a checkpoint of an `Algorithm`, of its learner group, of a learner, or of a module.
        module_id: name of the policy in the checkpoint: `default_policy` with one agent, else as in
            the algorithm's configuration. Without effect if the checkpoint is of a single module.

    Raises:
        FileNotFoundError: if there is no such checkpoint, or no such policy in it.
        ImportError: if RLlib is not installed.
    """
    try:
        from ray.rllib.core.rl_module.rl_module import RLModule
    except ImportError as error:
        raise ImportError(
            'reading checkpoints of Ray needs RLlib: pip install "ludoteca[rllib]"'
        ) from error
    root = Path(path).absolute()
    # Folder with one subfolder per module, in the checkpoints of an algorithm, of a learner group,
    # of a learner, and of a `MultiRLModule`. The checkpoint of a single module is `root` itself.
    subfolders = ("learner_group/learner/rl_module", "learner/rl_module", "rl_module", ".")
    modules = next((root / name for name in subfolders if (root / name).is_dir()), root)
    candidates = (modules / module_id, root)
    folder = next((folder for folder in candidates if (folder / STATE).is_file()), None)
    if folder is None:
        module_ids = ", ".join(sorted(file.parent.name for file in modules.glob(f"*/{STATE}")))
        present = f"only {module_ids}" if module_ids else "there are none"
        raise FileNotFoundError(f"{path} contains no policy {module_id!r}, {present}")
    return RLModule.from_checkpoint(str(folder))
