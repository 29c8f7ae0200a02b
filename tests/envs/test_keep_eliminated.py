"""Option `keep_eliminated`: agents that are out stay until the game ends.

Some libraries need a fixed number of agents. A twin environment without the option is compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ludoteca.envs.api.aec import NO_OP, aec_env
from ludoteca.envs.api.parallel import parallel_env
from ludoteca.envs.game import Game
from ludoteca.envs.registry import GAMES, make_game

pytestmark = pytest.mark.interpreted

MakeSmallGame = Callable[[str], Game]
ids = pytest.mark.parametrize("id_", GAMES)
simultaneous_ids = pytest.mark.parametrize(
    "id_", [id_ for id_ in GAMES if make_game(id_).simultaneous]
)


@simultaneous_ids
@pytest.mark.parametrize("kind", ["planes", "flat", "dict", "flat_dict"])
def test_agents_that_are_out_observe_zeros_and_cannot_act(
    id_: str, kind: str, make_small_game: MakeSmallGame
) -> None:
    game, rng = make_small_game(id_), np.random.default_rng(0)
    env = parallel_env(game, keep_eliminated=True, observation=kind)
    twin = parallel_env(game, observation=kind)
    stayed = 0
    for seed in range(12):
        _, infos = env.reset(seed=seed)
        twin.reset(seed=seed)
        while twin.agents:
            actions = {agent: int(rng.integers(game.num_actions)) for agent in env.agents}
            before = twin.agents
            expected, twin_rewards, _, _, twin_infos = twin.step(actions)
            assert env.agents == env.possible_agents
            seen, rewards, ends, truncations, infos = env.step(actions)
            assert list(seen) == list(rewards) == list(ends) == list(infos) == env.possible_agents
            assert set(ends.values()) == {not twin.agents}
            assert not any(truncations.values())
            for agent in env.possible_agents:
                assert seen[agent] in env.observation_space(agent)
                mask = infos[agent]["action_mask"]
                if agent in before:
                    assert rewards[agent] == twin_rewards[agent]
                else:
                    assert rewards[agent] == 0
                if agent in twin.agents:
                    np.testing.assert_equal(seen[agent], expected[agent])
                    np.testing.assert_equal(mask, twin_infos[agent]["action_mask"])
                    continue
                assert np.flatnonzero(mask).tolist() == [NO_OP]
                planes = (
                    seen[agent]["observation"] if isinstance(seen[agent], dict) else seen[agent]
                )
                if twin.agents:
                    stayed += 1
                    assert not planes.any()
                elif agent in before:  # the end of the game is seen
                    last = expected[agent]
                    np.testing.assert_equal(planes, last["observation"] if "dict" in kind else last)
        assert env.agents == []
    assert stayed or game.num_players == 2  # of two players, the game ends when one is out


@simultaneous_ids
def test_actions_of_agents_that_are_out_are_ignored(
    id_: str, make_small_game: MakeSmallGame
) -> None:
    game, rng = make_small_game(id_), np.random.default_rng(1)
    for rule in ("lose", "raise", "penalize", "random"):
        env = parallel_env(game, keep_eliminated=True, illegal_action=rule)
        other = parallel_env(game, keep_eliminated=True, illegal_action=rule)
        for seed in range(6):
            _, infos = env.reset(seed=seed)
            other.reset(seed=seed)
            while env.agents:
                masks = {agent: info["action_mask"] for agent, info in infos.items()}
                alive = [agent for agent in env.agents if masks[agent].sum() > 1]
                actions = {agent: int(rng.choice(np.flatnonzero(masks[agent]))) for agent in alive}
                with_nonsense = dict.fromkeys(env.agents, "nonsense") | actions
                *expected, infos = env.step(actions)
                *results, _ = other.step(with_nonsense)
                np.testing.assert_equal(results, expected)


def test_a_missing_action_of_an_agent_that_plays_is_an_error() -> None:
    env = parallel_env("tron", keep_eliminated=True)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"expected actions of \['player_0', 'player_1'\]"):
        env.step({"player_0": 0})


def test_max_cycles_truncates_agents_that_play_and_terminates_the_others(
    make_small_game: MakeSmallGame,
) -> None:
    game, kinds_of_ends = make_small_game("HungryGeese-v0"), set()
    for seed in range(20):
        env = parallel_env(game, keep_eliminated=True, max_cycles=2)
        twin = parallel_env(game, max_cycles=2)
        env.reset(seed=seed)
        twin.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while twin.agents:
            actions = {agent: int(rng.integers(4)) for agent in env.possible_agents}
            _, _, _, truncated, _ = twin.step(actions)
            _, _, ends, truncations, _ = env.step(actions)
        for agent in env.possible_agents:
            assert ends[agent] != truncations[agent]
            assert truncations[agent] == truncated.get(agent, False)
        kinds_of_ends.add((any(ends.values()), any(truncations.values())))
    assert (True, True) in kinds_of_ends


@ids
def test_every_mask_allows_an_action_in_both_styles(
    id_: str, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    for end in ("zeros", "ones"):
        options: dict[str, Any] = {"keep_eliminated": True, "end_mask": end}
        rng = np.random.default_rng(2)
        env = parallel_env(game, **options)
        observations, _ = env.reset(seed=5)
        while env.agents:
            masks = {agent: seen["action_mask"] for agent, seen in observations.items()}
            assert all(mask.any() for mask in masks.values())
            if not game.simultaneous:  # only the mover has a choice
                waiting = [mask for mask in masks.values() if np.flatnonzero(mask).tolist() == [0]]
                assert len(waiting) >= game.num_players - 1
            actions = {
                agent: int(rng.choice(np.flatnonzero(mask))) for agent, mask in masks.items()
            }
            observations, *_ = env.step(actions)
        for seen in observations.values():
            assert seen["action_mask"].sum() == (game.num_actions if end == "ones" else 1)
        env = aec_env(game, illegal_action="raise", **options)
        env.reset(seed=5)
        for agent in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            assert all(env.observe(agent)["action_mask"].any() for agent in env.agents)
            over = terminated or truncated
            env.step(None if over else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
            assert agent in env.possible_agents


@simultaneous_ids
@pytest.mark.parametrize("style", ["parallel", "aec"])
def test_environments_can_be_saved_and_restored_at_any_time(
    id_: str, style: str, make_small_game: MakeSmallGame
) -> None:
    game = make_small_game(id_)
    make = parallel_env if style == "parallel" else aec_env
    env, other = make(game, keep_eliminated=True), make(game, keep_eliminated=True)

    def step(env: Any, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        if style == "parallel":
            return env.step({agent: int(rng.integers(game.num_actions)) for agent in env.agents})
        seen, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
        return env.last() if env.agents else None

    env.reset(seed=3)
    other.reset(seed=9)
    for seed in range(200):
        if not env.agents:
            break
        other.restore(env.save())
        assert other.agents == env.agents
        np.testing.assert_equal(step(other, seed), step(env, seed))
    assert not env.agents
