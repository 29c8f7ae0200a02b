"""Server of the arena: the page, an HTTP API, and a web socket for each window that shows a game.

In URLs, a "game" is a registered game, and a "board" is an open `ArenaGame`.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ludoteca.envs.formats.registry import write_games
from ludoteca.evaluate.arena.arena_game import ArenaGame
from ludoteca.evaluate.arena.commands import run_command
from ludoteca.evaluate.arena.lobby import ADVISER, Lobby
from ludoteca.evaluate.arena.replay_page import replay_page
from ludoteca.evaluate.arena.runs import Run, RunViews, find_runs, read_replay
from ludoteca.evaluate.arena.security import LOOPBACK, Guard, close_reason
from ludoteca.files import parse_json

MAX_BODY = 512 << 10  # bytes of a request
MAX_MESSAGE = 64 << 10  # characters of a command
MAX_ERROR_LENGTH = 1_000  # characters of an error that is sent to the page
MAX_UNSENT = 2_000  # messages that may wait for a client; then it receives no further ones
BOARD_CLOSED = 4404  # close code of the web socket of a closed game; connection.js has it, too
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def make_app(
    agents: Sequence[str] = (),
    *,
    num_workers: int = 2,
    adviser: str = ADVISER,
    runs: Sequence[Path] = (),
    sheets: Sequence[Path] = (),
    hosts: tuple[str, ...] = LOOPBACK,
    token: str = "",
) -> Starlette:
    """Return the ASGI application.

    Args:
        agents: spec strings of the agents that the page may start, see `Lobby`.
        num_workers: number of processes that search.
        adviser: spec string of the agent for hints and analyses.
        runs: run folders of trainings, tournaments and matches, or folders with such folders,
            which the page may show.
        sheets: files of rule sheets that the page offers, beside those of this package.
        hosts: host names that requests may be addressed to.
        token: secret that requests need, see `Guard`; "" for none.
    """
    lobby = Lobby(agents, num_workers, adviser, sheets)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        lobby.close()

    app = Starlette(
        routes=[
            Route("/", index),
            Route("/static/{name}", static),
            Route("/api/games", games),
            Route("/api/games/{name}", form, methods=["POST"]),
            Route("/api/boards", boards),
            Route("/api/boards", open_board, methods=["POST"]),
            Route("/api/boards/{board}", close_board, methods=["DELETE"]),
            Route("/api/boards/{board}/replay.json", replay_json),
            Route("/api/boards/{board}/replay.html", replay_html),
            Route("/api/boards/{board}/replay.{suffix}", replay_record),
            Route("/api/replays", open_replay, methods=["POST"]),
            Route("/api/runs", run_list),
            Route("/api/runs/{run}", run_view),
            Route("/api/runs/{run}/replays/{number:int}", open_run_replay, methods=["POST"]),
            WebSocketRoute("/ws/{board}", follow),
        ],
        middleware=[Middleware(Guard, hosts=hosts, token=token)],
        exception_handlers={ValueError: _bad_request, HTTPException: _http_error},
        lifespan=lifespan,
    )
    app.state.lobby = lobby
    app.state.run_folders = tuple(runs)
    app.state.run_views = RunViews()
    return app


async def index(request: Request) -> Response:
    """Return the HTML page."""
    return _file("index.html")


async def static(request: Request) -> Response:
    """Return a file of the page; its name is looked up in a table, not on the disk."""
    return _file(request.path_params["name"])


async def games(request: Request) -> Response:
    """Return all registered games."""
    return JSONResponse(await asyncio.to_thread(_lobby(request).catalog.games))


async def form(request: Request) -> Response:
    """Return the form of a game and the agents that play it with the parameters of the request.

    `analysis` says whether the adviser plays it.
    """
    name, lobby = request.path_params["name"], _lobby(request)
    fields = await asyncio.to_thread(lobby.catalog.form, name)
    game = await asyncio.to_thread(lobby.catalog.game, name, await _body(request))
    agents = [entry for entry in await lobby.playable(game) if entry["spec"] in lobby.agents]
    playable = await lobby.playable(game)
    return JSONResponse(
        {
            "fields": fields,
            "spec": game.spec,
            "players": game.num_players,
            "simultaneous": game.simultaneous,
            "agents": agents,
            "analysis": any(entry["spec"] == lobby.adviser for entry in playable),
        }
    )


async def boards(request: Request) -> Response:
    """Return the open games."""
    return JSONResponse([game.summary() for game in _lobby(request).games.values()])


async def open_board(request: Request) -> Response:
    """Open a game from a form."""
    game = await _lobby(request).open(await _body(request))
    return JSONResponse(game.summary(), 201)


async def open_replay(request: Request) -> Response:
    """Open a game that shows a replay: game number `game` of the text in the body, by default 1."""
    try:
        text = (await _bytes(request)).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"not a replay: {error}") from None
    number = request.query_params.get("game", "1")
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        raise ValueError(f"expected the number of a game, got {number!r:.40}")
    lobby = _lobby(request)
    await asyncio.to_thread(lobby.catalog.check_replay, text)
    game, notes = await lobby.open_replay(text, int(number))
    return JSONResponse(game.summary() | {"notes": notes}, 201)


async def close_board(request: Request) -> Response:
    """Close a game."""
    game = _game(request)
    _lobby(request).close_game(game.name)
    return JSONResponse({})


async def replay_json(request: Request) -> Response:
    """Return the replay of a game."""
    game = _game(request)
    name = f"{game.game.name}_{game.history.seed}.json"
    return Response(
        game.to_replay().to_json() + "\n",
        media_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def replay_record(request: Request) -> Response:
    """Return the replay of a game as SGF, GGF or a transcript, by the suffix in the URL."""
    game, suffix = _game(request), f".{request.path_params['suffix']}"
    text = await asyncio.to_thread(write_games, [game.to_replay()], suffix)
    name = f"{game.game.name}_{game.history.seed}{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/plain", headers=headers)


async def replay_html(request: Request) -> Response:
    """Return the replay of a game as a page that needs no server."""
    game = _game(request)
    page = await asyncio.to_thread(replay_page, game.to_replay())
    name = f"{game.game.name}_{game.history.seed}.html"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(page, media_type="text/html", headers=headers)


async def run_list(request: Request) -> Response:
    """Return the identifiers, names and kinds of the runs."""
    runs = await asyncio.to_thread(find_runs, request.app.state.run_folders)
    return JSONResponse([{"id": run.id, "name": run.path.name, "kind": run.kind} for run in runs])


async def run_view(request: Request) -> Response:
    """Return the description of a run, see `RunViews`."""
    run, views = await _run(request), request.app.state.run_views
    try:
        return JSONResponse(await asyncio.to_thread(views.view, run))
    except OSError as error:
        raise HTTPException(404, f"the run cannot be read: {error.strerror}") from None


async def open_run_replay(request: Request) -> Response:
    """Open a game that shows a replay of a run, by its number in the list of the run."""
    run = await _run(request)
    try:
        text = await asyncio.to_thread(read_replay, run, request.path_params["number"])
    except OSError as error:
        raise HTTPException(404, f"the replay cannot be read: {error.strerror}") from None
    game, notes = await _lobby(request).open_replay(text)
    return JSONResponse(game.summary() | {"notes": notes}, 201)


async def follow(socket: WebSocket) -> None:
    """Send all changes of a game to a client, and run its commands."""
    lobby: Lobby = socket.app.state.lobby
    game = lobby.games.get(socket.path_params["board"])
    if game is None:
        await socket.close(BOARD_CLOSED, "this game is closed")
        return
    await socket.accept()
    unsent: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(MAX_UNSENT)
    closing: list[asyncio.Task[None]] = []  # asyncio itself keeps no references to tasks

    def send(message: dict[str, Any]) -> None:
        try:
            unsent.put_nowait(message)
        except asyncio.QueueFull:  # the client no longer reads; it may connect again
            game.remove_client(send)
            # IANA's registry of close codes: 1013, try again later; 1008, policy violation.
            closing.append(asyncio.create_task(socket.close(1013, "too many unread messages")))

    sender = asyncio.create_task(_send_all(socket, unsent))
    try:
        game.add_client(send)
        while True:
            await _run_command(lobby, game, await socket.receive_text(), send)
    except ValueError as error:
        await socket.close(1008, close_reason(str(error)))
    except (WebSocketDisconnect, RuntimeError):  # the client has closed the socket
        pass
    finally:
        game.remove_client(send)
        sender.cancel()


async def _run_command(lobby: Lobby, game: ArenaGame, text: str, send: Any) -> None:
    """Run the command in a message; errors are sent to its sender."""
    if len(text) > MAX_MESSAGE:
        send({"type": "error", "text": f"a command has at most {MAX_MESSAGE} characters"})
        return
    try:
        await run_command(lobby, game, parse_json(text), send)
    except ValueError as error:
        send({"type": "error", "text": str(error)[:MAX_ERROR_LENGTH]})


async def _send_all(socket: WebSocket, unsent: asyncio.Queue[Any]) -> None:
    """Send messages until the client closes the socket."""
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.send_json(await unsent.get())


@cache
def static_files() -> dict[str, bytes]:
    """Return the files of the page by name."""
    folder = resources.files("ludoteca.evaluate.arena") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _file(name: str) -> Response:
    content = static_files().get(name)
    if content is None:
        raise HTTPException(404, f"there is no file {name:.80}")
    return Response(content, media_type=TYPES.get(PurePosixPath(name).suffix, "text/plain"))


def _lobby(request: Request) -> Lobby:
    lobby: Lobby = request.app.state.lobby
    return lobby


def _game(request: Request) -> ArenaGame:
    game = _lobby(request).games.get(request.path_params["board"])
    if game is None:
        raise HTTPException(404, "this game is closed")
    return game


async def _run(request: Request) -> Run:
    """Return the run of a request: its identifier is looked up among the existing runs."""
    for run in await asyncio.to_thread(find_runs, request.app.state.run_folders):
        if run.id == request.path_params["run"]:
            return run
    raise HTTPException(404, "there is no such run")


async def _body(request: Request) -> Any:
    return parse_json(await _bytes(request))


async def _bytes(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        HTTPException: if it is too large.
    """
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MAX_BODY:
            raise HTTPException(413, f"a request has at most {MAX_BODY} bytes")
    return content


async def _bad_request(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)[:MAX_ERROR_LENGTH]}, 400)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)
