"""Steps of all games of a batch together, for games that have `Game.many`.

The results are those of single steps, see `ludoteca.envs.engine.stepper`, but the plies of all
games are applied by one call: first those of the agents, then, round by round, those of opponents.
"""

from typing import Any

from ludoteca.envs.engine.episode_state import SAME_STEP
from ludoteca.envs.engine.legality import Kernel, make_legality
from ludoteca.envs.engine.step_rules import make_step_rules
from ludoteca.envs.game import Game
from ludoteca.envs.jit import factory, kernel

# Values of `episode.status`: what remains to be done for the game in this step.
RESET, REJECTED, SCORED = range(3)


@factory()
def make_step_together(game: Game, choose: Kernel | None, reset_finished: Kernel) -> Kernel:
    """Return the kernel `step_rows(batch, options, thread, lo, hi)`; see `Stepper.step`.

    Args:
        game: a game with `Game.many`.
        choose: policy of the compiled opponents, or None.
        reset_finished: `reset_finished(s, episode, history, scratch, seat_rule)` resets a game in
            the step that ended it.
    """
    assert game.many is not None
    player: Any = game.player  # None in simultaneous games
    policy: Any = choose
    play_many, end = game.many.play, game.many.end
    is_terminal, returns = game.is_terminal, game.returns
    simultaneous, players, has_opponents = game.simultaneous, game.num_players, choose is not None
    legality, rules = make_legality(game), make_step_rules(game, choose)
    legal_actions, validate_action = legality.legal_actions, legality.validate_action
    is_over_before_agent_acts = legality.is_over_before_agent_acts
    reset, clear_rewards, select_reward = rules.reset, rules.clear_rewards, rules.select_reward
    score, opponents_act, observe = rules.score, rules.opponents_act, rules.observe
    begin = rules.begin_many

    @kernel
    def begin_row(s: Any, episode: Any, row: Any, masks: Any, history: Any, scratch: Any,
                  seat_rule: int, illegal_rule: int) -> None:  # fmt: skip
        """Reset a game that is over, or note the agent's action."""
        episode.playing = False
        if episode.over:
            episode.status = RESET
            clear_rewards(episode)
            reset(s, episode, history, seat_rule)
            return
        episode.status = SCORED
        episode.mover = 0 if simultaneous else int(player(s))
        if has_opponents and is_over_before_agent_acts(s, episode):
            episode.illegal = False
        elif validate_action(s, episode, row, masks, scratch, illegal_rule):
            if simultaneous:
                returns(s, episode.rewards)  # those before the step, until it is scored
            opponents_act(s, episode, scratch)
            begin(s, scratch.joint, history)
            episode.playing = True
        else:
            episode.status = REJECTED

    @kernel
    def opponent_begins(s: Any, episode: Any, history: Any, scratch: Any) -> bool:
        """Note the action of a compiled opponent, if one is to move."""
        # Nested: in simultaneous games `player` is None and must not be compiled.
        if has_opponents and not simultaneous:  # noqa: SIM102
            if not is_terminal(s) and player(s) != episode.seat:
                p = player(s)
                n = legal_actions(s, p, scratch.legal)
                scratch.joint[p] = policy(s, p, scratch.legal, n, episode.rng)
                begin(s, scratch.joint, history)
                return True
        return False

    @kernel
    def score_row(s: Any, episode: Any, scratch: Any) -> None:
        """Write the rewards of a game."""
        if episode.status == SCORED:
            for p in range(players):
                scratch.returns_before[p] = episode.rewards[p]
            score(s, episode, scratch.returns_before)
        if episode.status != RESET:
            select_reward(episode, episode.mover)

    @kernel
    def step_rows(batch: Any, options: Any, thread: int, lo: int, hi: int) -> None:
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
            begin_row(
                states[i], episodes[i], actions[i], masks[i], history[i], scratch,
                seat_rule, illegal_rule,
            )  # fmt: skip
        is_playing = True
        while is_playing:
            play_many(states, episodes.playing, lo, hi)
            is_playing = False
            for i in range(lo, hi):
                s, episode = states[i], episodes[i]
                if episode.playing:
                    end(s)
                episode.playing = opponent_begins(s, episode, history[i], scratch)
                is_playing = is_playing or episode.playing
        for i in range(lo, hi):
            s, episode = states[i], episodes[i]
            score_row(s, episode, scratch)
            if autoreset == SAME_STEP and episode.over:
                observe(s, episode, final_observations[i], masks[i], scratch.legal)
                reset_finished(s, episode, history[i], scratch, seat_rule)
            observe(s, episode, observations[i], masks[i], scratch.legal)

    return step_rows
