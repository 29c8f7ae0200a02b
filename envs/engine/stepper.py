"""Compiled loops over the games of a batch, used by every environment.

The arrays are those of a `GameBatch` (`ludoteca.envs.engine.game_batch`), with observations in the
axes `(planes, rows, columns)`. `step_rules` has the rules for one game.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludoteca.envs.engine.episode_state import NO_SEAT, SAME_STEP
from ludoteca.envs.engine.legality import ALL_LEGAL, make_legality
from ludoteca.envs.engine.step_result import make_result_writers
from ludoteca.envs.engine.step_rules import make_step_rules
from ludoteca.envs.engine.step_together import make_step_together
from ludoteca.envs.engine.thread_pool import make_sliced
from ludoteca.envs.game import Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel


class Stepper(NamedTuple):
    """Compiled functions over the games of a batch.

    Attributes:
        step: `step((states, episode_states, actions, masks, observations, final_observations,
            history, scratch_records), (seat_rule, illegal_rule, autoreset), thread, lo, hi)` steps
            games lo to hi - 1: applies one action per observing player, `actions` int64 `[B, W]`,
            and the actions of compiled opponents. It reads the masks of the last step and
            overwrites them. `thread` is the index of the scratch record.
        step_slices: the same for `ThreadPool.run((batch, step_result, options))`, where `batch` and
            `options` are the two tuples of `step`. It also writes the `StepResult`, unless its
            arrays are empty.
        apply_action: `apply_action(states, episode_states, actions, masks, history,
            scratch_records, illegal_rule)` performs the first half of a step against opponents that
            are not compiled. In simultaneous games it only validates the actions. It sets `actions`
            to `NO_SEAT` in games that are over or whose action is not accepted, and in other
            simultaneous games to the action to apply.
        apply_joint_actions: `apply_joint_actions(states, episode_states, env_indices, joint,
            history, scratch_records)` applies the actions `joint`, int64 `[K, P]`, in the games
            `env_indices`, int64 `[K]`; in sequential games only the mover's entry is read, in
            simultaneous ones players may `FORFEIT`. It returns -1, or `k * P + player` of an
            illegal action, and then applies nothing.
        reset: `reset(states, episode_states, reset_mask, history, seat_rule)` resets the games
            where `reset_mask`, bool `[B]`, is true.
        observe: `observe(states, episode_states, finished_only, masks, observations,
            scratch_records)` writes masks and observations of all games, or only of those that are
            over.
        observe_player: `observe_player(states, player, observations)` writes one player's planes.
        write_step_result: `write_step_result(episode_states, masks, step_result, lo, hi)` writes
            rows lo to hi - 1 of a `StepResult`.
        write_final_result: `write_final_result(episode_states, step_result)` writes a
            `StepResult`, all but its masks, of the games that the last step ended (same-step
            autoreset), and zeros for others.
        is_active: `is_active(states, env_indices, player, active)` writes to `active`, bool `[K]`,
            whether a player can still act in each of the games `env_indices` (simultaneous games).
        find_illegal: `find_illegal(states, episode_states, actions, masks) -> env_index * W + w`,
            or -1 if all actions are legal.
    """

    step: Any
    step_slices: Any
    apply_action: Any
    apply_joint_actions: Any
    reset: Any
    observe: Any
    observe_player: Any
    write_step_result: Any
    write_final_result: Any
    is_active: Any
    find_illegal: Any


@factory("environment", used_together=("reset_batch", "observe_batch", "step_batch"))
def make_stepper(game: Game, choose: Callable[..., int] | None = None) -> Stepper:
    """Return the compiled functions of `game`, with opponents that play the policy `choose`.

    `choose(s, player, legal, n, rng) -> action` is a kernel that returns one of the legal actions
    `legal[:n]`; None in self-play or if the opponents are not compiled.
    """
    player: Any = game.player  # None in simultaneous games
    is_active: Any = game.is_active  # None in sequential games
    observe_player, returns, players = game.observe, game.returns, game.num_players
    simultaneous, has_opponents = game.simultaneous, choose is not None
    _, is_over_before_agent_acts, validate_action, find_illegal, find_illegal_in_joint = (
        make_legality(game)
    )
    rules = make_step_rules(game, choose)
    reset, clear_rewards, select_reward, play, _, score = rules[:6]
    opponents_act, opponents_step, apply_action, apply_joint_action, observe = rules[6:]
    write_rows, write_step_result, write_final_result = make_result_writers(game)

    @kernel
    def reset_finished(s: Any, episode: Any, history: Any, scratch: Any, seat_rule: int) -> None:
        """Reset a game in the step that ended it (same-step autoreset); keep its rewards."""
        mover_observes = not simultaneous and episode.seat == NO_SEAT
        episode.final_player = episode.mover if mover_observes else episode.seat
        reset(s, episode, history, seat_rule)
        opponents_step(s, episode, history, scratch)

    @kernel
    def step_one_by_one(batch: Any, options: Any, thread: int, lo: int, hi: int) -> None:
        """Step games lo to hi - 1; see `Stepper.step`."""
        (
            states,
            episodes,
            actions,
            masks,
            observations,
            final_observations,
            history,
            scratch_records,
        ) = batch
        seat_rule, illegal_rule, autoreset = options
        scratch = scratch_records[thread]
        for i in range(lo, hi):
            s, episode = states[i], episodes[i]
            if episode.over:
                clear_rewards(episode)
                reset(s, episode, history[i], seat_rule)
                opponents_step(s, episode, history[i], scratch)
            else:
                # Not in a kernel of its own: LLVM would not inline it, and steps take 10 % longer.
                mover = 0 if simultaneous else int(player(s))
                if has_opponents and is_over_before_agent_acts(s, episode):
                    episode.illegal = False
                    score(s, episode, scratch.returns_before)
                elif validate_action(s, episode, actions[i], masks[i], scratch, illegal_rule):
                    if simultaneous:
                        returns(s, scratch.returns_before)
                    opponents_act(s, episode, scratch)
                    play(s, scratch.joint, history[i])
                    opponents_step(s, episode, history[i], scratch)
                    score(s, episode, scratch.returns_before)
                select_reward(episode, mover)
            if autoreset == SAME_STEP and episode.over:
                observe(s, episode, final_observations[i], masks[i], scratch.legal)
                reset_finished(s, episode, history[i], scratch, seat_rule)
            observe(s, episode, observations[i], masks[i], scratch.legal)

    step_rows = step_one_by_one
    if game.many is not None:
        step_rows = make_step_together(game, choose, reset_finished)

    @compiled_without_allocation
    def step_batch(batch: Any, options: Any, thread: int, lo: int, hi: int) -> None:
        step_rows(batch, options, thread, lo, hi)

    @kernel
    def step_slice(arguments: Any, thread: int, k: int, slices: int) -> None:
        """Step slice k of a batch that is divided into `slices` slices; see `make_sliced`."""
        batch, step_result, options = arguments
        episodes, masks = batch[1], batch[3]
        lo, hi = len(episodes) * k // slices, len(episodes) * (k + 1) // slices
        step_rows(batch, options, thread, lo, hi)
        if len(step_result.reward) > 0:
            write_rows(episodes, masks, step_result, lo, hi)

    @compiled_without_allocation
    def apply_actions(
        states: Any,
        episodes: Any,
        actions: Any,
        masks: Any,
        history: Any,
        scratch_records: Any,
        illegal_rule: int,
    ) -> None:
        scratch = scratch_records[0]
        for i in range(len(states)):
            s, episode, row = states[i], episodes[i], actions[i]
            if episode.over:
                clear_rewards(episode)
                row[:] = NO_SEAT
            elif not apply_action(s, episode, row, masks[i], history[i], scratch, illegal_rule):
                row[:] = NO_SEAT
            elif simultaneous:
                row[:] = scratch.joint[episode.seat]

    @compiled_without_allocation
    def apply_joint_actions(
        states: Any, episodes: Any, env_indices: Any, joint: Any, history: Any, scratch_records: Any
    ) -> int:
        scratch = scratch_records[0]
        for k in range(len(env_indices)):
            p = find_illegal_in_joint(states[env_indices[k]], joint[k], scratch)
            if p != ALL_LEGAL:
                return int(k * players + p)
        for k in range(len(env_indices)):
            i = env_indices[k]
            apply_joint_action(states[i], episodes[i], joint[k], history[i], scratch)
        return ALL_LEGAL

    @compiled_without_allocation
    def reset_batch(
        states: Any, episodes: Any, reset_mask: Any, history: Any, seat_rule: int
    ) -> None:
        for i in range(len(reset_mask)):
            if reset_mask[i]:
                reset(states[i], episodes[i], history[i], seat_rule)

    @compiled_without_allocation
    def observe_batch(
        states: Any,
        episodes: Any,
        finished_only: bool,
        masks: Any,
        observations: Any,
        scratch_records: Any,
    ) -> None:
        for i in range(len(states)):
            if episodes[i].over or not finished_only:
                observe(states[i], episodes[i], observations[i], masks[i], scratch_records[0].legal)

    @compiled_without_allocation
    def observe_player_batch(states: Any, p: int, observations: Any) -> None:
        for i in range(len(states)):
            observe_player(states[i], p, observations[i])

    @compiled_without_allocation
    def is_active_batch(states: Any, env_indices: Any, p: int, active: Any) -> None:
        for k in range(len(env_indices)):
            active[k] = is_active(states[env_indices[k]], p)

    @compiled_without_allocation
    def find_illegal_batch(states: Any, episodes: Any, actions: Any, masks: Any) -> int:
        for i in range(len(actions)):
            w = find_illegal(states[i], episodes[i], actions[i], masks[i])
            if w != ALL_LEGAL:
                return int(i * actions.shape[1] + w)
        return ALL_LEGAL

    return Stepper(
        step=step_batch,
        step_slices=make_sliced(step_slice),
        apply_action=apply_actions,
        apply_joint_actions=apply_joint_actions,
        reset=reset_batch,
        observe=observe_batch,
        observe_player=observe_player_batch,
        write_step_result=write_step_result,
        write_final_result=write_final_result,
        is_active=is_active_batch,
        find_illegal=find_illegal_batch,
    )
