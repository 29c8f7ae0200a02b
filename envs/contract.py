"""Checks that a `Game` fulfills its contract (`ludoteca.envs.game`), by playing it.

`ludoteca.testing.check_game` runs all of them, and the checks of the environments. Every check
raises a `ContractError` if it fails.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ludoteca.envs.contract_positions import ContractError, check_position, require
from ludoteca.envs.engine.playouts import actions_per_ply, make_ply_kernels
from ludoteca.envs.engine.trajectory import RANDOM, Trajectory, record_trajectory
from ludoteca.envs.game import Game
from ludoteca.envs.record_views import view_records
from ludoteca.envs.symmetry_group import compose, identity, key


def play_game(game: Game, prefix: Sequence[int], seed: int) -> Iterator[tuple[Any, int]]:
    """Play a game, and yield each position (one record, changed in place) and its ply.

    The kernels run as plain Python.

    Args:
        game: the game.
        prefix: `prefix[t]`, modulo the number of legal (joint) actions, is the index of the action
            played at ply t; after the prefix, random actions are played.
        seed: seed of the game and of the random actions.

    Raises:
        ContractError: if the game is longer than `max_plies`.
    """
    list_actions, select_joint, play = make_ply_kernels(game)
    width = actions_per_ply(game)
    legal = np.zeros((width, game.num_actions), game.action_dtype)
    counts, joint = np.zeros(width, game.action_dtype), np.zeros(width, game.action_dtype)
    rng = np.random.default_rng(seed)
    s = game.new(seed)
    ply = 0
    with np.errstate(over="ignore"):  # kernels may rely on integer overflow
        while True:
            yield s, ply
            n = list_actions(s, legal, counts)
            if n == 0:
                return
            require(
                ply < game.max_plies,
                f"max_plies of {game.spec} is {game.max_plies}, but the game continues "
                "after that many plies",
            )
            k = prefix[ply] if ply < len(prefix) else int(rng.integers(2**32))
            select_joint(legal, counts, k % n, joint)
            play(s, joint)
            ply += 1


def check_play(game: Game, prefix: Sequence[int] = (), seed: int = 0) -> None:
    """Play one game with `play_game`, and check its positions with `check_position`.

    Args:
        game: the game.
        prefix: first actions, as in `play_game`.
        seed: seed of the game and of the random actions.

    Raises:
        ContractError: if a check fails; the message has the seed and the ply.
    """
    plies, interval = 0, 1 + game.max_plies // 60  # at most 60 positions are checked, for speed
    try:
        for s, plies in play_game(game, prefix, seed):
            if not plies % interval or game.is_terminal(s):
                check_position(game, s)
        require(game.is_terminal(s), "no player has a legal action, but is_terminal is False")
    except ContractError as error:
        reproduction = (
            f"ply {plies} of a random game, check_play(game, {list(prefix)}, seed={seed})"
        )
        raise ContractError(f"{game.spec}, at {reproduction}: {error}") from None


def check_init(game: Game, prefix: Sequence[int] = (), seed: int = 0) -> None:
    """Check that `init` overwrites all fields but the settings, whatever the record held before."""
    *_, (used, _) = play_game(game, prefix, seed)
    fresh = game.new(seed)
    garbage = view_records(np.frombuffer(b"\x55" * game.state.itemsize, game.state))[0].copy()
    for name in game.settings:
        garbage[name] = fresh[name]
    for origin, s in (("of an ended game", used), ("of arbitrary bytes", garbage)):
        with np.errstate(over="ignore"):  # kernels may rely on integer overflow
            game.init(s, seed)
        for name in game.state.names or ():
            require(
                np.array_equal(s[name], fresh[name]),
                f"{game.spec}: init must overwrite a record {origin}, but leaves field {name} at "
                f"{s[name].tolist()}, where a fresh record has {fresh[name].tolist()}",
            )


def check_copy(game: Game, seed: int = 0, fraction: float = 0.5) -> None:
    """Check that the record holds the whole position: a copy continues like the original.

    Args:
        game: the game.
        seed: seed of a random game.
        fraction: the ply at which the copy is made, as a fraction of the game's length, 0 to 1.
    """
    trajectory = record_trajectory(game, 1, seed=seed, interpreted=True)
    plies = int(trajectory.plies[0])
    copied_at = int(fraction * plies)
    s = view_records(trajectory.positions[0, copied_at : copied_at + 1].copy())[0]
    play = make_ply_kernels(game)[2]
    for t in range(copied_at, plies):
        with np.errstate(over="ignore"):  # kernels may rely on integer overflow
            play(s, trajectory.actions[0, t])
        where = f"{game.spec}, seed {seed}: a copy of ply {copied_at} differs at ply {t + 1}"
        require_same_fields(s, trajectory.positions[0, t + 1], where)


def require_same_fields(a: Any, b: Any, where: str) -> None:
    """Require equal fields, bit for bit; copies may lose the padding between fields.

    `where` begins the message of the `ContractError`.
    """
    for name in a.dtype.names:
        require(a[name].tobytes() == b[name].tobytes(), f"{where}, in its field {name}")


def require_same(a: Trajectory, b: Trajectory, where: str) -> None:
    """Require equal trajectories, bit for bit, positions and their random streams included."""
    for name in sorted(set(Trajectory.__dataclass_fields__) - {"positions"}):
        same = getattr(a, name).tobytes() == getattr(b, name).tobytes()
        require(same, f"{where}, in {name}")
    require_same_fields(a.positions, b.positions, where)


def actions_to_replay(trajectory: Trajectory) -> Any:
    """Return the recorded actions, with `RANDOM` after the end of each game."""
    finished = np.arange(trajectory.actions.shape[1]) >= trajectory.plies[:, None]
    return np.where(finished[:, :, None], RANDOM, trajectory.actions)


def check_repeats(game: Game, games: int = 3, seed: int = 3, interpreted: bool = True) -> None:
    """Check that games with the same seed and the same actions are the same."""
    trajectory = record_trajectory(game, games, seed=seed, interpreted=interpreted)
    for actions in (None, actions_to_replay(trajectory)):
        require_same(
            trajectory,
            record_trajectory(game, games, seed=seed, actions=actions, interpreted=interpreted),
            f"{game.spec} is not deterministic: games of seed {seed} played twice differ",
        )


def check_compiled(game: Game, seed: int = 3) -> None:
    """Check that compiled kernels have the same results as in plain Python."""
    games = 3 if game.max_plies > 100 else 10
    require_same(
        record_trajectory(game, games, seed=seed),
        record_trajectory(game, games, seed=seed, interpreted=True),
        f"{game.spec}: the compiled game of seed {seed} differs from the one in plain Python",
    )


def check_ends(game: Game, games: int = 200, seed: int = 11) -> None:
    """Check that compiled games end by `max_plies`, then have no legal actions.

    The returns of zero-sum games must add up to 0.
    """
    trajectory = record_trajectory(game, games, seed=seed)
    last = np.arange(games), trajectory.plies
    unfinished = np.flatnonzero(trajectory.over[last] == 0)
    description = f"the game of seed {seed + int(unfinished[0])}" if len(unfinished) else ""
    require(
        not description,
        f"{game.spec}: {description} is not over after max_plies={game.max_plies}",
    )
    require(
        (trajectory.over.sum(1) == 1).all(), f"{game.spec}: only the last position may be final"
    )
    require(not trajectory.legal[last].any(), f"{game.spec}: a finished game has legal actions")
    sums = trajectory.returns[last].sum(1)
    require(
        not game.zero_sum or np.allclose(sums, 0),
        f"{game.spec}: returns add up to {sums[np.argmax(np.abs(sums))]}, not to 0",
    )


def check_names(game: Game) -> None:
    """Check the game's name and the names of its actions."""
    is_name = re.fullmatch(r"[a-z][a-z0-9_]*", game.name)
    require(is_name, f"the name {game.name!r} must consist of lower-case words, like_this_one")
    names = game.action_names
    duplicates = sorted(name for name, count in Counter(names).items() if count > 1)
    require(not duplicates, f"{game.spec}: two actions have the name {duplicates[:1]}")
    valid = all(isinstance(name, str) and name.strip() == name and name for name in names)
    require(
        valid,
        f"{game.spec}: names of actions must be nonempty texts without spaces at either end",
    )


