"""Navigation of the site: sections of pages; a new document needs no entry."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

# Titles of sections, each with the patterns of its pages. A page belongs to the first section with
# a pattern that matches it. Within a section, pages are in the order of the patterns; pages of one
# pattern are sorted by name, an index first.
SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Home", ("index.md",)),
    (
        "Start",
        (
            "install.md",
            "quick_start.md",
            "playing.md",
            "arena.md",
            "engines.md",
            "command_line.md",
            "faq.md",
        ),
    ),
    ("Tutorial", ("tutorial/*",)),
    ("Games", ("games/*", "adding_a_game.md", "gdl.md")),
    ("Algorithms", ("algorithms.md", "search.md", "tuning.md", "training.md")),
    ("Libraries", ("libraries/*", "recipes/*")),
    ("Results", ("results/*",)),
    ("API", ("api/*",)),
    (
        "Project",
        ("GLOSSARY.md", "ARCHITECTURE.md", "contributing.md", "changelog.md", "license.md"),
    ),
    ("Guides", ("environments.md", "observations.md", "extending.md", "*")),
)
# The sections in the order of the site. It differs from the order above, in which "Guides", whose
# last pattern matches every page, must be the last.
ORDER = ("Home", "Start", "Tutorial", "Games", "Algorithms", "Guides", "Libraries", "Results")
ORDER += ("API", "Project")


def navigation(paths: Sequence[str]) -> list[Any]:
    """Return the navigation of MkDocs for the documents of the site.

    Args:
        paths: paths of all documents, relative to docs/.
    """
    pages: dict[str, list[str]] = {title: [] for title in ORDER}
    for path in sorted(paths, key=_rank):
        pages[_section(path)].append(path)
    entries: dict[str, Any] = {title: list(map(_entry, pages[title])) for title in ORDER}
    entries["Home"] = "index.md"
    return [{title: entries[title]} for title in ORDER if pages[title]]


def _entry(path: str) -> Any:
    """Return the entry of a page: its path, with the package as title in the API reference."""
    name = path.removeprefix("api/ludoteca.").removesuffix(".md")
    return {name: path} if path.startswith("api/ludoteca.") and name != "md" else path


def _section(path: str) -> str:
    """Return the title of the section of a page."""
    return next(
        title for title, patterns in SECTIONS if any(fnmatchcase(path, text) for text in patterns)
    )


def _rank(path: str) -> tuple[Any, ...]:
    """Return the sorting key of a page: its pattern, then an index before other pages."""
    patterns = dict(SECTIONS)[_section(path)]
    position = next(k for k, pattern in enumerate(patterns) if fnmatchcase(path, pattern))
    folder, _, name = path.rpartition("/")
    return position, folder, name not in ("index.md", "README.md"), name.removesuffix(".md")
