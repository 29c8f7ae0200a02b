"""Turns of a game of the arena: agents compute and people choose their actions, by the clock."""

import asyncio
from typing import TYPE_CHECKING, Any

from ludoteca.evaluate.play.session import HUMAN

if TYPE_CHECKING:
    from ludoteca.evaluate.arena.arena_game import ArenaGame


class Turns:
    """Scheduler of turns: the beginning of a turn withdraws the turn before it.

    Attributes:
        chosen: actions that people have chosen for the next step of a simultaneous game, by player.
    """

    def __init__(self, game: "ArenaGame"):
        self._game = game
        self.chosen: dict[int, int] = {}
        self._number = 0  # of the present turn; results of a turn with another number are dropped
        self._pondering = False
        self._task: asyncio.Task[None] | None = None
        self._stops: set[asyncio.Task[None]] = set()  # referenced until they are done
        self._all_chosen = asyncio.Event()

    def begin(self) -> None:
        """Begin the turn of the present position; an earlier turn is withdrawn."""
        game = self._game
        self._withdraw()
        self.chosen = {}
        self._all_chosen = asyncio.Event()
        if game.paused and not game.history.actions and game.game.simultaneous:
            self._task = asyncio.create_task(self._prepare(self._number))
        if game.paused or game.failure or game.history.is_over:
            return
        turn = self._joint_turn if game.game.simultaneous else self._single_turn
        self._task = asyncio.create_task(turn(self._number))

    def end(self) -> None:
        """Withdraw the present turn."""
        self._withdraw()

    def choose(self, player: int, action: int) -> None:
        """Choose the next action of a person in a simultaneous game; the last choice counts.

        Raises:
            ValueError: if it is illegal, or the player is not a person.
        """
        self.check_choice(player, action)
        game = self._game
        self.chosen[player] = action
        people = [p for p in game.history.players_to_act if game.seats[p] == HUMAN]
        if all(p in self.chosen for p in people):
            self._all_chosen.set()

    def check_choice(self, player: int, action: int) -> None:
        """Raise a `ValueError` unless a person can choose an action now, see `choose`."""
        game = self._game
        is_to_act = game.game.simultaneous and player in game.history.players_to_act
        if not is_to_act or game.seats[player] != HUMAN:
            raise ValueError(
                f"player {player} has nothing to choose: expected a person who is to act in a "
                "simultaneous game"
            )
        if action not in game.history.legal(player):
            raise ValueError(
                f"action {action} is illegal: the legal actions are {game.history.legal(player)}"
            )

    def _withdraw(self) -> None:
        """End the present turn: stop its search, and drop its answer."""
        game = self._game
        self._number += 1
        if game.thinking is not None or self._pondering:
            game.thinking, self._pondering = None, False
            stop = asyncio.create_task(game.workers.stop(f"{game.name}/play"))
            self._stops.add(stop)
            stop.add_done_callback(self._stops.discard)

    async def _prepare(self, number: int) -> None:
        """Compile the agents' code while the game waits for its start."""
        game = self._game
        for seat, agent in enumerate(game.seats):
            if agent != HUMAN and number == self._number:
                await game.analyze(
                    "play",
                    agent,
                    0,
                    seat,
                    lambda _: None,
                    lambda: number == self._number,
                    "prepare",
                )

    async def _single_turn(self, number: int) -> None:
        """Let the agent to move analyze the position and move; a person sends a command instead."""
        game = self._game
        seat = game.history.mover
        if seat is None:
            return
        if game.seats[seat] == HUMAN:
            if game.ponder:
                await self._ponder(number)
            return
        action = await self._ask(number, seat)
        if action is None or number != self._number:
            return
        game.send(game.state())
        await asyncio.sleep(game.move_delay)
        if number == self._number:
            game.play(action)

    async def _ponder(self, number: int) -> None:
        """Let the agents search while a person is to move."""
        game = self._game
        for seat, agent in enumerate(game.seats):
            if agent != HUMAN and number == self._number:
                self._pondering = True
                await game.analyze(
                    "play",
                    agent,
                    len(game.history.actions),
                    seat,
                    lambda _: None,
                    lambda: number == self._number,
                    "ponder",
                )

    async def _joint_turn(self, number: int) -> None:
        """Collect an action of each player, and play them together."""
        game, history = self._game, self._game.history
        loop = asyncio.get_running_loop()
        begin, acting = loop.time(), history.players_to_act
        joint = [0] * game.game.num_players
        for seat in acting:
            if game.seats[seat] != HUMAN:
                action = await self._ask(number, seat)
                if action is None or number != self._number:
                    return
                joint[seat] = action
        people = [seat for seat in acting if game.seats[seat] == HUMAN]
        if people and game.clock == 0:
            await self._all_chosen.wait()
        else:
            wait = game.clock if people else game.move_delay
            await asyncio.sleep(max(0.0, begin + wait - loop.time()))
        if number != self._number:
            return
        for seat in people:
            joint[seat] = self._choice(seat)
        game.play(tuple(joint))

    def _choice(self, seat: int) -> int:
        """Return the action that a person has chosen.

        A person who has not chosen repeats the last action if it is legal, or else takes the first
        legal action.
        """
        history = self._game.history
        legal = history.legal(seat)
        last = history.actions[-1][seat] if history.actions else legal[0]
        return self.chosen.get(seat, last if last in legal else legal[0])

    async def _ask(self, number: int, seat: int) -> int | None:
        """Return the action of an agent, or None if the turn was withdrawn or the game paused.

        The game pauses if the agent fails, or was stopped without an action.
        """
        game = self._game
        ply = len(game.history.actions)
        game.thinking = seat
        if not game.game.simultaneous:
            game.send(game.state())

        def progress(analysis: dict[str, Any]) -> None:
            game.send({"type": "thinking", "seat": seat, "analysis": analysis})

        answer = await game.analyze(
            "play", game.seats[seat], ply, seat, progress, lambda: number == self._number
        )
        if number != self._number:
            return None
        game.thinking = None
        if "analysis" in answer:
            analysis: dict[str, Any] = answer["analysis"]
            game.analyses[ply] = analysis
            return int(analysis["action"])
        if "failure" in answer:
            game.failure = answer["failure"]
        game.paused = True
        game.send(game.state())
        if "note" in answer:
            game.send({"type": "note", "text": answer["note"]})
        return None