def check_layout(game: Game) -> None:
    """Check that the starting position can be rendered, and that each player has a piece."""
    from ludoteca.envs.render import render

    for p in range(game.num_players):
        has_piece = any(piece.player == p for piece in game.layout.pieces)
        require(
            has_piece,
            f"{game.spec}: the layout needs a piece of player {p}: its name is the player's name",
        )
    cells, layout = np.asarray(game.layout.cells(game.new())), game.layout
    low, high = int(cells.min()), int(cells.max())
    require(
        cells.shape == (layout.rows, layout.columns) and 0 <= low <= high <= len(layout.pieces),
        f"{game.spec}: cells of the layout must be 0 to {len(layout.pieces)}, of shape "
        f"{(layout.rows, layout.columns)}, got {low} to {high} of shape {cells.shape}",
    )
    for mode in ("ansi", "svg"):
        require(render(game, game.new(), mode), f"{game.spec} has no rendering in mode {mode}")


def check_symmetries(game: Game) -> None:
    """Check that the symmetries are permutations, form a group, and begin with the identity."""
    planes, rows, columns = game.observation_shape
    symmetries = game.symmetries()
    for symmetry in symmetries:
        where = f"{game.spec}, symmetry {symmetry.name!r}"
        cells, actions = sorted(symmetry.cells), sorted(symmetry.actions)
        require(cells == list(range(rows * columns)), f"{where}: cells are not a permutation")
        require(actions == list(range(game.num_actions)), f"{where}: actions are not a permutation")
        is_permutation = symmetry.planes is None or sorted(symmetry.planes) == list(range(planes))
        require(is_permutation, f"{where}: planes are not a permutation")
    identity_first = len(symmetries) > 0 and key(symmetries[0], planes) == key(
        identity(game), planes
    )
    require(identity_first, f"{game.spec}: the identity must come first among the symmetries")
    distinct_names = len({symmetry.name for symmetry in symmetries}) == len(symmetries)
    require(distinct_names, f"{game.spec}: two symmetries have the same name")
    members = {key(symmetry, planes) for symmetry in symmetries}
    require(len(members) == len(symmetries), f"{game.spec}: two symmetries are equal")

    rng = np.random.default_rng(0)
    x = rng.integers(100, size=game.observation_shape)
    policy = rng.random(game.num_actions)
    for i, j in rng.integers(len(symmetries), size=(60, 2)):  # random pairs
        a, b = symmetries[i], symmetries[j]
        composed = compose(a, b, planes)
        where = f"{game.spec}: the symmetry {a.name!r}, then {b.name!r},"
        require(key(composed, planes) in members, f"{where} is not among the symmetries")
        same = np.array_equal(b.observation(a.observation(x)), composed.observation(x))
        require(same, f"{where} maps observations differently from its maps of cells and planes")
        same = np.array_equal(b.policy(a.policy(policy)), composed.policy(policy))
        require(same, f"{where} maps policies differently from its map of actions")


