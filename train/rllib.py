"""Self-play in RLlib: a pool of frozen past policies, by policy mapping or inside the environment.

There are two setups, RLlib's multi-agent and single-agent environments. In the first, where each
player is one of RLlib's agents, `Matchups` maps one player of each episode to the learning policy,
and the others to policies of the pool. RLlib keeps one stream of transitions per player, so a loser
gets its -1, and values are bootstrapped only from the player's own observations. `register` and
`masked_module` are in `ludoteca.envs.adapters`::

    register()
    config = (
        PPOConfig()
        .environment("ludoteca", env_config={"game": "connect4"})
        .multi_agent(**Matchups().config())
        .rl_module(rl_module_spec=masked_module())
        .callbacks(partial(SelfPlay, threshold=0.6))
    )

In the second, the vector environment with one agent, past policies are opponents inside the
environment (`ludoteca.agents.pool`), and games are played in compiled code.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

from ludoteca.agents.external.rllib import RLlibAgent
from ludoteca.agents.external.rllib_module import has_logits
from ludoteca.agents.pool import OpponentPool, PoolAgent
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real

try:
    from ray.rllib.callbacks.callbacks import RLlibCallback
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
    from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS
except ImportError as error:
    raise ImportError('ludoteca.train.rllib needs RLlib: pip install "ludoteca[rllib]"') from error

LEARNER = "main"  # name of the learning policy
SELF_PLAY = "self_play"  # key of the metrics


@dataclass(frozen=True)
class Matchups:
    """Policy mapping function: one player of an episode learns, the others are sampled from a pool.

    Which player learns, and which policies play the others, is determined by the episode's id, so
    that all agents of an episode agree on it, in every process. Every player learns equally often.

    Attributes:
        opponents: names of frozen policies, the latest last.
        num_players: players of the game.
        latest_prob: probability of the latest opponent; otherwise opponents are sampled uniformly.
    """

    opponents: tuple[str, ...] = ("v0",)
    num_players: int = 2
    latest_prob: float = 0.5

    def __post_init__(self) -> None:
        """Validate the fields.

        Raises:
            ValueError: if a field is out of range.
        """
        if isinstance(self.opponents, str) or not self.opponents or LEARNER in self.opponents:
            raise ValueError(
                f"opponents must be names of policies other than {LEARNER!r}, such as ('v0',), got "
                f"{self.opponents!r}"
            )
        check_integer("num_players", self.num_players, 2, 64)
        check_real("latest_prob", self.latest_prob, 0, 1)

    def __call__(self, agent_id: str, episode: Any, **kwargs: Any) -> str:
        """Return the policy that plays `agent_id`, such as `"player_0"`, in an episode."""
        seat = int(str(agent_id).rpartition("_")[2])
        rng = random.Random(crc32(str(episode.id_).encode()))
        if seat == rng.randrange(self.num_players):
            return LEARNER
        for _ in range(seat):  # the two numbers of each earlier player
            rng.random(), rng.random()
        latest, uniform = rng.random() < self.latest_prob, rng.random()
        return self.opponents[-1 if latest else int(uniform * len(self.opponents))]

    def config(self) -> dict[str, Any]:
        """Return the arguments of `multi_agent(...)`; opponents start with random weights."""
        return {
            "policies": {LEARNER, *self.opponents},
            "policy_mapping_fn": self,
            "policies_to_train": [LEARNER],
        }


class SelfPlay(RLlibCallback):  # type: ignore[misc]
    """Callback that adds a frozen copy of the learning policy to the pool at a score threshold.

    The score is the mean of `(1 + return) / 2` over the games of the last iterations: a win is
    1, a draw a half. RLlib makes callbacks without arguments, so pass
    `partial(SelfPlay, threshold=...)`. `result["self_play"]` holds `score`, its `games`, and
    `opponents`, the number of opponent policies; `result["env_runners"]["self_play"]` has the
    points (sum of the games' scores) and games of an iteration, by player.

    The multi-agent setup needs `Matchups` as the policy mapping function. The single-agent setup
    needs an opponent in the environment, which the first copy replaces.
    """

    def __init__(
        self,
        threshold: float = 0.6,
        min_games: int = 200,
        size: int = 10,
        latest_prob: float = 0.5,
        seed: int = 0,
    ):
        """Make the callback.

        Args:
            threshold: score from which a copy is added.
            min_games: minimum number of games of a score, from the latest iterations.
            size: maximum number of copies in the pool, the latest ones.
            latest_prob: probability of the latest copy as opponent, in the single-agent setup; the
                multi-agent setup uses that of `Matchups`.
            seed: seed of the sampling of opponents, in the single-agent setup.

        Raises:
            ValueError: if an argument is out of range.
        """
        super().__init__()
        self.threshold = check_real("threshold", threshold, 0, 1)
        self.min_games = check_integer("min_games", min_games, 1, 10**9)
        self.size = check_integer("size", size, 1, 10_000)
        self._pool = OpponentPool(size, latest_prob=latest_prob, seed=seed)
        self._recent: list[tuple[float, float]] = []  # points and games of the last iterations
        self._added = 0

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **kwargs: Any) -> None:
        """Log the points of the learning policy."""
        if isinstance(episode, MultiAgentEpisode):
            learning = [a for a in episode.agent_ids if episode.module_for(a) == LEARNER]
            agent_episodes = {agent: episode.agent_episodes[agent] for agent in learning}
        else:
            agent_episodes = {f"player_{int(episode.get_infos(-1).get('player', 0))}": episode}
        for agent, agent_episode in agent_episodes.items():
            points = min(max((1 + float(agent_episode.get_return())) / 2, 0.0), 1.0)
            for key, value in (("points", points), ("games", 1)):
                metrics_logger.log_value((SELF_PLAY, key), value, reduce="sum")
                metrics_logger.log_value((SELF_PLAY, agent, key), value, reduce="sum")

    def on_train_result(
        self, *, algorithm: Any, metrics_logger: Any = None, result: dict[str, Any], **kwargs: Any
    ) -> None:
        """Add a copy to the pool if the score is high enough."""
        stats = result.get(ENV_RUNNER_RESULTS, {}).get(SELF_PLAY, {})
        self._recent.append((float(stats.get("points", 0)), float(stats.get("games", 0))))
        while sum(games for _, games in self._recent[1:]) >= self.min_games:
            del self._recent[0]
        points = sum(points for points, _ in self._recent)
        games = sum(games for _, games in self._recent)
        score = points / games if games else 0.0
        multi_agent = algorithm.config.is_multi_agent
        if games >= self.min_games and score >= self.threshold:
            self._recent.clear()
            self._added += 1
            if multi_agent:
                self._add_module(algorithm)
            else:
                self._add_opponent(algorithm)
        count = len(_matchups(algorithm).opponents) if multi_agent else len(self._pool.members)
        result[SELF_PLAY] = {"score": score, "games": games, "opponents": count}

    def _add_module(self, algorithm: Any) -> None:
        """Add a copy of the learning policy as a module that is not trained."""
        matchups = _matchups(algorithm)
        used = algorithm.config.policies
        name = next(f"v{k}" for k in range(len(used) + 1) if f"v{k}" not in used)
        state = algorithm.learner_group.get_weights(module_ids=[LEARNER])[LEARNER]
        opponents = (*matchups.opponents, name)[-self.size :]
        algorithm.add_module(
            module_id=name,
            module_spec=RLModuleSpec.from_module(algorithm.get_module(LEARNER)),
            new_agent_to_module_mapping_fn=replace(matchups, opponents=opponents),
        )
        algorithm.set_state({"learner_group": {"learner": {"rl_module": {name: state}}}})
        # Env runners ignore weights with their current sequence number, and later iterations send
        # only trained modules, so this module would keep random weights.
        _foreach_runner(algorithm, lambda runner: runner.module[name].set_state(state))

    def _add_opponent(self, algorithm: Any) -> None:
        """Add a copy of the learning policy to the opponents inside the environments."""
        module = algorithm.get_module()
        game = next(game for games in _foreach_runner(algorithm, _games) for game in games)
        agent = RLlibAgent.from_module(
            game, module, deterministic=not has_logits(module), copy=True
        )
        self._pool.add(f"v{self._added}", agent)
        pool = self._pool
        _foreach_runner(algorithm, lambda runner: _set_opponents(runner, game, pool))


def _matchups(algorithm: Any) -> Matchups:
    """Return the policy mapping function of an algorithm.

    Raises:
        TypeError: if it is not a `Matchups`.
    """
    mapping = algorithm.config.policy_mapping_fn
    if not isinstance(mapping, Matchups):
        raise TypeError(
            "SelfPlay with several agents needs multi_agent(**Matchups().config()), got the policy "
            f"mapping function {mapping!r}"
        )
    return mapping


def _foreach_runner(algorithm: Any, function: Callable[[Any], Any]) -> list[Any]:
    """Call a function with every env runner, those of evaluation included."""
    groups = (algorithm.env_runner_group, algorithm.eval_env_runner_group)
    return [
        result
        for group in groups
        if group is not None
        for result in group.foreach_env_runner(function)
    ]


def _environments(runner: Any) -> list[Any]:
    """Return the environments of an env runner that have opponents."""
    if runner.env is None:  # the local runner has no environment if there are remote ones
        return []
    env = runner.env.unwrapped
    return [single.unwrapped for single in getattr(env, "envs", [env])]


def _games(runner: Any) -> list[Any]:
    """Return the games of the environments of an env runner."""
    return [env.game for env in _environments(runner)]


def _set_opponents(runner: Any, game: Game, pool: OpponentPool) -> None:
    """Set the members of a pool as the opponents in the environments of an env runner."""
    for env in _environments(runner):
        env.set_opponent(PoolAgent(game, pool))
