"""Rules of one step of one game of a batch: resets, plies, opponents, rewards, observations.

The arguments of the kernels are those of `ludoteca.envs.engine.legality`, and `history`: the number
of plies of the game and its recorded actions, `[1 + max_actions]` of `Game.action_dtype`, or `[0]`
if not recorded.
"""

from typing import Any, NamedTuple

from ludoteca.envs.engine.episode_state import EVERY_SEAT, NO_SEAT, RANDOM_SEAT
from ludoteca.envs.engine.legality import Kernel, make_legality
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below, next_u64


class StepRules(NamedTuple):
    """Kernels over one game of a batch.

    Attributes:
        reset: `reset(s, episode, history, seat_rule)` resets the game with the next seed of
            its random stream.
        clear_rewards: `clear_rewards(episode)` clears the rewards and flags of the last step.
        select_reward: `select_reward(episode, mover)` sets `episode.reward` to the reward of the
            agent, or of `mover` in self-play.
        play: `play(s, joint, history)` applies and records the actions `joint`, one per player
            (sequential: only the mover's entry is used).
        begin_many: `begin_many(s, joint, history)` is the first part of `play` in games that have
            `Game.many`.
        score: `score(s, episode, returns_before)` writes the rewards of a step and whether the game
            is over for the agent. In simultaneous games the rewards are the returns minus
            `returns_before`, those before the step; in sequential ones the returns at the end,
            before it 0.
        opponents_act: `opponents_act(s, episode, scratch)` writes the actions of compiled opponents
            to `scratch.joint` (only in simultaneous games with opponents).
        opponents_step: `opponents_step(s, episode, history, scratch)` applies actions of compiled
            opponents until the agent is to move (only in sequential games with opponents).
        apply_action: `apply_action(s, episode, actions, masks, history, scratch, illegal_rule) ->
            bool` performs the part of a step before Python opponents act, and returns whether the
            agent's action was accepted. It applies this action in sequential games, and writes it
            to `scratch.joint` in simultaneous ones.
        apply_joint_action: `apply_joint_action(s, episode, joint, history, scratch)` applies one
            action per player (sequential: the mover's entry) and writes the rewards.
        observe: `observe(s, episode, observations, masks, legal)` writes the observations and
            masks of the W observing players; `legal` is scratch memory.
    """

    reset: Kernel
    clear_rewards: Kernel
    select_reward: Kernel
    play: Kernel
    begin_many: Kernel
    score: Kernel
    opponents_act: Kernel
    opponents_step: Kernel
    apply_action: Kernel
    apply_joint_action: Kernel
    observe: Kernel


