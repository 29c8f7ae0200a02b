"""The command `ludoteca ggp-match`."""

import re
from typing import Annotated

from tyro.conf import arg

from ludoteca.evaluate.cli.gdl.options import Sheet
from ludoteca.evaluate.cli.options import OptionalFile

MAX_CLOCK = 86_400  # seconds
NAMED_URL = re.compile(r"(?:(?P<name>[\w.-]+)=)?(?P<url>https?://\S+)")


def ggp_match(
    sheet: Sheet,
    players: Annotated[tuple[str, str], arg(metavar="[NAME=]URL [NAME=]URL")],
    games: int = 10,
    start_clocks: tuple[int, ...] = (30,),
    play_clocks: tuple[int, ...] = (5,),
    seed: int = 0,
    max_plies: int = 1000,
    json: OptionalFile = None,
) -> None:
    """Play matches between two players of General Game Playing over HTTP.

    The players, such as `ludoteca ggp-player`, speak the protocol of GGP-Base. They change roles
    after every match. Missing and illegal moves are replaced by random ones, and counted.

    Args:
        sheet: file of the rule sheet, or a sheet of this package, such as breakthrough.
        players: addresses of the players, such as http://127.0.0.1:9147. A name may stand before
            an address, as in Sancho=http://127.0.0.1:9149; by default it is the player's own.
        games: number of matches.
        start_clocks: seconds for preparation: of both players, or of each.
        play_clocks: seconds for a move: of both players, or of each.
        seed: seed of the random moves.
        max_plies: joint moves after which a match is stopped, without a result.
        json: also write all matches to this file.
    """
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.envs.gdl.parse import read_sheet
    from ludoteca.envs.params import check_integer
    from ludoteca.evaluate.gdl.interpreted_machine import load_machine
    from ludoteca.evaluate.protocols.ggp_client import player_name
    from ludoteca.evaluate.protocols.ggp_manager import RemotePlayer, one_line_rules, play_series
    from ludoteca.evaluate.protocols.ggp_results import MatchSeries

    check_integer("games", games, 1, 10**6)
    check_integer("max_plies", max_plies, 1, 10**9)
    clocks = []
    for name, values in (("start_clocks", start_clocks), ("play_clocks", play_clocks)):
        if len(values) not in (1, 2):
            raise ValueError(f"{name} must be one number of seconds or two, got {len(values)}")
        clocks.append(
            [check_integer(name, value, 1, MAX_CLOCK) for value in (*values, *values)[:2]]
        )
    path = find_sheet(sheet)
    machine = load_machine(path)
    named = [NAMED_URL.fullmatch(text) for text in players]
    if not all(named):
        raise ValueError(f"expected addresses http://... of two players, got {' '.join(players)}")
    urls = [match["url"] for match in named if match]
    names = [match["name"] or player_name(match["url"]) for match in named if match]
    remote = [RemotePlayer(*settings) for settings in zip(urls, *clocks, strict=True)]
    series = MatchSeries(path.stem, names, remote)
    if json is not None:
        series.write(json)  # so that an error of the file comes before the first match
    try:
        for match in play_series(
            machine,
            one_line_rules(read_sheet(path)),
            remote,
            games,
            seed=seed,
            max_plies=max_plies,
        ):
            series.add(match)
            print(series.match_line(), flush=True)
            if json is not None:
                series.write(json)
    finally:
        if series.matches:
            print(series.summary())
