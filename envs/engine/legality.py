"""Kernels (functions that compiled code calls) for legal actions in one game of a batch.

In all of them `s` is the position, `episode` its record of `episode_state_dtype`, and `scratch` the
record of `scratch_dtype` that belongs to the thread. W players observe and act in a step: one in
sequential games (the player to move) and against opponents (the agent), all P players in
simultaneous self-play. `actions` is `[W]`, `masks` is `[W, num_actions]`; row w belongs to the w-th
of these players.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ludoteca.envs.engine.episode_state import LOSE, NO_SEAT, RANDOM
from ludoteca.envs.game import FORFEIT, Game
from ludoteca.envs.jit import factory, kernel
from ludoteca.envs.rng import below

Kernel = Callable[..., Any]
ALL_LEGAL = -1  # returned if no action is illegal


class Legality(NamedTuple):
    """Kernels over one game of a batch.

    Attributes:
        legal_actions: `legal_actions(s, player, legal) -> n` writes the player's legal actions to
            `legal[:n]`; sequential games ignore `player`.
        is_over_before_agent_acts: `is_over_before_agent_acts(s, episode) -> bool`: whether the
            first moves of the opponents ended a sequential game, so that the agent cannot act.
        validate_action: `validate_action(s, episode, actions, masks, scratch, illegal_rule) ->
            bool` copies the actions to `scratch.joint` (0 for inactive players; under `RANDOM` a
            legal action in place of an illegal one) and returns whether to apply them. If it
            returns false, an action is illegal and its player has got reward -1.
        find_illegal: `find_illegal(s, episode, actions, masks) -> w` returns the row of the first
            illegal action, or `ALL_LEGAL`.
        find_illegal_in_joint: `find_illegal_in_joint(s, joint, scratch) -> player` returns the
            first player whose action in `joint`, `[P]`, is illegal, or `ALL_LEGAL`; in
            simultaneous games `FORFEIT` is legal.
    """

    legal_actions: Kernel
    is_over_before_agent_acts: Kernel
    validate_action: Kernel
    find_illegal: Kernel
    find_illegal_in_joint: Kernel


@factory()
def make_legality(game: Game) -> Legality:
    """Return the kernels of a game."""
    player: Any = game.player  # None in simultaneous games
    is_active: Any = game.is_active  # None in sequential games
    list_legal, is_terminal = game.legal_actions, game.is_terminal
    simultaneous, players, num_actions = game.simultaneous, game.num_players, game.num_actions

    @kernel
    def legal_actions(s: Any, p: int, legal: Any) -> int:
        if simultaneous:
            return list_legal(s, p, legal)
        return list_legal(s, legal)

    @kernel
    def can_act(s: Any, p: int) -> bool:
        if simultaneous:
            return bool(is_active(s, p))
        return bool(p == player(s))

    @kernel
    def acting_player(s: Any, episode: Any, w: int) -> int:
        """Return the player whose action is in row w."""
        if simultaneous:
            return w if episode.seat == NO_SEAT else int(episode.seat)
        return int(player(s))

    @kernel
    def is_legal(action: int, mask: Any) -> bool:
        return bool(0 <= action < num_actions and mask[action])

    @kernel
    def is_over_before_agent_acts(s: Any, episode: Any) -> bool:
        return bool(not simultaneous and episode.seat != NO_SEAT and is_terminal(s))

    @kernel
    def validate_action(
        s: Any, episode: Any, actions: Any, masks: Any, scratch: Any, illegal_rule: int
    ) -> bool:
        episode.illegal = False
        for w in range(len(actions)):
            p = acting_player(s, episode, w)
            # Nested: in sequential games `is_active` is None and must not be compiled.
            if simultaneous:  # noqa: SIM102
                if not is_active(s, p):
                    scratch.joint[p] = 0
                    continue
            action = actions[w]
            if not is_legal(action, masks[w]):
                if not episode.illegal:
                    episode.rewards[:] = 0
                episode.illegal = True
                episode.rewards[p] = -1
                if illegal_rule == RANDOM:
                    action = scratch.legal[below(episode.rng, legal_actions(s, p, scratch.legal))]
            scratch.joint[p] = action
        if episode.illegal and illegal_rule != RANDOM:
            episode.over = illegal_rule == LOSE
            episode.terminated = episode.over
            return False
        return True

    @kernel
    def find_illegal(s: Any, episode: Any, actions: Any, masks: Any) -> int:
        if not episode.over and not is_over_before_agent_acts(s, episode):
            for w in range(len(actions)):
                if can_act(s, acting_player(s, episode, w)) and not is_legal(actions[w], masks[w]):
                    return w
        return ALL_LEGAL

    @kernel
    def find_illegal_in_joint(s: Any, joint: Any, scratch: Any) -> int:
        for p in range(players):
            if can_act(s, p):
                legal = simultaneous and joint[p] == FORFEIT
                for k in range(legal_actions(s, p, scratch.legal)):
                    legal |= scratch.legal[k] == joint[p]
                if not legal:
                    return p
        return ALL_LEGAL

    return Legality(
        legal_actions,
        is_over_before_agent_acts,
        validate_action,
        find_illegal,
        find_illegal_in_joint,
    )
