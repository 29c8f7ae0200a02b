"""Compiled stepping of many games at once: the engine under every environment.

A batch of B games is B records of the game, B records of `lane_dtype` beside them, and arrays for
what the caller sees. W seats are seen at once: 1 in sequential games (the player to move) and
against opponents (the agent), all P players in simultaneous self-play.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludoteca.envs.engine.env_info import EVERY_SEAT, LOSE, NO_SEAT, RANDOM, RANDOM_SEAT, SAME_STEP
from ludoteca.envs.engine.step_result import make_tell
from ludoteca.envs.engine.thread_pool import make_shared
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.jit import compiled_without_allocation, factory, kernel
from ludoteca.envs.rng import below, next_u64


class Stepper(NamedTuple):
    """Compiled functions over the lanes of a batch.

    Attributes:
        step: `step((states, lanes, actions, masks, observations, final_observations, history,
            scratch), (seat_rule, illegal_rule, autoreset))` plays one action per lane and seen
            seat, `actions` int64 `[B, W]`, and the opponents' answers; it needs the masks of the
            last view and overwrites them.
        share: the same for a `Team` of threads, whose arguments are the two tuples of `step` with
            an `Outcome` between them, which it writes unless its arrays are empty.
        take: `take(states, lanes, actions, masks, history, scratch, illegal_rule)`: the first half
            of a step against opponents that are not compiled. Settles illegal actions; in
            sequential games it also plays.
        reply: `reply(states, lanes, chosen, joint, history, scratch)` plays the opponents' actions:
            `joint` int64 `[K, P]` in the lanes `chosen`, int64 `[K]`; in sequential games only the
            mover's entry counts, in simultaneous ones players may `FORFEIT`. Returns -1, or
            `k * P + player` of an illegal action: nothing has then been played.
        restart: `restart(states, lanes, which, history, seat_rule)` begins new games where
            `which`, bool `[B]`, is true.
        view: `view(states, lanes, masks, observations, scratch)` writes what is seen.
        observe: `observe(states, player, observations)` writes one player's planes.
        tell: `tell(lanes, masks, outcome)` writes an `Outcome`.
        tell_final: `tell_final(lanes, outcome)` writes an `Outcome`, all but its masks, of the
            games that the last step ended (same-step autoreset), and zeros for others.
        active: `active(states, chosen, player, out)` tells in which lanes a player is still in the
            game (simultaneous games).
        find_illegal: `find_illegal(states, lanes, actions, masks) -> lane * W + w`, or -1.
    """

    step: Any
    share: Any
    take: Any
    reply: Any
    restart: Any
    view: Any
    observe: Any
    tell: Any
    tell_final: Any
    active: Any
    find_illegal: Any


@factory("environment", needed=("restart_lanes", "view_lanes", "step_alone"))
def make_stepper(game: Game, choose: Callable[..., int] | None = None) -> Stepper:
    """Return the compiled stepping of `game`, with opponents that play the policy `choose`.

    `choose(s, player, legal, n, rng) -> action` is a kernel that picks one of `legal[:n]`.
    """
    init, player, is_active = game.init, game.player, game.is_active
    legal_actions, step, is_terminal = game.legal_actions, game.step, game.is_terminal
    returns, observe = game.returns, game.observe
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    has_opponents = choose is not None
    tell_lanes, tell, tell_final = make_tell(game)

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
    def settle(s, lane, before):
        """Pay what the last step decided, and tell whether the game is over for the agent."""
        if simultaneous:
            returns(s, lane.rewards)
            for p in range(players):
                lane.rewards[p] -= before[p]
            lane.over = is_terminal(s) or (lane.seat != NO_SEAT and not is_active(s, lane.seat))
        else:
            lane.over = is_terminal(s)
            if lane.over:
                returns(s, lane.rewards)
            else:
                lane.rewards[:] = 0
        lane.terminated = lane.over

    @kernel
    def accept(s, lane, actions, masks, work, illegal_rule):
        """Copy the actions into `work.joint`; tell whether they can be played.

        If not, an illegal action was offered and has been punished instead.
        """
        lane.illegal = False
        for w in range(len(actions)):
            if simultaneous:
                p = w if lane.seat == NO_SEAT else int(lane.seat)
                if not is_active(s, p):
                    work.joint[p] = 0
                    continue
            else:
                p = int(player(s))
            action = actions[w]
            if not (0 <= action < num_actions and masks[w, action]):
                if not lane.illegal:
                    lane.rewards[:] = 0
                lane.illegal = True
                lane.rewards[p] = -1
                if illegal_rule == RANDOM:
                    action = work.legal[below(lane.rng, legal_of(s, p, work.legal))]
            work.joint[p] = action
        if lane.illegal and illegal_rule != RANDOM:
            lane.over = illegal_rule == LOSE
            lane.terminated = lane.over
            return False
        return True

    @kernel
    def answer(s, lane, work, history):
        """Play the opponents' moves until the agent is to move (sequential games)."""
        if has_opponents and not simultaneous:
            while not is_terminal(s) and player(s) != lane.seat:
                p = player(s)
                n = legal_actions(s, work.legal)
                work.joint[p] = choose(s, p, work.legal, n, lane.rng)
                play(s, work.joint, history)

    @kernel
    def lost_already(s, lane):
        """Tell whether the opponents' first moves ended the game: the agent's first is no move."""
        return not simultaneous and lane.seat != NO_SEAT and is_terminal(s)

    @kernel
    def begin(s, lane, history, seat_rule):
        lane.game_seed = next_u64(lane.rng)
        init(s, lane.game_seed)
        if seat_rule == RANDOM_SEAT:
            lane.seat = below(lane.rng, players)
        else:
            lane.seat = NO_SEAT if seat_rule == EVERY_SEAT else seat_rule
        lane.over = False
        if len(history) > 0:
            history[0] = 0

    @kernel
    def look(s, lane, i, masks, observations, legal):
        for w in range(masks.shape[1]):
            if not simultaneous:
                lane.mover = player(s)
            p = w if simultaneous else int(lane.mover)
            if lane.seat != NO_SEAT:
                p = int(lane.seat)
            observe(s, p, observations[i, w])
            for action in range(num_actions):
                masks[i, w, action] = 0
            if not lane.over and (simultaneous or p == lane.mover):
                for k in range(legal_of(s, p, legal)):
                    masks[i, w, legal[k]] = 1

    @kernel
    def reward(lane, mover):
        """Choose the reward that the caller sees: the agent's or the mover's."""
        lane.reward = lane.rewards[lane.seat if lane.seat != NO_SEAT else mover]

    @kernel
    def clear(lane):
        lane.rewards[:] = 0
        lane.reward = 0
        lane.terminated = False
        lane.illegal = False

    @kernel
    def step_lanes(batch, rules, thread, lo, hi):
        states, lanes, actions, masks, observations, final_observations, history, scratch = batch
        seat_rule, illegal_rule, autoreset = rules
        work = scratch[thread]
        for i in range(lo, hi):
            s, lane = states[i], lanes[i]
            if lane.over:
                clear(lane)
                begin(s, lane, history[i], seat_rule)
                answer(s, lane, work, history[i])
            else:
                mover = 0 if simultaneous else int(player(s))
                if has_opponents and lost_already(s, lane):
                    lane.illegal = False
                    settle(s, lane, work.before)
                elif accept(s, lane, actions[i], masks[i], work, illegal_rule):
                    if simultaneous:
                        returns(s, work.before)
                        if has_opponents:
                            for p in range(players):
                                if p == lane.seat:
                                    continue
                                work.joint[p] = 0
                                if is_active(s, p):
                                    n = legal_actions(s, p, work.legal)
                                    work.joint[p] = choose(s, p, work.legal, n, lane.rng)
                    play(s, work.joint, history[i])
                    answer(s, lane, work, history[i])
                    settle(s, lane, work.before)
                reward(lane, mover)
                if lane.over and autoreset == SAME_STEP:
                    look(s, lane, i, masks, final_observations, work.legal)
                    watching = simultaneous or lane.seat != NO_SEAT
                    lane.final_player = lane.seat if watching else lane.mover
                    begin(s, lane, history[i], seat_rule)
                    answer(s, lane, work, history[i])
            look(s, lane, i, masks, observations, work.legal)

    @compiled_without_allocation
    def take_lanes(states, lanes, actions, masks, history, scratch, illegal_rule):
        work = scratch[0]
        for i in range(len(states)):
            s, lane = states[i], lanes[i]
            if lane.over:
                clear(lane)
                actions[i] = NO_SEAT
            elif lost_already(s, lane):
                lane.illegal = False
                settle(s, lane, work.before)
                reward(lane, lane.seat)
                actions[i] = NO_SEAT
            elif accept(s, lane, actions[i], masks[i], work, illegal_rule):
                if simultaneous:
                    for w in range(actions.shape[1]):
                        actions[i, w] = work.joint[lane.seat]
                else:
                    play(s, work.joint, history[i])
                    settle(s, lane, work.before)
                    lane.mover = player(s)
                reward(lane, lane.seat)
            else:
                reward(lane, lane.seat)
                actions[i] = NO_SEAT

    @compiled_without_allocation
    def reply_lanes(states, lanes, chosen, joint, history, scratch):
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
            s, lane = states[chosen[k]], lanes[chosen[k]]
            if simultaneous:
                returns(s, work.before)
            play(s, joint[k], history[chosen[k]])
            settle(s, lane, work.before)
            reward(lane, lane.seat)
            if not simultaneous:
                lane.mover = player(s)
        return -1

    @compiled_without_allocation
    def restart_lanes(states, lanes, which, history, seat_rule):
        for i in range(len(which)):
            if which[i]:
                begin(states[i], lanes[i], history[i], seat_rule)
                if not simultaneous:
                    lanes[i].mover = player(states[i])

    @compiled_without_allocation
    def view_lanes(states, lanes, masks, observations, scratch):
        for i in range(len(states)):
            look(states[i], lanes[i], i, masks, observations, scratch[0].legal)

    @compiled_without_allocation
    def observe_lanes(states, p, observations):
        for i in range(len(states)):
            observe(states[i], p, observations[i])

    @compiled_without_allocation
    def step_alone(batch, rules):
        step_lanes(batch, rules, 0, 0, len(batch[0]))

    @kernel
    def step_chunk(arguments, thread, chunk, chunks):
        batch, outcome, rules = arguments
        lanes, masks = batch[1], batch[3]
        lo, hi = len(lanes) * chunk // chunks, len(lanes) * (chunk + 1) // chunks
        step_lanes(batch, rules, thread, lo, hi)
        if len(outcome.reward) > 0:
            tell_lanes(lanes, masks, outcome, lo, hi)

    @compiled_without_allocation
    def active_lanes(states, chosen, p, active):
        for k in range(len(chosen)):
            active[k] = is_active(states[chosen[k]], p)

    @compiled_without_allocation
    def find_illegal(states, lanes, actions, masks):
        for i in range(len(actions)):
            if not lanes[i].over and not lost_already(states[i], lanes[i]):
                for w in range(actions.shape[1]):
                    if simultaneous:
                        p = w if lanes[i].seat == NO_SEAT else int(lanes[i].seat)
                        if not is_active(states[i], p):
                            continue
                    action = actions[i, w]
                    if not (0 <= action < num_actions and masks[i, w, action]):
                        return i * actions.shape[1] + w
        return -1

    return Stepper(
        step=step_alone,
        share=make_shared(step_chunk),
        take=take_lanes,
        reply=reply_lanes,
        restart=restart_lanes,
        view=view_lanes,
        observe=observe_lanes,
        tell=tell,
        tell_final=tell_final,
        active=active_lanes,
        find_illegal=find_illegal,
    )
