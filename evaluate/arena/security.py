"""Protection of the server: allowed hosts and origins, the token, and response headers."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse

Message = MutableMapping[str, Any]
ASGI = Callable[[Any, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Any]
LOOPBACK = ("localhost", "127.0.0.1", "::1")
COOKIE = "ludoteca_arena"
MAX_REASON_BYTES = 123  # of the reason for closing a web socket, RFC 6455, section 5.5
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware that refuses requests to other hosts, from other origins, or without the token.

    A page of another site cannot read or start anything: its requests carry its own origin, and a
    host name of its own that resolves to this machine (DNS rebinding) is not among the hosts.
    """

    def __init__(self, app: ASGI, hosts: tuple[str, ...] = LOOPBACK, token: str = ""):
        """Make the middleware.

        Args:
            app: the application.
            hosts: host names that requests may be addressed to.
            token: secret that requests need in a cookie, which the URL `/?token=...` sets;
                "" for none.
        """
        self._app, self._hosts, self._token = app, hosts, token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request to the application or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        reason = self._problem(headers)
        token = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        is_index = scope["type"] == "http" and scope["path"] == "/"
        if not reason and self._token and not self._has_token(headers):
            if is_index and secrets.compare_digest(token.encode(), self._token.encode()):
                response = RedirectResponse("/", 303)
                response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
                await response(scope, receive, send)
                return
            reason = "the token is missing: open the address that the command printed"
        if reason:
            await refuse(scope, receive, send, reason)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _problem(self, headers: Headers) -> str:
        """Return the reason why a request is refused, or ""."""
        host = headers.get("host", "")
        if _host_name(f"//{host}") not in self._hosts:
            return f"unknown host {host!r:.80}"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"requests from the origin {origin!r:.80} are refused"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return "requests from other sites are refused"
        return ""

    def _has_token(self, headers: Headers) -> bool:
        """Return whether the cookie of a request has the token."""
        cookies = headers.get("cookie", "")
        values = [part.strip().partition("=") for part in cookies.split(";")]
        token = next((value for name, _, value in values if name == COOKIE), "")
        return secrets.compare_digest(token.encode(), self._token.encode())


def close_reason(text: str) -> str:
    """Return the beginning of a text that fits into the closing message of a web socket."""
    return text.encode()[:MAX_REASON_BYTES].decode(errors="ignore")


async def refuse(scope: Any, receive: Any, send: Any, reason: str) -> None:
    """Answer a request with status 403, or close a web socket."""
    if scope["type"] == "websocket":
        await receive()  # the connect event, which ASGI demands before the close
        await send({"type": "websocket.close", "code": 1008, "reason": close_reason(reason)})
        return
    await PlainTextResponse(reason, 403)(scope, receive, send)


def _host_name(address: str) -> str:
    """Return the host name of a URL, or "" if it has none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
