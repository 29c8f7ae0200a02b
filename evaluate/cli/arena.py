"""The command `ludoteca arena`."""

import secrets
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from ludoteca.envs.params import integer
from ludoteca.evaluate.cli.options import Agents

LOOPBACK = "127.0.0.1"
Folders = Annotated[tuple[Path, ...], arg(metavar="FOLDER [FOLDER ...]")]


def arena(
    agents: Agents = (),
    adviser: str = "mcts:simulations=20000",
    port: int = 8765,
    host: Annotated[str, arg(metavar="ADDRESS")] = LOOPBACK,
    workers: int = 2,
    runs: Folders = (),
    no_browser: bool = False,
) -> None:
    """Play, watch and analyze all games in the browser.

    Args:
        agents: the agents that the page may start; by default those that need no file, and the
            networks that come with the package.
        adviser: agent for hints and analyses.
        port: port of the server; 0: a free one.
        host: address of the server. On any other than 127.0.0.1, a page needs the token in the
            printed address.
        workers: number of processes that search.
        runs: folders with training runs, or run folders, whose curves the page may show.
        no_browser: do not open the browser.
    """
    try:
        import uvicorn

        from ludoteca.evaluate.arena.runs import find_runs
        from ludoteca.evaluate.arena.security import LOOPBACK as OWN_HOSTS
        from ludoteca.evaluate.arena.server import MAX_MESSAGE, make_app
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette", "websockets"):
            raise
        raise ImportError('the arena needs a server: pip install "ludoteca[arena]"') from error

    integer("port", port, 0, 65535)
    find_runs(runs)
    _check_agents((*agents, adviser))
    is_local = host in OWN_HOSTS
    token = "" if is_local else secrets.token_urlsafe(24)
    hosts = OWN_HOSTS if is_local else (*OWN_HOSTS, *_names_of(host))
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = socket.gethostname()
    url = f"http://{shown}:{port}/{f'?token={token}' if token else ''}"
    app = make_app(
        agents, num_workers=workers, adviser=adviser, runs=runs, hosts=hosts, token=token
    )
    config = uvicorn.Config(
        app, log_level="warning", ws_max_size=2 * MAX_MESSAGE, ws="websockets-sansio"
    )
    print(f"the arena is at {url}  (Ctrl-C ends it)", flush=True)
    if not no_browser:
        threading.Timer(0.5, webbrowser.open, [url]).start()
    with listener:
        uvicorn.Server(config).run(sockets=[listener])


def _check_agents(agents: tuple[str, ...]) -> None:
    from ludoteca.agents.registry import parse_agent_spec

    for spec in agents:
        parse_agent_spec(spec)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OSError: if the address is not one of this machine, or in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen at {host} port {port}: {error.strerror or error}") from None
    return listener


def _names_of(host: str) -> tuple[str, ...]:
    """Return the host names by which a page may address the server."""
    if host not in ("0.0.0.0", "::"):
        return (host,)
    name = socket.gethostname()
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return (name, *sorted(addresses))
