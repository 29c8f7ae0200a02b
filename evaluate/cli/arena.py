"""The command `ludoteca arena`."""

import secrets
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from ludoteca.envs.params import check_integer
from ludoteca.evaluate.cli.options import Agents

LOOPBACK = "127.0.0.1"
Folders = Annotated[tuple[Path, ...], arg(metavar="FOLDER [FOLDER ...]")]
Files = Annotated[tuple[Path, ...], arg(metavar="FILE [FILE ...]")]


def arena(
    agents: Agents = (),
    adviser: str = "mcts:simulations=20000",
    port: int = 8765,
    host: Annotated[str, arg(metavar="ADDRESS")] = LOOPBACK,
    workers: int = 2,
    runs: Folders = (),
    sheets: Files = (),
    no_browser: bool = False,
) -> None:
    """Play, watch and analyze all games in the browser.

    Args:
        agents: agents that the page offers; by default those that need no file, and the networks
            that come with the package.
        adviser: agent for hints and analyses.
        port: port of the server; 0 for a free port.
        host: address of the server; other addresses than 127.0.0.1 require the token in the
            printed URL.
        workers: number of processes that search.
        runs: folders with run folders of trainings, tournaments and matches, or run folders, which
            the page may show.
        sheets: rule sheets (GDL) that the page offers, beside those of this package.
        no_browser: do not open the browser.
    """
    try:
        import uvicorn

        from ludoteca.evaluate.arena.runs import find_runs
        from ludoteca.evaluate.arena.security import LOOPBACK as LOOPBACK_HOSTS
        from ludoteca.evaluate.arena.server import MAX_MESSAGE, make_app
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette", "websockets"):
            raise
        raise ImportError('the arena needs a server: pip install "ludoteca[arena]"') from error

    check_integer("port", port, 0, 65535)
    find_runs(runs)  # raises if a folder is missing
    _check_agents((*agents, adviser))
    is_local = host in LOOPBACK_HOSTS
    token = "" if is_local else secrets.token_urlsafe(24)
    hosts = LOOPBACK_HOSTS if is_local else (*LOOPBACK_HOSTS, *_host_names(host))
    listener = _listening_socket(host, port)
    port = listener.getsockname()[1]
    url_host = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        url_host = socket.gethostname()
    url = f"http://{url_host}:{port}/{f'?token={token}' if token else ''}"
    app = make_app(
        agents, num_workers=workers, adviser=adviser, runs=runs, sheets=sheets, hosts=hosts,
        token=token,
    )  # fmt: skip
    # A command above `MAX_MESSAGE` characters gets an error, one above `ws_max_size` bytes closes
    # the socket. Before uvicorn 0.50, the default of `ws` uses the deprecated `websockets.legacy`.
    config = uvicorn.Config(
        app, log_level="warning", ws_max_size=2 * MAX_MESSAGE, ws="websockets-sansio"
    )
    print(f"the arena is at {url}  (Ctrl-C ends it)", flush=True)
    if not no_browser:
        threading.Timer(0.5, webbrowser.open, [url]).start()  # when the server below has started
    with listener:
        uvicorn.Server(config).run(sockets=[listener])


def _check_agents(agents: tuple[str, ...]) -> None:
    """Raise a `ValueError` if a spec string is invalid or its agent unknown."""
    from ludoteca.agents.registry import parse_agent_spec

    for spec in agents:
        parse_agent_spec(spec)


def _listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 is a free port.

    Raises:
        OSError: if the address is not one of this machine, or is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # On Windows the option would let two servers share a port.
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)  # a page may connect as soon as the address is printed
    except OSError as error:
        listener.close()
        raise OSError(f"cannot listen at {host} port {port}: {error.strerror or error}") from None
    return listener


def _host_names(host: str) -> tuple[str, ...]:
    """Return the host names by which a page may address the server."""
    if host not in ("0.0.0.0", "::"):
        return (host,)
    name = socket.gethostname()
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return (name, *sorted(addresses))
