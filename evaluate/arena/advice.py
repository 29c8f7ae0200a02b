"""Analyses of the positions of an arena game by an adviser, the agent chosen for analyses."""

import asyncio
from typing import TYPE_CHECKING, Any

from ludoteca.evaluate.play.history import GameHistory

if TYPE_CHECKING:
    from ludoteca.evaluate.arena.arena_game import ArenaGame


class Advice:
    """Analyses by an adviser, and the queue of positions that it analyzes one after the other.

    Attributes:
        agent: spec string of the adviser; "" if there is none.
        analyses: finished and intermediate analyses by ply, from `analysis_payload`.
        queue: plies to analyze, the next one first.
    """

    def __init__(self, game: "ArenaGame", agent: str):
        self._game, self.agent = game, agent
        self.analyses: dict[int, dict[str, Any]] = {}
        self.queue: list[int] = []
        self._task: asyncio.Task[None] | None = None
        self._finished: set[int] = set()

    def request(self, plies: list[int]) -> None:
        """Analyze the positions after these numbers of plies, before those of earlier requests.

        Raises:
            ValueError: if there is no adviser, or the game is shorter.
        """
        if not self.agent:
            raise ValueError("the adviser that the arena was started with cannot play this game")
        # An undone move drops analyses, but not their plies in `_finished`.
        finished = {k for k in self._finished if k in self.analyses}
        unfinished = [k for k in self._valid(plies) if k not in finished]
        last = len(self._game.history.actions)
        waiting = [k for k in self.queue if k not in unfinished and k <= last]
        self.queue = [*unfinished, *waiting]
        if unfinished and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._work())

    def end(self) -> None:
        """Cancel all analyses."""
        self.queue.clear()
        if self._task is not None:
            self._task.cancel()

    def _valid(self, plies: list[int]) -> list[int]:
        """Return valid plies, without that of a finished game's last position."""
        history = self._game.history
        last = len(history.actions)
        if not all(0 <= ply <= last for ply in plies):
            raise ValueError(f"plies must be from 0 to {last}, got {plies}")
        return [ply for ply in plies if not (ply == last and history.is_over)]

    async def _work(self) -> None:
        """Analyze the queue; in a simultaneous game, for the first player to act."""
        game = self._game
        while self.queue:
            ply = self.queue.pop(0)
            history, prefix = game.history, list(game.history.actions[:ply])
            seats = history.players_to_act_at(ply)
            if ply > len(history.actions) or not seats:
                continue
            self._finished.discard(ply)

            def is_wanted(
                ply: int = ply, history: GameHistory = history, prefix: list[Any] = prefix
            ) -> bool:
                """Return whether the game still has this position."""
                return game.history is history and history.actions[:ply] == prefix

            answer = await game.analyze(
                "advice",
                self.agent,
                ply,
                seats[0],
                lambda analysis, ply=ply: self._store(ply, analysis),  # type: ignore[misc]
                is_wanted,
            )
            if "analysis" in answer and is_wanted():
                self._finish(ply, answer)
            # The note of a search that was stopped for the next position is not shown.
            elif "failure" in answer or ("note" in answer and not self.queue):
                text = answer.get("failure") or answer["note"]
                game.send({"type": "note", "text": text})

    def _finish(self, ply: int, answer: dict[str, Any]) -> None:
        """Store the final analysis of a position.

        An analysis that was stopped for that of another position remains unfinished: its position
        is searched again at the next request.
        """
        if answer.get("stopped") and self.queue:
            self._store(ply, answer["analysis"])
            return
        self._finished.add(ply)
        self._store(ply, answer["analysis"] | {"finished": True})

    def _store(self, ply: int, analysis: dict[str, Any]) -> None:
        """Store an analysis and send it to the clients of the game."""
        self.analyses[ply] = analysis
        self._game.send({"type": "analysis", "ply": ply, "analysis": analysis})
