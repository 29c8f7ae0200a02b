"""Session of interactive games: history of the current game, players, undo and saving."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from ludoteca.envs.game import Game
from ludoteca.envs.names import did_you_mean
from ludoteca.envs.render.status import player_name
from ludoteca.envs.replay import Replay
from ludoteca.envs.validation import next_seed
from ludoteca.evaluate.play.history import GameHistory

HUMAN = "human"


class Session(GameHistory):
    """Consecutive sequential games with the same rules, with the history of the current game.

    Attributes:
        players: `HUMAN` or the name of an agent, by seat.
        seed: seed of the current game; the next game has the next seed.
    """

    def __init__(self, game: Game, players: Sequence[str], seed: int = 0):
        """Start the first game.

        Raises:
            ValueError: if the game is simultaneous, the number of players is wrong, or the seed is
                out of range.
        """
        if game.simultaneous:
            raise ValueError(f"{game.name} is simultaneous: only sequential games can be played")
        if len(players) != game.num_players:
            has = f"{game.num_players} player{'s' * (game.num_players != 1)}"
            raise ValueError(f"{game.short_spec} has {has}, got {len(players)}")
        super().__init__(game, seed)
        self.players = tuple(players)

    @property
    def waits_for_human(self) -> bool:
        """Whether a human is to move."""
        mover = self.mover
        return mover is not None and self.players[mover] == HUMAN

    def play_named(self, names: Sequence[str]) -> None:
        """Play actions by their names.

        Raises:
            ValueError: at the first unknown or illegal name; the earlier actions have been played.
        """
        for name in names:
            self.play(find_action(self.game, name, self.legal()))

    def undo(self) -> bool:
        """Return to the last decision of a human, or one ply back if there are only agents.

        Returns:
            Whether there was an action to undo.
        """
        decisions = [
            k
            for k in range(len(self.actions))
            if HUMAN not in self.players or self.players[self.mover_at(k)] == HUMAN
        ]
        if not decisions:
            return False
        self.truncate(decisions[-1])
        return True

    def restart(self) -> None:
        """Start the next game."""
        self.seed = next_seed(self.seed)
        self.positions, self.actions = [self.game.new(self.seed)], []

    def replay(self) -> Replay:
        """Return the game so far."""
        return self.to_replay(self.players)

    def save(self, path: Path | None = None) -> Path:
        """Write the game so far to a file, by default named after the game and the time.

        Returns:
            The file.

        Raises:
            OSError: if it cannot be written.
        """
        path = path or Path(f"{self.game.name}_{datetime.now():%Y%m%d_%H%M%S}.json")
        self.replay().save(path)
        return path


def find_action(game: Game, text: str, legal: Sequence[int]) -> int:
    """Return the legal action with the name `text`, in upper or lower case.

    Raises:
        ValueError: if there is none.
    """
    lower_name = text.lower()
    for action in legal:
        if game.action_names[action].lower() == lower_name:
            return action
    if lower_name in (name.lower() for name in game.action_names):
        raise ValueError(f"{text} is illegal here")
    hint = did_you_mean(text, [game.action_names[action] for action in legal])
    raise ValueError(
        f"there is no move {text!r}{hint} in {game.name}; moves look like {_example_names(game)}"
    )


def seat_name(session: Session, seat: int) -> str:
    """Return the name of a player and who plays it, such as `"black (human)"`."""
    return f"{player_name(session.game, seat)} ({session.players[seat]})"


def _example_names(game: Game) -> str:
    names = game.action_names
    return ", ".join(dict.fromkeys((names[0], names[len(names) // 2], names[-1])))
