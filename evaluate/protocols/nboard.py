"""NBoard protocol, version 2: an engine for Othello.

Protocol: https://github.com/weltyc/ntest, instructions/Protocol.htm (version 1), and the
documentation of NBoard (version 2). Unknown commands are ignored, as the protocol demands.
"""

from collections.abc import Callable, Iterator

from ludoteca.envs.formats.ggf import read_ggf_game
from ludoteca.envs.formats.othello import PASSES
from ludoteca.envs.formats.record import RecordText
from ludoteca.envs.registry import make_game
from ludoteca.evaluate.play.analysis import MoveAnalysis
from ludoteca.evaluate.protocols.engine_session import EngineSession
from ludoteca.evaluate.protocols.line_server import CommandError, one_line, parse_integer

DEPTH = "{depth}"  # placeholder in the spec string of an agent
MAX_DEPTH = 60  # number of empty squares at the start
DISCS = 64  # evaluation of a certain win: all discs


class NBoardServer:
    """Engine for Othello that answers commands of NBoard.

    Attributes:
        closed: whether the command `quit` has been executed.
        session: the game and the agent.
    """

    def __init__(self, agent: str, depth: int = 6, seed: int = 0):
        """Begin a game on 8x8.

        Args:
            agent: spec string of the agent, in which `{depth}` stands for the depth that the
                other program sets.
            depth: depth until the other program sets one.
            seed: seed of the first game.

        Raises:
            ValueError: if the agent is unknown, or does not play Othello.
            ImportError: if a package that the agent needs is missing.
        """
        self.closed = False
        self._template = agent
        self.session = EngineSession(make_game("othello"), self._spec(depth), seed)
        # Functions by command, from the rest of its line to the lines of the answer.
        self._commands: dict[str, Callable[[str], Iterator[str]]] = {
            "nboard": self._nboard,
            "set depth": self._set_depth,
            "set game": self._set_game,
            "move": self._move,
            "hint": self._hint,
            "go": self._go,
            "ping": self._ping,
            "learn": self._learn,
            "analyze": self._analyze,
            "quit": self._quit,
        }

    def respond(self, line: str) -> Iterator[str]:
        """Execute the command in a line and yield the lines of its answer."""
        name, _, rest = line.strip().partition(" ")
        if name == "set":
            which, _, rest = rest.strip().partition(" ")
            name = f"set {which}"
        if name not in self._commands:
            return
        try:
            for answer in self._commands[name](rest.strip()):
                yield f"{one_line(answer)}\n"
        except CommandError as error:
            yield self.refuse(str(error))

    def refuse(self, message: str) -> str:
        """Return the status line about an error."""
        return f"status Error: {one_line(message)}\n"

    def _spec(self, depth: int) -> str:
        """Return the agent's spec string with a depth."""
        return self._template.replace(DEPTH, str(depth))

    def _nboard(self, version: str) -> Iterator[str]:
        parse_integer(version, "the version")
        yield f"set myname {self.session.spec}"
        yield "status Waiting"

    def _set_depth(self, text: str) -> Iterator[str]:
        """Replace the agent by one with another depth, in the same position."""
        depth = max(1, min(parse_integer(text, "the depth"), MAX_DEPTH))
        spec, actions = self._spec(depth), list(self.session.history.actions)
        if spec != self.session.spec:
            start = self.session.history.positions[0]
            self.session.restart(self.session.game, spec, start)
            for action in actions:
                self.session.play(action)
        yield f"set myname {spec}"

    def _set_game(self, text: str) -> Iterator[str]:
        try:
            read = read_ggf_game(RecordText(text))
        except ValueError as error:
            raise CommandError(f"set game: expected one game in GGF: {error}") from None
        self.session.restart(read.game, start=read.start)
        for action, _ in read.actions:
            self.session.play(action)
        yield from ()

    def _move(self, text: str) -> Iterator[str]:
        square = text.split("/")[0].strip().lower()
        names = self.session.game.action_names
        name = "pass" if square in PASSES else square
        legal = self.session.history.legal()
        if not text or name not in names or names.index(name) not in legal:
            expected = " ".join(names[action] for action in legal) or "no move, the game is over"
            raise CommandError(f"move {text:.40} is illegal: the legal moves are {expected}")
        self.session.play(names.index(name))
        yield from ()

    def _hint(self, text: str) -> Iterator[str]:
        """Analyze the position; answer with the best moves, as many as `text` demands."""
        count = parse_integer(text, "the number of moves") if text else 1
        yield "status Analyzing"
        analysis = self.session.analyze()
        moves = analysis.best(max(count, 1))
        if analysis.action not in moves:  # the agent's move need not have the highest weight
            moves = [analysis.action, *moves[: max(count, 1) - 1]]
        for action in moves:
            best = action == analysis.action
            variation = analysis.variation if best else ()
            names = variation or (self.session.game.action_names[action],)
            line = "".join(map(_square, names))
            value = _evaluation(analysis) if best else _move_evaluation(analysis, action)
            # Moves, value, a 0 that the protocol fixes, and depth.
            yield f"search {line} {value:.2f} 0 {len(names)}"
        yield _statistics(analysis)
        yield "status Waiting"

    def _go(self, _: str) -> Iterator[str]:
        yield "status Thinking"
        analysis = self.session.analyze()
        yield _statistics(analysis)
        square = _square(self.session.game.action_names[analysis.action])
        yield f"=== {square}/{_evaluation(analysis):.2f}/{analysis.seconds:.3f}"
        yield "status Waiting"

    def _ping(self, text: str) -> Iterator[str]:
        yield f"pong {parse_integer(text, 'the number of a ping')}"

    def _learn(self, _: str) -> Iterator[str]:
        """Answer that the game is learned, as the protocol demands, although there is no book."""
        yield "learned"

    def _analyze(self, _: str) -> Iterator[str]:
        """Answer with the value of each nonterminal position, from the last to the first."""
        yield "status Analyzing"
        for ply in range(len(self.session.history.actions), -1, -1):
            if ply == len(self.session.history.actions) and self.session.history.is_over:
                continue
            yield f"analysis {ply} {_evaluation(self.session.analyze_ply(ply)):.2f}"
        yield "status Waiting"

    def _quit(self, _: str) -> Iterator[str]:
        self.closed = True
        yield from ()


def _square(name: str) -> str:
    """Return the name of an action in the protocol."""
    return "PA" if name == "pass" else name.upper()


def _evaluation(analysis: MoveAnalysis) -> float:
    """Return the value for the player to move: discs if solved, else the score scaled to discs."""
    if analysis.exact is not None:
        return float(analysis.exact)
    return 0.0 if analysis.score is None else DISCS * (2 * analysis.score - 1)


def _move_evaluation(analysis: MoveAnalysis, action: int) -> float:
    """Return the value of a move that is not the best one, scaled to discs.

    Values are scores in [0, 1] of searches, which have visit shares, and Q in [-1, 1] of other
    agents.
    """
    if analysis.values is None:
        return 0.0
    value = float(analysis.values[action])
    return DISCS * (2 * value - 1 if analysis.shares is not None else value)


def _statistics(analysis: MoveAnalysis) -> str:
    """Return the answer with the number of nodes and the seconds of the search."""
    return f"nodestats {analysis.simulations} {analysis.seconds:.3f}"