@factory()
def make_step_rules(game: Game, choose: Kernel | None = None) -> StepRules:
    """Return the rules of a step of `game`.

    Args:
        game: the game.
        choose: policy of the compiled opponents, a kernel `choose(s, player, legal, n, rng) ->
            action` that returns one of the legal actions `legal[:n]`; None if there are none.
    """
    player: Any = game.player  # None in simultaneous games
    is_active: Any = game.is_active  # None in sequential games
    policy: Any = choose
    init, is_terminal, returns = game.init, game.is_terminal, game.returns
    observe_player = game.observe
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions
    has_opponents = choose is not None
    legality = make_legality(game)
    legal_actions = legality.legal_actions
    is_over_before_agent_acts = legality.is_over_before_agent_acts
    validate_action = legality.validate_action

    @kernel
    def reset(s: Any, episode: Any, history: Any, seat_rule: int) -> None:
        episode.game_seed = next_u64(episode.rng)
        init(s, episode.game_seed)
        if seat_rule == RANDOM_SEAT:
            episode.seat = below(episode.rng, players)
        else:
            episode.seat = NO_SEAT if seat_rule == EVERY_SEAT else seat_rule
        episode.over = False
        if not simultaneous:
            episode.mover = player(s)
        if len(history) > 0:
            history[0] = 0

    @kernel
    def clear_rewards(episode: Any) -> None:
        episode.rewards[:] = 0
        episode.reward = 0
        episode.terminated = False
        episode.illegal = False

    @kernel
    def select_reward(episode: Any, mover: int) -> None:
        episode.reward = episode.rewards[episode.seat if episode.seat != NO_SEAT else mover]

    def make_play(apply: Any) -> Any:
        @kernel
        def play(s: Any, joint: Any, history: Any) -> None:
            # `history` has room for every game from its start; a game from a restored position may
            # have more plies, which are not recorded.
            if simultaneous:
                if len(history) > 0 and history[0] * players + players < len(history):
                    for p in range(players):
                        history[1 + history[0] * players + p] = joint[p]
                    history[0] += 1
                apply(s, joint)
            else:
                action = joint[player(s)]
                if len(history) > 0 and history[0] + 1 < len(history):
                    history[1 + history[0]] = action
                    history[0] += 1
                apply(s, action)

        return play

    play = make_play(game.step)

    @kernel
    def score(s: Any, episode: Any, returns_before: Any) -> None:
        if simultaneous:
            returns(s, episode.rewards)
            for p in range(players):
                episode.rewards[p] -= returns_before[p]
            eliminated = episode.seat != NO_SEAT and not is_active(s, episode.seat)
            episode.over = is_terminal(s) or eliminated
        else:
            episode.over = is_terminal(s)
            if episode.over:
                returns(s, episode.rewards)
            else:
                episode.rewards[:] = 0
        episode.terminated = episode.over

    @kernel
    def opponents_act(s: Any, episode: Any, scratch: Any) -> None:
        if has_opponents and simultaneous:
            for p in range(players):
                if p == episode.seat:
                    continue
                scratch.joint[p] = 0
                if is_active(s, p):
                    n = legal_actions(s, p, scratch.legal)
                    scratch.joint[p] = policy(s, p, scratch.legal, n, episode.rng)

    @kernel
    def opponents_step(s: Any, episode: Any, history: Any, scratch: Any) -> None:
        if has_opponents and not simultaneous:
            while not is_terminal(s) and player(s) != episode.seat:
                p = player(s)
                n = legal_actions(s, p, scratch.legal)
                scratch.joint[p] = policy(s, p, scratch.legal, n, episode.rng)
                play(s, scratch.joint, history)

    @kernel
    def apply_action(
        s: Any,
        episode: Any,
        actions: Any,
        masks: Any,
        history: Any,
        scratch: Any,
        illegal_rule: int,
    ) -> bool:
        accepted = False
        if is_over_before_agent_acts(s, episode):
            episode.illegal = False
            score(s, episode, scratch.returns_before)
        else:
            accepted = validate_action(s, episode, actions, masks, scratch, illegal_rule)
            if accepted and not simultaneous:
                play(s, scratch.joint, history)
                score(s, episode, scratch.returns_before)
                episode.mover = player(s)
        select_reward(episode, episode.seat)
        return accepted

    @kernel
    def apply_joint_action(s: Any, episode: Any, joint: Any, history: Any, scratch: Any) -> None:
        if simultaneous:
            returns(s, scratch.returns_before)
        play(s, joint, history)
        score(s, episode, scratch.returns_before)
        select_reward(episode, episode.seat)
        if not simultaneous:
            episode.mover = player(s)

    @kernel
    def observe(s: Any, episode: Any, observations: Any, masks: Any, legal: Any) -> None:
        if not simultaneous:
            episode.mover = player(s)
        for w in range(len(masks)):
            p = w if simultaneous else int(episode.mover)
            if episode.seat != NO_SEAT:
                p = int(episode.seat)
            observe_player(s, p, observations[w])
            mask = masks[w]
            for action in range(num_actions):
                mask[action] = 0
            if not episode.over and (simultaneous or p == episode.mover):
                for k in range(legal_actions(s, p, legal)):
                    mask[legal[k]] = 1

    return StepRules(
        reset=reset,
        clear_rewards=clear_rewards,
        select_reward=select_reward,
        play=play,
        begin_many=make_play(game.many.begin) if game.many is not None else play,
        score=score,
        opponents_act=opponents_act,
        opponents_step=opponents_step,
        apply_action=apply_action,
        apply_joint_action=apply_joint_action,
        observe=observe,
    )
