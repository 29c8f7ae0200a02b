"""TorchRL `EnvBase` over a compiled batch of games, for every game.

Against opponents, TorchRL learns for one player, and the reward is that of this player::

    env = TorchRLEnv("connect4", 64, opponent="random", agent_seat="random", seed=0)
    collector = Collector(env, actor, frames_per_batch=4096, total_frames=100_000)

In self-play (`opponent=None`) it is a multi-agent environment: the tensors of all players are in
the group `"agents"`, and each player has its own rewards and done flags, so that no value is
bootstrapped from another player's observation. For self-play with one learning player, a copy of
the policy becomes the opponent: `env.set_opponent(agent)`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ludoteca.envs.engine.episode_state import DISABLED
from ludoteca.envs.engine.game_batch import GameBatch
from ludoteca.envs.engine.opponents import OpponentSpec
from ludoteca.envs.engine.subset import step_subset
from ludoteca.envs.game import Game
from ludoteca.envs.observation import ObservationFormat
from ludoteca.envs.params import check_choice, check_integer
from ludoteca.envs.validation import RANDOM_SEED_BOUND, as_game, check_seed

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as error:
    raise ImportError(
        'ludoteca.envs.adapters.torchrl needs TorchRL: pip install "ludoteca[torchrl]"'
    ) from error

GROUP = "agents"  # key of the tensors of all players in self-play


class TorchRLEnv(EnvBase):  # type: ignore[misc]
    """B games as a TorchRL environment with batch size `[B]`.

    Keys against opponents: `"observation"`, `"action_mask"` (bool `[B, A]`), `"action"` (int64
    `[B]`), and `("next", "reward")` (float32 `[B, 1]`, the agent's reward).

    In self-play, the same keys in the group `"agents"`, with an axis of P players after that of the
    batch: `("agents", "observation")` and so on. `("agents", "mask")`, bool `[B, P]`, is true for
    the players to move: one in sequential games, all that are not eliminated in simultaneous games.
    The actions of the other players are ignored, and their action masks allow only action 0, so
    that its probability is 1. `("agents", "done")` is true for eliminated players while others
    play.

    Once a game is over, its action mask is all true (in self-play: it allows only action 0),
    because masked distributions need at least one action. TorchRL resets finished games; all others
    continue.

    Random actions sampled from the action spec are legal, because the spec holds the masks of the
    present positions. With transforms that copy the spec, add TorchRL's `ActionMask`.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        *,
        opponent: OpponentSpec | Sequence[OpponentSpec] | None = "random",
        agent_seat: int | str = 0,
        illegal_action: str = "lose",
        num_threads: int = 1,
        observation: str = "planes",
        dtype: DTypeLike = "float32",
        channels_last: bool = False,
        device: str | torch.device = "cpu",
        seed: int | None = None,
        **params: Any,
    ):
        """Make the environment.

        Args:
            game: a game or its name.
            num_envs: B, the number of games.
            opponent: None for self-play; or a spec string or agent for all other seats, or a list
                with one for each.
            agent_seat: the agent's seat against opponents, or `"random"`: sampled for each game.
            illegal_action: see `ludoteca.envs.api.vector.GameVectorEnv`.
            num_threads: number of threads that step the games; more than 1 pays off from about
                1000 games on.
            observation: `"planes"`, or `"flat"`: flattened planes.
            dtype: dtype of the planes.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            device: device of all tensors. The games are stepped on the CPU.
            seed: game i is seeded with `seed + i`; None: random seeds from torch's generator.
            params: parameters of the game.

        Raises:
            TypeError: if a keyword is unknown.
            ValueError: if a parameter is out of range.
        """
        game = as_game(game, params, TorchRLEnv.__init__)
        count = check_integer("num_envs", num_envs, 1, 2**31 - 1)
        kind = check_choice("observation", observation, ("planes", "flat"))
        format_ = ObservationFormat(kind, dtype, channels_last)
        game_batch = GameBatch(
            game,
            count,
            opponent=opponent,
            agent_seat=agent_seat,
            illegal_action=illegal_action,
            autoreset=DISABLED,
            num_threads=num_threads,
            dtype=format_.dtype,
            channels_last=format_.channels_last,
        )
        super().__init__(device=torch.device(device), batch_size=torch.Size([count]))
        self.game, self.game_batch, self.format = game, game_batch, format_
        self._self_play = opponent is None
        self._seeds: list[int | None] = [None] * count
        self._ready = False
        self._actions = np.zeros((count, game_batch.num_acting), np.int64)
        self._make_specs()
        if seed is not None:
            self.set_seed(seed)

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games in progress continue.

        Args:
            opponent: as in the constructor.

        Raises:
            ValueError: in self-play, or if there are not as many opponents as other seats.
            TypeError: if an opponent is neither a spec string nor an agent.
        """
        self.game_batch.set_opponent(opponent)

    def __repr__(self) -> str:
        mode = "self-play" if self._self_play else "against opponents"
        return f"TorchRLEnv({self.game.spec!r}, {self.game_batch.count}, {mode})"

    def close(self, **kwargs: Any) -> None:
        """End the threads."""
        self.game_batch.close()
        super().close(**kwargs)

    def _make_specs(self) -> None:
        """Set the specs of observations, actions, rewards and done flags."""
        actions, players = self.game.num_actions, self.game.num_players
        box = self.format.box(self.game)
        size = (*self.batch_size, players) if self._self_play else (*self.batch_size,)
        dtype = getattr(torch, np.dtype(self.format.dtype).name)
        observation = Composite(
            observation=Bounded(
                0, self.game.observation_high, (*size, *box.shape), dtype=dtype, device=self.device
            ),
            action_mask=Binary(actions, (*size, actions), dtype=torch.bool, device=self.device),
            shape=size,
            device=self.device,
        )
        action = Categorical(actions, shape=size, dtype=torch.int64, device=self.device)
        reward = Unbounded(shape=(*size, 1), dtype=torch.float32, device=self.device)
        done = self._done_spec(size)
        if self._self_play:
            observation["mask"] = Binary(shape=size, dtype=torch.bool, device=self.device)
            self.observation_spec = self._grouped(observation)
            self.action_spec = self._grouped(Composite(action=action, shape=size))
            self.reward_spec = self._grouped(Composite(reward=reward, shape=size))
            done_spec = self._done_spec(self.batch_size)
            done_spec[GROUP] = done
            self.done_spec = done_spec
        else:
            self.observation_spec, self.action_spec = observation, action
            self.reward_spec, self.done_spec = reward, done

    def _done_spec(self, size: tuple[int, ...]) -> Composite:
        """Return the spec of the flags `done` and `terminated`, each of shape `[*size, 1]`."""
        return Composite(
            {
                key: Binary(n=1, shape=(*size, 1), dtype=torch.bool, device=self.device)
                for key in ("done", "terminated")
            },
            shape=size,
            device=self.device,
        )

    def _grouped(self, spec: Composite) -> Composite:
        """Return a spec with `spec` in the group of agents."""
        return Composite({GROUP: spec}, shape=self.batch_size, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        """Seed game i with `seed + i` at its next reset."""
        if seed is not None:
            first = check_seed(seed)
            self._seeds = [first + i for i in range(self.game_batch.count)]

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDict:
        """Reset all games, or those with a true flag `"_reset"`."""
        reset_mask = np.ones(self.game_batch.count, np.bool_)
        if tensordict is not None:
            reset_flags = tensordict.get("_reset", None)
            if reset_flags is not None and self._ready:
                reset_mask = _env_mask(reset_flags)
        if not self._ready and self._seeds[0] is None:
            # From torch's generator, so that `torch.manual_seed` determines the games.
            self._set_seed(int(torch.randint(RANDOM_SEED_BOUND, ()).item()))
        pairs = list(zip(self._seeds, reset_mask, strict=True))
        self.game_batch.reset([seed if reset else None for seed, reset in pairs], reset_mask)
        self._seeds = [None if reset else seed for seed, reset in pairs]
        self._ready = True
        return self._observed(self.game_batch.step_result().masks)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        """Step all games, or those with a true flag `"_step"`."""
        step_flags = tensordict.get("_step", None)
        if self._self_play:
            # `rollout(break_when_all_done=True)` adds this key, with which it cannot stack steps.
            tensordict.get(GROUP).pop("_neg_step", None)
        tensor = tensordict.get((GROUP, "action") if self._self_play else "action")
        actions = tensor.cpu().numpy().reshape(self.game_batch.count, -1)
        game_batch = self.game_batch
        if self._self_play and not self.game.simultaneous:
            movers = game_batch.episode_states["mover"].astype(np.int64)
            actions = actions[np.arange(game_batch.count), movers][:, None]
        step_result = game_batch.new_step_result()
        self._actions[:] = actions
        indices = None if step_flags is None else np.flatnonzero(_env_mask(step_flags))
        if indices is None or len(indices) == game_batch.count:
            game_batch.step(self._actions, step_result)
        else:
            step_subset(game_batch, indices, self._actions[indices])
            step_result = game_batch.step_result()
        result = self._observed(step_result.masks)
        over = self._tensor(step_result.terminated[:, None])
        result["done"], result["terminated"] = over, over.clone()
        if not self._self_play:
            result["reward"] = self._tensor(step_result.reward[:, None])
            return result
        group = result[GROUP]
        group["reward"] = self._tensor(step_result.rewards[:, :, None])
        done = over[:, None].expand(-1, self.game.num_players, 1)
        if self.game.simultaneous:
            done = done | ~group["mask"][:, :, None]
        group["done"], group["terminated"] = done.clone(), done.clone()
        return result

    def _observed(self, masks: NDArray[np.int8]) -> TensorDict:
        """Return the observations and masks of the present positions.

        Args:
            masks: the masks of a step result. Shape `[B, W, A]`.
        """
        game_batch = self.game_batch
        if not self._self_play:
            legal = masks[:, 0].view(np.bool_)
            legal[~legal.any(1)] = True
            mask = self._tensor(legal)
            self.action_spec.update_mask(mask)
            planes = self._tensor(self.format.planes(game_batch.observations[:, 0]))
            return self._dict({"observation": planes, "action_mask": mask}, self.batch_size)
        players = self.game.num_players
        if self.game.simultaneous:
            observations, legal = game_batch.observations, masks.view(np.bool_)
        else:
            observations = np.stack([game_batch.observe(p) for p in range(players)], 1)
            legal = np.zeros((game_batch.count, players, self.game.num_actions), np.bool_)
            movers = game_batch.episode_states["mover"].astype(np.int64)
            legal[np.arange(game_batch.count), movers] = masks[:, 0]
        acting: NDArray[np.bool_] = np.logical_or.reduce(legal, 2)
        legal[~acting, 0] = True
        mask = self._tensor(legal)
        self.full_action_spec[GROUP, "action"].update_mask(mask)
        group = {
            "observation": self._tensor(self.format.planes(observations)),
            "action_mask": mask,
            "mask": self._tensor(acting),
        }
        size = torch.Size([game_batch.count, players])
        return self._dict({GROUP: self._dict(group, size)}, self.batch_size)

    def _dict(self, values: dict[str, Any], size: torch.Size) -> TensorDict:
        return TensorDict(values, batch_size=size, device=self.device)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)


def _env_mask(flags: torch.Tensor) -> NDArray[np.bool_]:
    """Return which games have a true flag, bool `[B]`; `flags`, such as `"_reset"`: `[B, ...]`."""
    mask: NDArray[np.bool_] = flags.reshape(len(flags), -1).any(1).cpu().numpy()
    return mask
