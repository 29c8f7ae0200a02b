"""Compiled stepping of many games at once: the engine under every environment.

A batch of B games is B records of the game, B records of `episode_state_dtype` beside them, and
arrays for what the caller sees. W seats are seen at once: 1 in sequential games (the player to
move) and against opponents (the agent), all P players in simultaneous self-play.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludoteca.envs.engine.episode_state import (
    EVERY_SEAT,
    LOSE,
    NO_SEAT,
    RANDOM,
    RANDOM_SEAT,
    SAME_STEP,
)
from ludoteca.envs.engine.step_result import make_result_writers
from ludoteca.envs.engine.thread_pool import make_sliced
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below, next_u64


class Stepper(NamedTuple):
    """Compiled functions over the games of a batch.

    Attributes:
        step: `step((states, episode_states, actions, masks, observations, final_observations,
            history, scratch), (seat_rule, illegal_rule, autoreset))` plays one action per game and
            seen seat, `actions` int64 `[B, W]`, and the opponents' answers; it needs the masks of
            the last observation and overwrites them.
        step_slices: the same for a `ThreadPool`, whose arguments are the two tuples of `step` with
            a `StepResult` between them, which it writes unless its arrays are empty.
        apply_action: `apply_action(states, episode_states, actions, masks, history, scratch,
            illegal_rule)`: the first half of a step against opponents that are not compiled.
            Settles illegal actions; in sequential games it also plays.
        apply_joint_actions: `apply_joint_actions(states, episode_states, chosen, joint, history,
            scratch)` plays the opponents' actions: `joint` int64 `[K, P]` in the games `chosen`,
            int64 `[K]`; in sequential games only the mover's entry counts, in simultaneous ones
            players may `FORFEIT`. Returns -1, or `k * P + player` of an illegal action: nothing has
            then been played.
        reset: `reset(states, episode_states, which, history, seat_rule)` begins new games where
            `which`, bool `[B]`, is true.
        observe: `observe(states, episode_states, masks, observations, scratch)` writes what is
            seen.
        observe_player: `observe_player(states, player, observations)` writes one player's planes.
        write_step_result: `write_step_result(episode_states, masks, step_result)` writes a
            `StepResult`.
        write_final_result: `write_final_result(episode_states, step_result)` writes a
            `StepResult`, all but its masks, of the games that the last step ended (same-step
            autoreset), and zeros for others.
        is_active: `is_active(states, chosen, player, out)` writes in which games a player is still
            in the game (simultaneous games).
        find_illegal: `find_illegal(states, episode_states, actions, masks) -> env_index * W + w`,
            or -1.
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


