"""TorchRL `EnvBase` over the native vectorized games, for every game.

Against opponents, TorchRL learns for one player, and the reward is that of this player::

    env = TorchRLEnv("connect4", 64, opponent="random", agent_seat="random", seed=0)
    collector = Collector(env, actor, frames_per_batch=4096, total_frames=100_000)

In self-play (`opponent=None`) it is a multi-agent environment: the tensors of all players are in
the group `"agents"`, and each player has its own rewards, values and done flags, so no value
bootstraps from another player's observation. For self-play with one learning player, a copy of the
policy becomes the opponent: `env.set_opponent(agent)`.
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
from ludoteca.envs.params import choice, integer
from ludoteca.envs.validation import as_game, check_seed

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as error:
    raise ImportError(
        'ludoteca.envs.adapters.torchrl needs TorchRL: pip install "ludoteca[torchrl]"'
    ) from error

GROUP = "agents"


class TorchRLEnv(EnvBase):  # type: ignore[misc]
    """B games at once, of batch size `[B]`.

    Against opponents: `"observation"` and `"action_mask"` (bool `[B, A]`), `"action"` (int64
    `[B]`), and `("next", "reward")` (`[B, 1]`, the agent's).

    In self-play, the same keys in the group `"agents"`, with an axis of P players behind the batch:
    `("agents", "observation")` and so on. `("agents", "mask")`, bool `[B, P]`, is true for the
    players to move: one in sequential games, all that are not eliminated in simultaneous games. The
    actions of the others are not played, and their action masks have one action, so that its
    probability is 1. `("agents", "done")` is true for eliminated players while others play.

    Once a game is over, its action mask is all ones (in self-play: the one action again), as masked
    distributions need it. Finished games are reset by TorchRL, all others continue.

    Random actions are legal ones: the action spec's mask follows the games. Behind transforms that
    copy the spec, `ActionMask` does the same.
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
            opponent: None for self-play; or a spec string or agent for all other seats, or one for
                each of them.
            agent_seat: the agent's seat against opponents, or `"random"`: drawn for each game.
            illegal_action: see `ludoteca.envs.api.vector.GameVectorEnv`.
            num_threads: threads that share the work; worth it from some 1000 games on.
            observation: `"planes"`, or `"flat"`: all numbers in one axis.
            dtype: type of the observations.
            channels_last: `(rows, columns, planes)` instead of `(planes, rows, columns)`.
            device: of all tensors. The games are played on the CPU.
            seed: as by calling `set_seed`.
            params: parameters of the game.

        Raises:
            TypeError: if a keyword is unknown.
            ValueError: if a parameter is out of range.
        """
        made = as_game(game, params, TorchRLEnv.__init__)
        count = integer("num_envs", num_envs, 1, 2**31 - 1)
        kind = choice("observation", observation, ("planes", "flat"))
        form = ObservationFormat(kind, dtype, channels_last)
        game_batch = GameBatch(
            made,
            count,
            opponent=opponent,
            agent_seat=agent_seat,
            illegal_action=illegal_action,
            autoreset=DISABLED,
            num_threads=num_threads,
            dtype=form.dtype,
            channels_last=form.channels_last,
        )
        super().__init__(device=torch.device(device), batch_size=torch.Size([count]))
        self.game, self.game_batch, self.format = made, game_batch, form
        self._self_play = opponent is None
        self._seeds: list[int | None] = [None] * count
        self._begun = False
        self._actions = np.zeros((count, game_batch.num_acting), np.int64)
        self._make_specs()
        if seed is not None:
            self.set_seed(seed)

    def set_opponent(self, opponent: OpponentSpec | Sequence[OpponentSpec]) -> None:
        """Replace the opponents; games in progress continue.

        Args:
            opponent: as when the environment is made.

        Raises:
            ValueError: in self-play, or if there is not one for each other seat.
            TypeError: if something is neither a spec string nor an agent.
        """
        self.game_batch.set_opponent(opponent)

    def __repr__(self) -> str:
        against = "self-play" if self._self_play else "opponents inside"
        return f"TorchRLEnv({self.game.spec!r}, {self.game_batch.count}, {against})"

    def close(self, **kwargs: Any) -> None:
        """End the threads."""
        self.game_batch.close()
        super().close(**kwargs)

    def _make_specs(self) -> None:
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
            whole = self._done_spec(self.batch_size)
            whole[GROUP] = done
            self.done_spec = whole
        else:
            self.observation_spec, self.action_spec = observation, action
            self.reward_spec, self.done_spec = reward, done

    def _done_spec(self, size: tuple[int, ...]) -> Composite:
        return Composite(
            {
                key: Binary(n=1, shape=(*size, 1), dtype=torch.bool, device=self.device)
                for key in ("done", "terminated")
            },
            shape=size,
            device=self.device,
        )

    def _grouped(self, spec: Composite) -> Composite:
        return Composite({GROUP: spec}, shape=self.batch_size, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        """Seed game i with `seed + i` at its next reset."""
        if seed is not None:
            first = check_seed(seed)
            self._seeds = [first + i for i in range(self.game_batch.count)]

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDict:
        which = np.ones(self.game_batch.count, np.bool_)
        if tensordict is not None:
            asked = tensordict.get("_reset", None)
            if asked is not None and self._begun:
                which = _flags(asked)
        if not self._begun and self._seeds[0] is None:
            self._set_seed(int(torch.randint(2**62, ()).item()))
        seeds = [one if now else None for one, now in zip(self._seeds, which, strict=True)]
        self.game_batch.reset(seeds, which)
        self._seeds = [None if now else one for one, now in zip(self._seeds, which, strict=True)]
        self._begun = True
        return self._shown(self.game_batch.step_result().masks)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        partial = tensordict.get("_step", None)
        if self._self_play:
            # Left by `rollout(break_when_all_done=True)`, which then cannot stack its steps.
            tensordict.get(GROUP).pop("_neg_step", None)
        given = tensordict.get((GROUP, "action") if self._self_play else "action")
        chosen = given.cpu().numpy().reshape(self.game_batch.count, -1)
        game_batch = self.game_batch
        if self._self_play and not self.game.simultaneous:
            movers = game_batch.episode_states["mover"].astype(np.int64)
            chosen = chosen[np.arange(game_batch.count), movers][:, None]
        step_result = game_batch.new_step_result()
        self._actions[:] = chosen
        which = None if partial is None else np.flatnonzero(_flags(partial))
        if which is None or len(which) == game_batch.count:
            game_batch.step(self._actions, step_result)
        else:
            step_subset(game_batch, which, self._actions[which])
            step_result = game_batch.step_result()
        made = self._shown(step_result.masks)
        over = self._tensor(step_result.terminated[:, None])
        made["done"], made["terminated"] = over, over.clone()
        if not self._self_play:
            made["reward"] = self._tensor(step_result.reward[:, None])
            return made
        group = made[GROUP]
        group["reward"] = self._tensor(step_result.rewards[:, :, None])
        out = over[:, None].expand(-1, self.game.num_players, 1)
        if self.game.simultaneous:
            out = out | ~group["mask"][:, :, None]
        group["done"], group["terminated"] = out.clone(), out.clone()
        return made

    def _shown(self, masks: NDArray[np.int8]) -> TensorDict:
        """Return what is seen of the present positions.

        Args:
            masks: those of a step result. Shape `[B, W, A]`.
        """
        game_batch = self.game_batch
        if not self._self_play:
            flags = masks[:, 0].view(np.bool_)
            flags[~flags.any(1)] = True
            mask = self._tensor(flags)
            self.action_spec.update_mask(mask)
            planes = self._tensor(self.format.planes(game_batch.observations[:, 0]))
            return self._dict({"observation": planes, "action_mask": mask}, self.batch_size)
        players = self.game.num_players
        if self.game.simultaneous:
            observations, flags = game_batch.observations, masks.view(np.bool_)
        else:
            observations = np.stack([game_batch.observe(p) for p in range(players)], 1)
            flags = np.zeros((game_batch.count, players, self.game.num_actions), np.bool_)
            movers = game_batch.episode_states["mover"].astype(np.int64)
            flags[np.arange(game_batch.count), movers] = masks[:, 0]
        acting: NDArray[np.bool_] = np.logical_or.reduce(flags, 2)
        flags[~acting, 0] = True
        mask = self._tensor(flags)
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


def _flags(asked: torch.Tensor) -> NDArray[np.bool_]:
    """Return which games a key such as `"_reset"` means. Shape `[B]`."""
    flags: NDArray[np.bool_] = asked.reshape(len(asked), -1).any(1).cpu().numpy()
    return flags