def check_symmetric_play(game: Game, seed: int = 21, interpreted: bool = False) -> None:
    """Check that a game and its image under a symmetry have the same plies, actions and results.

    Only symmetries that preserve the starting position are checked (up to the order of the players
    in simultaneous games). Stochastic games are not checked: their random events have no images.
    """
    if game.has_chance:
        return
    trajectory = record_trajectory(game, 4, seed=seed, interpreted=interpreted)
    starts = observations(game, trajectory.positions[0, 0])
    num_checked = 0
    for symmetry in game.symmetries():
        players = player_permutation(game, starts, symmetry.observation(starts))
        if players is None:
            continue
        num_checked += 1
        # The columns of actions: in sequential games there is one, and players keep their numbers.
        columns = players if game.simultaneous else [0]
        actions = actions_to_replay(trajectory)
        image = np.where(actions == RANDOM, RANDOM, symmetry.actions[actions])[:, :, columns]
        mapped = record_trajectory(game, 4, seed=seed, actions=image, interpreted=interpreted)
        where = f"{game.spec}, seed {seed}: the image of a game by {symmetry.name!r} has"
        require(np.array_equal(mapped.plies, trajectory.plies), f"{where} another length")
        require(np.array_equal(mapped.mover, trajectory.mover), f"{where} other players to move")
        same = np.array_equal(mapped.legal, symmetry.policy(trajectory.legal)[:, :, columns])
        require(same, f"{where} other legal actions")
        same = np.array_equal(mapped.returns, trajectory.returns[:, :, players])
        require(same, f"{where} other returns")
        for i, plies in enumerate(trajectory.plies):
            for t in range(0, plies + 1, 1 + int(plies) // 8):  # about 8 positions, for speed
                planes = observations(game, trajectory.positions[i, t])
                image_planes = observations(game, mapped.positions[i, t])
                same = np.array_equal(image_planes, symmetry.observation(planes)[players])
                require(same, f"{where} other observations at ply {t}")
    require(
        num_checked >= min(2, len(game.symmetries())),
        f"{game.spec}: no symmetry but the identity preserves the starting position",
    )


def observations(game: Game, position: Any) -> Any:
    """Return the observation of each player. Shape `[num_players, planes, rows, columns]`."""
    s = view_records(np.array([position]))[0]
    planes = np.zeros((game.num_players, *game.observation_shape), np.int8)
    for p in range(game.num_players):
        game.observe(s, p, planes[p])
    return planes


def player_permutation(game: Game, starts: Any, images: Any) -> list[int] | None:
    """Return the order of players in which the image of the starting position equals it.

    Args:
        game: the game.
        starts: each player's observation of the starting position, as `observations` returns.
        images: the same observations, mapped by a symmetry.

    Returns:
        `order` with `images[order]` equal to `starts`; None if there is none.
    """
    players = list(range(game.num_players))
    orders = [players, players[::-1]] if game.simultaneous else [players]
    for order in orders:
        if np.array_equal(starts, images[order]):
            return order
    return None
