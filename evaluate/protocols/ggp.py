"""Player of General Game Playing (GGP): one match at a time, in the protocol of GGP-Base.

GGP-Base (https://github.com/ggp-org/ggp-base) is the reference implementation of GGP: its game
manager sends the rules of a game in the Game Description Language (GDL), then requests moves over
HTTP, see `ggp_http.py`.
"""

import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from ludoteca.agents.registry import find_maker
from ludoteca.envs.validation import check_seed, next_seed
from ludoteca.evaluate.protocols.ggp_match import GGPMatch
from ludoteca.evaluate.protocols.ggp_messages import (
    Abort,
    Info,
    MessageError,
    Play,
    Preview,
    Start,
    Stop,
    parse_message,
)
from ludoteca.evaluate.protocols.line_server import one_line

READY, BUSY, DONE = "READY", "BUSY", "DONE"  # answers of the protocol


class GGPPlayer:
    """Player that answers the messages of a game manager, which several threads may pass to it."""

    def __init__(self, spec: str, name: str = "Ludoteca", seed: int = 0, quiet: bool = False):
        """Make a player without a match.

        Args:
            spec: spec string of the agent that plays.
            name: name of the player: letters, digits and _, not beginning with a digit.
            seed: seed of the first match; the next match has the next seed.
            quiet: whether to omit the log of matches on standard error.

        Raises:
            ValueError: if the agent is unknown, or an argument is out of range.
        """
        find_maker(spec)  # raises if the agent is unknown
        if not name.isidentifier():
            raise ValueError(
                f"name must consist of letters, digits and _, and begin with no digit, got "
                f"{name!r:.80}"
            )
        self._spec, self._name, self._quiet = spec, name, quiet
        self._seed = check_seed(seed)
        self._lock = threading.Lock()  # held while `_match` or `_seed` is changed
        self._match: GGPMatch | None = None
        self._folder = TemporaryDirectory(prefix="ludoteca-ggp-")

    def respond(self, text: str) -> str:
        """Return the answer to a message.

        Raises:
            MessageError: if `text` is not a message of the protocol, or does not fit the match.
        """
        message = parse_message(text)
        match message:
            case Info():
                status = "available" if self._available() else "busy"
                return f"((name {self._name}) (status {status}))"
            case Preview():
                return READY if self._available() else BUSY
            case Start():
                return self._start(message)
            case Play():
                playing = self._match_named(message.match)
                move = None if playing is None else playing.move(message.moves)
                return BUSY if move is None else move
            case Stop() | Abort():
                return self._end(message)

    def close(self) -> None:
        """End the match, and remove the files of rules."""
        with self._lock:
            if self._match is not None:
                self._match.close()
            self._match = None
        self._folder.cleanup()

    def _available(self) -> bool:
        """Return whether a match may begin: without a match, or if the last one was abandoned."""
        match = self._match
        return match is None or match.is_idle

    def _match_named(self, name: str) -> GGPMatch | None:
        """Return the current match if it has this name, else None."""
        match = self._match
        return match if match is not None and match.start.match == name else None

    def _start(self, message: Start) -> str:
        """Begin a match and wait until its agent is ready; return the answer."""
        with self._lock:
            if not self._available():
                return BUSY
            if self._match is not None:
                self._match.close()
            match = self._match = GGPMatch(
                message, self._spec, self._seed, Path(self._folder.name), self._show
            )
            self._seed = next_seed(self._seed)
        try:
            match.wait_until_ready()
        except MessageError:
            self._drop(match)
            raise
        self._show(
            f"match {message.match}: {message.role}, {message.start_clock}+{message.play_clock} s"
        )
        return READY

    def _end(self, message: Stop | Abort) -> str:
        """End the match that a message names, if it is the current one; return the answer."""
        match = self._match_named(message.match)
        if match is None or not self._drop(match):
            return BUSY
        if isinstance(message, Abort):
            self._show(f"match {message.match}: aborted")
        else:
            self._show(f"match {message.match}: {match.finish(message.moves)}")
        return DONE

    def _drop(self, match: GGPMatch) -> bool:
        """End a match and its threads; return whether it was the current one."""
        with self._lock:
            is_current = self._match is match
            if is_current:
                self._match = None
        match.close()
        return is_current

    def _show(self, text: str) -> None:
        if not self._quiet:
            print(one_line(text), file=sys.stderr, flush=True)
