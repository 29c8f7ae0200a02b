"""Requests over HTTP to players of General Game Playing (GGP), as GGP-Base sends them."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic
from urllib.parse import urlsplit

from ludoteca.evaluate.protocols.ggp_messages import MessageError, split_list

INFO_SECONDS = 10.0
MAX_ANSWER = 1 << 16  # bytes
THREAD_NAME = "request to a player"
HEADERS = {"Sender": "GAMESERVER", "Receiver": "PLAYER", "Content-Type": "text/acl"}


@dataclass(frozen=True)
class Request:
    """Message to a player.

    Attributes:
        url: address of the player.
        message: the message.
        seconds: time until the whole answer must have arrived.
    """

    url: str
    message: str
    seconds: float


def ask(url: str, message: str, seconds: float) -> str:
    """Send a message to a player, and return the answer.

    Raises:
        OSError: if there is no whole answer in time, or its status is not success.
    """
    (answer,) = ask_all([Request(url, message, seconds)])
    if isinstance(answer, OSError):
        raise answer
    return answer


def ask_all(requests: Sequence[Request]) -> list[str | OSError]:
    """Send messages at the same time, and return the answers, errors included.

    Each request has a daemon thread, so an interrupt ends the wait, and pending requests do not
    delay the end of the program.
    """
    futures: list[Future[str | OSError]] = [Future() for _ in requests]
    begin = monotonic()
    for request, future in zip(requests, futures, strict=True):
        deadline = begin + request.seconds
        threading.Thread(
            target=_answer, args=(request, deadline, future), name=THREAD_NAME, daemon=True
        ).start()
    answers = []
    for request, future in zip(requests, futures, strict=True):
        try:
            answers.append(future.result(max(begin + request.seconds - monotonic(), 0)))
        except TimeoutError:
            answers.append(_late(request))
    return answers


def player_name(url: str) -> str:
    """Return the name of a player as it answers `INFO`, or its URL if it answers otherwise.

    Raises:
        OSError: if there is no answer.
    """
    answer = ask(url, "( INFO )", INFO_SECONDS)
    try:
        pairs = [split_list(pair) for pair in split_list(answer)]
    except MessageError:
        return url
    return next((pair[1] for pair in pairs if len(pair) == 2 and pair[0].lower() == "name"), url)


def _answer(request: Request, deadline: float, future: "Future[str | OSError]") -> None:
    """Set the answer of a player, or the error, as the result of a future."""
    try:
        answer: str | OSError = _exchange(request, deadline)
    except TimeoutError:
        answer = _late(request)
    except (OSError, HTTPException, ValueError) as error:  # ValueError: an invalid address
        answer = OSError(f"{request.url}: {str(error) or repr(error)}")
    future.set_result(answer)


def _exchange(request: Request, deadline: float) -> str:
    """Send a message, and return the answer; redirects and proxies are not followed.

    Raises:
        TimeoutError: if the whole answer has not arrived before `deadline`.
        OSError: if there is no connection, the status is not success, or the answer is too long.
        HTTPException: if the answer is not HTTP.
        ValueError: if the address is invalid.
    """
    address = urlsplit(request.url)
    if address.hostname is None:
        raise ValueError("the address has no host")
    connect = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = connect(address.hostname, address.port, timeout=request.seconds)
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    try:
        connection.request("POST", path, request.message.encode(), HEADERS)
        response = connection.getresponse()
        data = b""
        while part := response.read1(MAX_ANSWER):
            data += part
            if monotonic() > deadline:
                raise TimeoutError
            if len(data) > MAX_ANSWER:
                raise OSError(f"the answer has more than {MAX_ANSWER} bytes")
    finally:
        connection.close()
    if monotonic() > deadline:
        raise TimeoutError
    if not 200 <= response.status < 300:
        raise OSError(f"HTTP status {response.status} {response.reason}: {data!r:.200}")
    return data.decode(errors="replace").strip()


def _late(request: Request) -> TimeoutError:
    return TimeoutError(f"{request.url}: no whole answer within {request.seconds:g} seconds")
