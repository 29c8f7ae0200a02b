"""Lobby of the arena: open games, available agents, and new games."""

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ludoteca.agents.shipped import shipped_networks
from ludoteca.envs.formats.registry import read_games
from ludoteca.envs.game import Game
from ludoteca.envs.params import check_integer, check_real
from ludoteca.envs.registry import make_game
from ludoteca.envs.validation import MAX_SEED
from ludoteca.evaluate.arena.arena_game import ArenaGame
from ludoteca.evaluate.arena.catalog import Catalog
from ludoteca.evaluate.arena.requests import AgentsRequest
from ludoteca.evaluate.arena.worker import SearchWorkers
from ludoteca.evaluate.play.session import HUMAN

DEFAULT_AGENTS = (
    "random", "greedy", "flat", "heuristic", "deterministic",
    "mcts:simulations=1000", "mcts:simulations=1000,reuse=True", "openspiel",
)  # fmt: skip
ADVISER = "mcts:simulations=20000"
MAX_GAMES = 24
MAX_SIMULATIONS = 1_000_000
MAX_SECONDS = 60.0  # of the delay between moves, and of the clock
MAX_CACHED_LISTS = 1_000  # lists of agents by game; the page can ask for any parameters of a game


class Lobby:
    """Registry of the open games, and of the agents that the page may start.

    Attributes:
        agents: spec strings of the agents that the page may start.
        adviser: spec string of the agent for hints and analyses.
        catalog: the games that the page offers.
        games: the open games by name.
        workers: the processes that search.
    """

    def __init__(
        self,
        agents: Sequence[str] = (),
        num_workers: int = 2,
        adviser: str = ADVISER,
        sheets: Sequence[Path] = (),
    ):
        """Open the lobby; no process is started yet.

        Args:
            agents: spec strings of the agents that the page may start; by default those that need
                no file, and the networks that come with the package.
            num_workers: number of processes that search.
            adviser: spec string of the agent for hints and analyses.
            sheets: files of rule sheets that the page offers, beside those of this package.

        Raises:
            ValueError: if a sheet does not exist.
        """
        self.adviser, self.catalog = adviser, Catalog(sheets)
        self.agents = tuple(agents) or (*DEFAULT_AGENTS, *shipped_networks())
        self.games: dict[str, ArenaGame] = {}
        self.workers = SearchWorkers(check_integer("workers", num_workers, 1, 64))
        self._playable: dict[str, list[dict[str, Any]]] = {}

    async def playable(self, game: Game) -> list[dict[str, Any]]:
        """Return the agents that can play a game, see `requests.playable`."""
        if game.spec not in self._playable:
            request = AgentsRequest(game.spec, (self.adviser, *self.agents))
            answer = await self.workers.handle(request)
            if "agents" not in answer:
                raise ValueError(f"the agents could not be made: {answer}")
            if len(self._playable) > MAX_CACHED_LISTS:
                self._playable.clear()
            self._playable[game.spec] = answer["agents"]
        return self._playable[game.spec]

    async def open(self, form: Any) -> ArenaGame:
        """Return a new game, from the fields of a form.

        `game` and `params` name the game; `seats` has for each player `"human"`, a spec string of
        `agents`, or `{"agent": spec, "simulations": n}` for another number of simulations; `seed`,
        `move_delay` (seconds between moves of agents) and `clock` are those of `ArenaGame`.

        Raises:
            ValueError: if a field is wrong.
        """
        if not isinstance(form, dict):
            raise ValueError(f"expected the fields of a form, got {form!r:.80}")
        game = await asyncio.to_thread(self.catalog.game, form.get("game"), form.get("params", {}))
        seats = await self.seats(game, form.get("seats"))
        seed = check_integer("seed", form.get("seed", 0), 0, MAX_SEED)
        return await self._add(
            game,
            seats,
            seed=seed,
            move_delay=check_real("move_delay", form.get("move_delay", 0.5), 0, MAX_SECONDS),
            clock=check_real("clock", form.get("clock", 0), 0, MAX_SECONDS),
        )

    async def open_replay(self, text: str, number: int = 1) -> tuple[ArenaGame, tuple[str, ...]]:
        """Return a game that shows a replay, with people in all seats, and notes about the text.

        Args:
            text: a replay in JSON, SGF, GGF or a transcript.
            number: number of the game in a text with several games, from 1.

        Raises:
            ValueError: if the text has no replay of a registered game, or fewer games.
        """
        records = await asyncio.to_thread(read_games, text)
        check_integer("the number of the game", number, 1, len(records))
        replay, notes = records[number - 1].replay, records[number - 1].notes
        game = make_game(replay.game)
        seats = [HUMAN] * game.num_players
        arena_game = await self._add(game, seats, seed=0, move_delay=0.5, clock=0)
        arena_game.open_replay(replay)
        return arena_game, notes

    async def seats(self, game: Game, seats: Any) -> list[str]:
        """Return `HUMAN` or a spec string for each seat of a form; see `open`.

        Raises:
            ValueError: if a seat has neither a person nor an agent that plays the game.
        """
        if not isinstance(seats, list) or len(seats) != game.num_players:
            raise ValueError(f"{game.short_spec} has {game.num_players} seats, got {seats!r:.200}")
        if all(seat == HUMAN for seat in seats):
            return seats
        known = {entry["spec"]: entry for entry in await self.playable(game)}
        return [HUMAN if seat == HUMAN else self._agent(game, seat, known) for seat in seats]

    def _agent(self, game: Game, seat: Any, known: dict[str, dict[str, Any]]) -> str:
        """Return the spec string of a seat: an agent of `known`, with the chosen simulations."""
        simulations = None
        if isinstance(seat, dict):
            seat, simulations = seat.get("agent"), seat.get("simulations")
        if not isinstance(seat, str) or seat not in known or seat not in self.agents:
            names = ", ".join(name for name in known if name in self.agents)
            raise ValueError(f"no agent {seat!r:.80} for {game.short_spec}; available are {names}")
        if simulations is None or known[seat]["simulations"] is None:
            return seat
        return with_simulations(seat, check_integer("simulations", simulations, 1, MAX_SIMULATIONS))

    async def _add(self, game: Game, seats: list[str], **options: Any) -> ArenaGame:
        """Start a game and add it to the open games; `options` are those of `ArenaGame`."""
        if len(self.games) >= MAX_GAMES:
            raise ValueError(f"{MAX_GAMES} games are open already: close one of them first")
        playable = {entry["spec"] for entry in await self.playable(game)}
        adviser = self.adviser if self.adviser in playable else ""
        name = secrets.token_hex(4)
        arena_game = ArenaGame(name, game, seats, self.workers, adviser=adviser, **options)
        self.games[name] = arena_game
        arena_game.start()
        return arena_game

    def close_game(self, name: str) -> None:
        """Close a game.

        Raises:
            KeyError: if no open game has this name.
        """
        self.games.pop(name).close()

    def close(self) -> None:
        """Close all games and end all processes."""
        for name in list(self.games):
            self.close_game(name)
        self.workers.close()


def with_simulations(spec: str, simulations: int) -> str:
    """Return the spec string of an agent with another number of simulations."""
    name, _, params = spec.partition(":")
    others = [item for item in params.split(",") if item and not item.startswith("simulations=")]
    return f"{name}:{','.join([*others, f'simulations={simulations}'])}"
