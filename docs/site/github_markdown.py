"""Pages of the site from documents that are written for GitHub."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# The first line of a block of code with a language; tags of the tests may follow the language.
FENCE = re.compile(r"^(?P<fence> *```)(?P<language>\w+)[^\n`]*$", re.MULTILINE)
# A link or image `[text](target#anchor)`; the target is the part before the anchor.
LINK = re.compile(r"(?P<start>!?\[[^\]]*\]\()(?P<target>[^)\s#]*)(?P<end>(?:#[^)\s]*)?\))")
# A whole block of code.
CODE = re.compile(r"^ *```.*?^ *```[ \t]*$", re.MULTILINE | re.DOTALL)
# Files outside docs/, and the paths of their pages relative to docs/.
PAGES = {
    "README.md": "quick_start.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "license.md",
}
INTRODUCTION = """# Quick start

Every block of code on this page is run by the tests, and prints the output below it.
"""


def translate(markdown: str, path: str, generated: bool) -> str:
    """Return a document in the Markdown of the site.

    Args:
        markdown: the document in GitHub's Markdown.
        path: its path, relative to docs/.
        generated: whether it is one of the generated pages, whose links need no translation.
    """
    if path == "games/README.md":
        markdown = gallery(markdown, DOCS / "games")
    if path == "index.md":
        markdown = landing(markdown)
    if not generated:
        markdown = outside_code(markdown, lambda text: with_site_links(text, PurePosixPath(path)))
    return plain_fences(markdown)


def repository_pages(root: Path) -> dict[str, str]:
    """Return the pages made of files outside docs/, by path relative to docs/.

    The page of the README has only its sections from "The first minutes" to "More".
    """
    readme = (root / "README.md").read_text(encoding="utf-8")
    start, end = readme.index("## The first minutes"), readme.index("## More")
    texts = {
        "README.md": INTRODUCTION + "\n" + readme[start:end],
        "CONTRIBUTING.md": (root / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        "CHANGELOG.md": (root / "CHANGELOG.md").read_text(encoding="utf-8"),
        "LICENSE": "# License\n\n```text\n"
        + (root / "LICENSE").read_text(encoding="utf-8").strip()
        + "\n```\n",
    }
    return {
        PAGES[name]: outside_code(text, lambda part: LINK.sub(_from_root, part))
        for name, text in texts.items()
    }


def _from_root(match: re.Match[str]) -> str:
    """Return a link of a page at the root of the repository as a link of a page in docs/."""
    target = match["target"]
    if "://" not in target:
        target = PAGES.get(target, target.removeprefix("docs/").removeprefix("./"))
        if target and (DOCS / target).is_dir():
            target += "/README.md"
    return f"{match['start']}{target}{match['end']}"


def file_lists(docs: Path) -> dict[str, str]:
    """Return the pages, by path, that list the files of folders of results without a document."""
    pages = {}
    for folder in sorted(path for path in (docs / "results").rglob("*") if path.is_dir()):
        paths = sorted(path for path in folder.iterdir() if path.is_file())
        if paths and not any(path.suffix == ".md" for path in paths):
            lines = [f"- [{path.name}]({path.name})" for path in paths]
            name = folder.relative_to(docs).as_posix()
            pages[f"{name}/files.md"] = f"# Files of {name}\n\n" + "\n".join(lines) + "\n"
    return pages


def with_site_links(text: str, path: PurePosixPath) -> str:
    """Return a text whose links to folders and to files outside docs/ lead to pages.

    Args:
        text: Markdown.
        path: path of the document, relative to docs/.
    """

    def page_link(match: re.Match[str]) -> str:
        target = match["target"]
        if not target or "://" in target:
            return match[0]
        depth = len(path.parent.parts)
        prefix = "../" * (depth + 1)
        if target.startswith(prefix) and (ROOT / target.removeprefix(prefix)).exists():
            name = target.removeprefix(prefix).rstrip("/")
            if name in PAGES:
                return f"{match['start']}{'../' * depth}{PAGES[name]}{match['end']}"
        folder = DOCS / path.parent / target
        if folder.is_dir():
            index = "README.md" if (folder / "README.md").exists() else "files.md"
            return f"{match['start']}{target.rstrip('/')}/{index}{match['end']}"
        return match[0]

    return LINK.sub(page_link, text)


def landing(text: str) -> str:
    """Return the landing page in the form of the site.

    The cells of its first table, `[![alt](image)](page.md) **title** description`, become cards.
    Links on a line of their own, separated by dots, become buttons.
    """
    cell = r"\[!\[([^\]]*)\]\(([^)]+)\)\]\((\S+)\.md\) \*\*([^*]+)\*\* ([^|]+?) *\|"
    cards = [
        f'<a class="game" href="{page}.html"><img src="{picture}" alt="{alt}">'
        f"<strong>{title}</strong><span>{description}</span></a>"
        for alt, picture, page, title, description in re.findall(cell, text)
    ]
    table = re.compile(r"^\| \| .*\n(?:\|.*\n)+", re.MULTILINE)
    text = table.sub(f'<div class="games moving">\n{"".join(cards)}\n</div>\n', text, count=1)
    buttons = re.compile(r"^\[[^\n]*\) · \[[^\n]*\)$", re.MULTILINE)
    return buttons.sub(
        lambda match: " ".join(f"{link}{{ .md-button }}" for link in match[0].split(" · ")), text
    )


def gallery(text: str, folder: Path) -> str:
    """Return the index of the games with a card for each game above its table.

    Args:
        text: the index.
        folder: folder with the pages of the games; games without a page have no card.
    """
    rows = re.findall(
        r"^\| ([^|]+) \| `([^`]+)` \| ([^|]+) \| \[(\w+)\.md\].*$", text, re.MULTILINE
    )
    cards = [
        f'<a class="game" href="{name}.html"><img src="../images/{name}.png" alt="">'
        f"<strong>{title}</strong><span>{players}</span></a>"
        for title, _, players, name in rows
        if (folder / f"{name}.md").exists()
    ]
    table = re.compile(r"^\| game \|.*\n(?:\|.*\n)+", re.MULTILINE)
    return table.sub(f'<div class="games">\n{"".join(cards)}\n</div>\n\n\\g<0>', text, count=1)


def plain_fences(text: str) -> str:
    """Return a text whose fences name only the language, not the tags of the tests."""
    return FENCE.sub(r"\g<fence>\g<language>", text)


def outside_code(text: str, translate: Callable[[str], str]) -> str:
    """Return a text that is translated except for its blocks of code."""
    return "".join(part if is_code else translate(part) for part, is_code in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, and whether each is a block of code."""
    start = 0
    for match in CODE.finditer(text):
        yield text[start : match.start()], False
        yield match[0], True
        start = match.end()
    yield text[start:], False