@factory("environment", needed=("reset_games", "observe_games", "step_alone"))
def make_stepper(game: Game, choose: Callable[..., int] | None = None) -> Stepper:
    """Return the compiled stepping of `game`, with opponents that play the policy `choose`.

    `choose(s, player, legal, n, rng) -> action` is a kernel that picks one of `legal[:n]`.
    """
    init, player, is_active = game.init, game.player, game.is_active
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns, observe = game.returns, game.observe
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    has_opponents = choose is not None
    write_rows, write_step_result, write_final_result = make_result_writers(game)

    @kernel
    def legal_of(s, p, legal):
        if simultaneous:
            return legal_actions(s, p, legal)
        return legal_actions(s, legal)

    @kernel
    def play(s, joint, history):
        """Play `joint` (sequential: the mover's entry) and write it down, if asked to."""
        # There is room for every game; a restored one may claim more plies than it can have had.
        if simultaneous:
            if len(history) > 0 and history[0] * players + players < len(history):
                for p in range(players):
                    history[1 + history[0] * players + p] = joint[p]
                history[0] += 1
            step(s, joint)
        else:
            action = joint[player(s)]
            if len(history) > 0 and history[0] + 1 < len(history):
                history[1 + history[0]] = action
                history[0] += 1
            step(s, action)

    @kernel
    def score(s, episode, before):
        """Pay what the last step decided, and tell whether the game is over for the agent."""
        if simultaneous:
            returns(s, episode.rewards)
            for p in range(players):
                episode.rewards[p] -= before[p]
            episode.over = is_terminal(s) or (
                episode.seat != NO_SEAT and not is_active(s, episode.seat)
            )
        else:
            episode.over = is_terminal(s)
            if episode.over:
                returns(s, episode.rewards)
            else:
                episode.rewards[:] = 0
        episode.terminated = episode.over

    @kernel
    def validate_action(s, episode, actions, masks, work, illegal_rule):
        """Copy the actions into `work.joint`; tell whether they can be played.

        If not, an illegal action was offered and has been punished instead.
        """
        episode.illegal = False
        for w in range(len(actions)):
            if simultaneous:
                p = w if episode.seat == NO_SEAT else int(episode.seat)
                if not is_active(s, p):
                    work.joint[p] = 0
                    continue
            else:
                p = int(player(s))
            action = actions[w]
            if not (0 <= action < num_actions and masks[w, action]):
                if not episode.illegal:
                    episode.rewards[:] = 0
                episode.illegal = True
                episode.rewards[p] = -1
                if illegal_rule == RANDOM:
                    action = work.legal[below(episode.rng, legal_of(s, p, work.legal))]
            work.joint[p] = action
        if episode.illegal and illegal_rule != RANDOM:
            episode.over = illegal_rule == LOSE
            episode.terminated = episode.over
            return False
        return True

    @kernel
    def opponents_step(s, episode, work, history):
        """Play the opponents' moves until the agent is to move (sequential games)."""
        if has_opponents and not simultaneous:
            while not is_terminal(s) and player(s) != episode.seat:
                p = player(s)
                n = legal_actions(s, work.legal)
                work.joint[p] = choose(s, p, work.legal, n, episode.rng)
                play(s, work.joint, history)

    @kernel
    def lost_already(s, episode):
        """Tell whether the opponents' first moves ended the game: the agent's first is no move."""
        return not simultaneous and episode.seat != NO_SEAT and is_terminal(s)

    @kernel
    def reset_game(s, episode, history, seat_rule):
        episode.game_seed = next_u64(episode.rng)
        init(s, episode.game_seed)
        if seat_rule == RANDOM_SEAT:
            episode.seat = below(episode.rng, players)
        else:
            episode.seat = NO_SEAT if seat_rule == EVERY_SEAT else seat_rule
        episode.over = False
        if len(history) > 0:
            history[0] = 0

    @kernel
    def observe_game(s, episode, i, masks, observations, legal):
        for w in range(masks.shape[1]):
            if not simultaneous:
                episode.mover = player(s)
            p = w if simultaneous else int(episode.mover)
            if episode.seat != NO_SEAT:
                p = int(episode.seat)
            observe(s, p, observations[i, w])
            for action in range(num_actions):
                masks[i, w, action] = 0
            if not episode.over and (simultaneous or p == episode.mover):
                for k in range(legal_of(s, p, legal)):
                    masks[i, w, legal[k]] = 1

    @kernel
    def reward(episode, mover):
        """Choose the reward that the caller sees: the agent's or the mover's."""
        episode.reward = episode.rewards[episode.seat if episode.seat != NO_SEAT else mover]

    @kernel
    def clear(episode):
        episode.rewards[:] = 0
        episode.reward = 0
        episode.terminated = False
        episode.illegal = False

    @kernel
    def step_games(batch, rules, thread, lo, hi):
        (
            states,
            episode_states,
            actions,
            masks,
            observations,
            final_observations,
            history,
            scratch,
        ) = batch
        seat_rule, illegal_rule, autoreset = rules
        work = scratch[thread]
        for i in range(lo, hi):
            s, episode = states[i], episode_states[i]
            if episode.over:
                clear(episode)
                reset_game(s, episode, history[i], seat_rule)
                opponents_step(s, episode, work, history[i])
            else:
                mover = 0 if simultaneous else int(player(s))
                if has_opponents and lost_already(s, episode):
                    episode.illegal = False
                    score(s, episode, work.before)
                elif validate_action(s, episode, actions[i], masks[i], work, illegal_rule):
                    if simultaneous:
                        returns(s, work.before)
                        if has_opponents:
                            for p in range(players):
                                if p == episode.seat:
                                    continue
                                work.joint[p] = 0
                                if is_active(s, p):
                                    n = legal_actions(s, p, work.legal)
                                    work.joint[p] = choose(s, p, work.legal, n, episode.rng)
                    play(s, work.joint, history[i])
                    opponents_step(s, episode, work, history[i])
                    score(s, episode, work.before)
                reward(episode, mover)
                if episode.over and autoreset == SAME_STEP:
                    observe_game(s, episode, i, masks, final_observations, work.legal)
                    watching = simultaneous or episode.seat != NO_SEAT
                    episode.final_player = episode.seat if watching else episode.mover
                    reset_game(s, episode, history[i], seat_rule)
                    opponents_step(s, episode, work, history[i])
            observe_game(s, episode, i, masks, observations, work.legal)

    @compiled_without_allocation
    def apply_actions(states, episode_states, actions, masks, history, scratch, illegal_rule):
        work = scratch[0]
        for i in range(len(states)):
            s, episode = states[i], episode_states[i]
            if episode.over:
                clear(episode)
                actions[i] = NO_SEAT
            elif lost_already(s, episode):
                episode.illegal = False
                score(s, episode, work.before)
                reward(episode, episode.seat)
                actions[i] = NO_SEAT
            elif validate_action(s, episode, actions[i], masks[i], work, illegal_rule):
                if simultaneous:
                    for w in range(actions.shape[1]):
                        actions[i, w] = work.joint[episode.seat]
                else:
                    play(s, work.joint, history[i])
                    score(s, episode, work.before)
                    episode.mover = player(s)
                reward(episode, episode.seat)
            else:
                reward(episode, episode.seat)
                actions[i] = NO_SEAT

    @compiled_without_allocation
    def apply_joint_actions(states, episode_states, chosen, joint, history, scratch):
        work = scratch[0]
        for k in range(len(chosen)):
            s = states[chosen[k]]
            for p in range(players):
                if is_active(s, p) if simultaneous else p == player(s):
                    n = legal_of(s, p, work.legal)
                    legal = simultaneous and joint[k, p] == FORFEIT
                    for j in range(n):
                        legal |= work.legal[j] == joint[k, p]
                    if not legal:
                        return k * players + p
        for k in range(len(chosen)):
            s, episode = states[chosen[k]], episode_states[chosen[k]]
            if simultaneous:
                returns(s, work.before)
            play(s, joint[k], history[chosen[k]])
            score(s, episode, work.before)
            reward(episode, episode.seat)
            if not simultaneous:
                episode.mover = player(s)
        return -1

    @compiled_without_allocation
    def reset_games(states, episode_states, which, history, seat_rule):
        for i in range(len(which)):
            if which[i]:
                reset_game(states[i], episode_states[i], history[i], seat_rule)
                if not simultaneous:
                    episode_states[i].mover = player(states[i])

    @compiled_without_allocation
    def observe_games(states, episode_states, masks, observations, scratch):
        for i in range(len(states)):
            observe_game(states[i], episode_states[i], i, masks, observations, scratch[0].legal)

    @compiled_without_allocation
    def observe_player(states, p, observations):
        for i in range(len(states)):
            observe(states[i], p, observations[i])

    @compiled_without_allocation
    def step_alone(batch, rules):
        step_games(batch, rules, 0, 0, len(batch[0]))

    @kernel
    def step_slice(arguments, thread, slice_, slices):
        batch, step_result, rules = arguments
        episode_states, masks = batch[1], batch[3]
        lo, hi = (
            len(episode_states) * slice_ // slices,
            len(episode_states) * (slice_ + 1) // slices,
        )
        step_games(batch, rules, thread, lo, hi)
        if len(step_result.reward) > 0:
            write_rows(episode_states, masks, step_result, lo, hi)

    @compiled_without_allocation
    def active_games(states, chosen, p, active):
        for k in range(len(chosen)):
            active[k] = is_active(states[chosen[k]], p)

    @compiled_without_allocation
    def find_illegal(states, episode_states, actions, masks):
        for i in range(len(actions)):
            if not episode_states[i].over and not lost_already(states[i], episode_states[i]):
                for w in range(actions.shape[1]):
                    if simultaneous:
                        p = w if episode_states[i].seat == NO_SEAT else int(episode_states[i].seat)
                        if not is_active(states[i], p):
                            continue
                    action = actions[i, w]
                    if not (0 <= action < num_actions and masks[i, w, action]):
                        return i * actions.shape[1] + w
        return -1

    return Stepper(
        step=step_alone,
        step_slices=make_sliced(step_slice),
        apply_action=apply_actions,
        apply_joint_actions=apply_joint_actions,
        reset=reset_games,
        observe=observe_games,
        observe_player=observe_player,
        write_step_result=write_step_result,
        write_final_result=write_final_result,
        is_active=active_games,
        find_illegal=find_illegal,
    )
