"""Game of the arena: seats, turns, undo and redo, analyses, and the clients that show it."""

from collections.abc import Callable, Sequence
from typing import Any

from ludoteca.envs.game import Game
from ludoteca.envs.replay import Replay
from ludoteca.envs.serialization import state_to_json, states_to_bytes
from ludoteca.evaluate.arena.advice import Advice
from ludoteca.evaluate.arena.job import Progress
from ludoteca.evaluate.arena.requests import AnalysisRequest, RequestKind
from ludoteca.evaluate.arena.turns import Turns
from ludoteca.evaluate.arena.views import GameViews
from ludoteca.evaluate.arena.worker import SearchWorkers
from ludoteca.evaluate.play.history import GameHistory
from ludoteca.evaluate.play.session import HUMAN

Client = Callable[[dict[str, Any]], None]  # sends a message to one browser window
MAX_CLIENTS = 32


class ArenaGame:
    """One game of the arena. All methods run in the event loop.

    Attributes:
        name: identifier of this game in URLs.
        game: the rules.
        seats: `HUMAN` or the spec string of an agent, by player.
        history: positions and actions so far.
        undone: actions that `redo` plays again, the next one last.
        analyses: agents' analyses of their own moves, by ply, from `analysis_payload`.
        advice: the adviser, its analyses, and the positions that it will analyze.
        move_delay: seconds between moves of agents.
        clock: seconds for each step of a simultaneous game; 0: wait for all people.
        ponder: whether agents search while a person is to move; this concerns only agents that
            reuse their search tree.
        paused: whether no agent moves.
        failure: message about the agent's failure that has stopped the game, or "".
        compiling: message while a worker compiles, or "".
        thinking: the seat whose agent computes, or None.
        round: number of earlier games under this name; a restart or a new position adds one.
        start_position: position that was set up, from `states_to_bytes`; None for the start of the
            rules.
        workers: the processes that search.
        views: cached views of the positions, as JSON values.
        turns: the turns of people and agents.
    """

    def __init__(
        self,
        name: str,
        game: Game,
        seats: Sequence[str],
        workers: SearchWorkers,
        *,
        adviser: str = "",
        seed: int = 0,
        move_delay: float = 0.5,
        clock: float = 0.0,
    ):
        """Begin a game; `start` lets the agents move.

        Args:
            name: identifier of this game in URLs.
            game: the rules.
            seats: `HUMAN` or the spec string of an agent, by player.
            workers: the processes that search.
            adviser: spec string of the agent for hints and analyses; "" for none.
            seed: seed of the game.
            move_delay: seconds between moves of agents.
            clock: seconds for each step of a simultaneous game; 0: wait for all people.

        Raises:
            ValueError: if the number of seats is wrong, or the seed is out of range.
        """
        if len(seats) != game.num_players:
            raise ValueError(
                f"{game.short_spec} has {game.num_players} players, got {len(seats)} seats"
            )
        self.name, self.game, self.seats = name, game, list(seats)
        self.move_delay, self.clock, self.ponder = move_delay, clock, False
        self.history = GameHistory(game, seed)
        self.undone: list[Any] = []
        self.analyses: dict[int, dict[str, Any]] = {}
        self.failure = self.compiling = ""
        self.thinking: int | None = None
        self.round = 0
        self.start_position: bytes | None = None
        self.workers = workers
        self.views = GameViews(game)
        self.advice = Advice(self, adviser)
        self.turns = Turns(self)
        self.paused = game.simultaneous and HUMAN in self.seats
        self._clients: list[Client] = []

    # Clients.

    def add_client(self, client: Client) -> None:
        """Send the present state and all later messages to a client.

        Raises:
            ValueError: if there are too many clients.
        """
        if len(self._clients) >= MAX_CLIENTS:
            raise ValueError(f"{MAX_CLIENTS} windows show this game already")
        self._clients.append(client)
        client({"type": "board", **self.views.board()})
        client(self.state())

    def remove_client(self, client: Client) -> None:
        """Remove a client; it receives no further messages."""
        if client in self._clients:
            self._clients.remove(client)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to all clients."""
        for client in list(self._clients):
            client(message)

    def state(self) -> dict[str, Any]:
        """Return the state of the game as a message."""
        history = self.history
        ply = len(history.actions)
        return {
            "type": "state",
            "seats": self.seats,
            "ply": ply,
            "position": self.position(ply),
            "moves": self.views.action_names(history),
            "over": history.is_over,
            "returns": history.returns(),
            "to_act": list(history.players_to_act),
            "legal_by_player": self._legal_by_player(),
            "chosen": {str(p): a for p, a in self.turns.chosen.items()},
            "can_undo": ply > 0,
            "can_redo": bool(self.undone),
            "paused": self.paused,
            "move_delay": self.move_delay,
            "clock": self.clock,
            "ponder": self.ponder,
            "thinking": self.thinking,
            "compiling": self.compiling,
            "failure": self.failure,
            "seed": history.seed,
            "set_up": self.start_position is not None,
            "adviser": self.advice.agent,
            "analyses": self.analyses_by_ply(),
        }

    def position(self, ply: int) -> dict[str, Any]:
        """Return the view of a position of the game.

        Raises:
            ValueError: if the game is shorter.
        """
        return self.views.position(self.history, ply)

    def analyses_by_ply(self) -> dict[str, Any]:
        """Return one analysis per position: the adviser's, or else that of an agent to move."""
        plies = self.analyses | self.advice.analyses
        return {str(ply): plies[ply] for ply in sorted(plies) if ply <= len(self.history.actions)}

    def _legal_by_player(self) -> dict[str, list[int]]:
        """Return the legal actions in a simultaneous game; in others they are in `position`."""
        if not self.game.simultaneous:
            return {}
        return {str(p): self.history.legal(p) for p in self.history.players_to_act}

    # Changes.

    def start(self) -> None:
        """Let the agents move."""
        self.turns.begin()

    def play(self, action: Any) -> None:
        """Play an action of the player to move, or a joint action.

        Raises:
            ValueError: if it is illegal.
        """
        self.history.play(action)
        # After a repetition of the undone action, those that followed it can still be redone.
        if self.undone and self.undone[-1] == action:
            self.undone.pop()
        else:
            self.undone.clear()
        self.changed()

    def undo(self, ply: int | None = None) -> None:
        """Go back to a ply, by default to the last decision of a person.

        A game without decisions of people so far goes back one ply. The game pauses if it is
        simultaneous, or an agent is to move at the ply.

        Raises:
            ValueError: if there is nothing to undo.
        """
        plies = len(self.history.actions)
        if ply is None:
            decisions = [k for k in range(plies) if self._person_acts(k)]
            ply = decisions[-1] if decisions else plies - 1
        if not 0 <= ply < plies:
            raise ValueError("there is nothing to undo")
        self.undone += reversed(self.history.actions[ply:])
        self.truncate(ply)
        self.paused = self.game.simultaneous or not self._person_acts(ply)
        self.failure = ""
        self.changed()

    def redo(self) -> None:
        """Play the undone actions again, up to the next decision of a person.

        Raises:
            ValueError: if no action was undone.
        """
        if not self.undone:
            raise ValueError("there is nothing to redo")
        while self.undone:
            self.history.play(self.undone.pop())
            if self.history.is_over or self._person_acts(len(self.history.actions)):
                break
        self.changed()

    def restart(self, seed: int | None = None) -> None:
        """Begin another game; its seed is by default that of the present game plus 1.

        Raises:
            ValueError: if the seed is out of range.
        """
        self.history = GameHistory(self.game, self.history.seed + 1 if seed is None else seed)
        self.start_position = None
        self._reset()

    def set_up(self, start: Any) -> None:
        """Begin a game from a validated position, a NumPy record."""
        history = GameHistory(self.game, self.history.seed, start)
        self.start_position = states_to_bytes(self.game, start.reshape(1))
        self.history = history
        self._reset()

    def open_replay(self, replay: Replay) -> None:
        """Show the game of a validated replay instead, paused at its end.

        The present game must not have begun from a position that was set up.
        """
        self.history = GameHistory(self.game, replay.seed)
        for action in replay.actions:
            self.history.play(action if isinstance(action, int) else tuple(action))
        self._reset()
        self.paused = True
        self.changed()

    def set_seats(self, seats: Sequence[str]) -> None:
        """Replace the players, and drop the analyses of agents that no longer play."""
        self.seats = list(seats)
        self.analyses = {k: a for k, a in self.analyses.items() if a["agent"] in self.seats}
        self.changed()

    def set_paused(self, paused: bool) -> None:
        """Pause or continue the moves of agents; a failure is cleared."""
        self.paused, self.failure = paused, ""
        self.changed()

    def truncate(self, ply: int) -> None:
        """Remove the actions after the first `ply`, and views and analyses of later positions."""
        self.history.truncate(ply)
        self.views.truncate(ply)
        for analyses in (self.analyses, self.advice.analyses):
            for later in [k for k in analyses if k > ply]:
                del analyses[later]

    def changed(self) -> None:
        """Send the new state, and begin the next turn."""
        self.turns.begin()
        self.send(self.state())

    async def stop(self) -> None:
        """Stop the searches of this game.

        A stopped tree search plays the best move that it has found; any other agent that is
        stopped pauses the game.
        """
        self.advice.queue.clear()
        for owner in (f"{self.name}/play", f"{self.name}/advice"):
            await self.workers.stop(owner)

    def close(self) -> None:
        """End all work on this game."""
        self.turns.end()
        self.advice.end()
        self.send({"type": "closed"})
        self._clients.clear()

    # Requests to workers.

    async def analyze(
        self,
        role: str,
        agent: str,
        ply: int,
        seat: int,
        progress: Progress,
        is_wanted: Callable[[], bool],
        kind: RequestKind = "analysis",
    ) -> dict[str, Any]:
        """Return an agent's answer about a position; see `SearchWorker.handle`.

        Args:
            role: `"play"` or `"advice"`; each role has its own agents in the workers.
            agent: spec string of the agent.
            ply: number of plies before the position.
            seat: the player to act.
            progress: called with intermediate analyses.
            is_wanted: returns whether the answer is still wanted.
            kind: kind of the request; see `AnalysisRequest`.
        """
        owner = f"{self.name}/{role}"
        request = AnalysisRequest(
            owner=owner,
            game=self.game.spec,
            agent=agent,
            seed=self.history.seed,
            start=self.start_position,
            actions=tuple(self.history.actions[:ply]),
            seat=seat,
            round=self.round,
            kind=kind,
        )

        def report(message: dict[str, Any]) -> None:
            if "compiling" in message:
                self.compiling = message["compiling"]
                self.send({"type": "compiling", "text": self.compiling})
            elif is_wanted():
                progress(message["progress"])

        return await self.workers.of(owner).handle(request, report, is_wanted)

    # Files.

    def to_replay(self) -> Replay:
        """Return the game so far.

        Raises:
            ValueError: if it began from a position that was set up.
        """
        if self.start_position is not None:
            raise ValueError(
                "a game from a position that was set up has no replay: replays begin at the start"
            )
        return self.history.to_replay(self.seats)

    def position_json(self, ply: int) -> str:
        """Return a position as JSON text.

        Raises:
            ValueError: if the game is shorter.
        """
        return state_to_json(self.game, self.position_at(ply))

    def position_at(self, ply: int) -> Any:
        """Return the position after a number of plies, a NumPy record.

        Raises:
            ValueError: if the game is shorter.
        """
        if not 0 <= ply < len(self.history.positions):
            raise ValueError(f"ply must be from 0 to {len(self.history.positions) - 1}, got {ply}")
        return self.history.positions[ply]

    def summary(self) -> dict[str, Any]:
        """Return what a list of games shows of this one, as JSON values."""
        history = self.history
        return {
            "id": self.name,
            "title": self.game.title,
            "spec": self.game.spec,
            "seats": self.seats,
            "ply": len(history.actions),
            "over": history.is_over,
            "paused": self.paused,
        }

    def _person_acts(self, ply: int) -> bool:
        return any(self.seats[p] == HUMAN for p in self.history.players_to_act_at(ply))

    def _reset(self) -> None:
        """Reset what belongs to the earlier game, after a change of history; send the new state.

        A simultaneous game with people waits until one of them chooses an action.
        """
        self.undone.clear()
        self.analyses.clear()
        self.advice.analyses.clear()
        self.views = GameViews(self.game)
        self.failure, self.round = "", self.round + 1
        self.paused = self.game.simultaneous and HUMAN in self.seats
        self.changed()
