"""Tests of the site of the documents: links, navigation, figures, notebooks, `make docs`.

`make docs` builds the site itself; these tests need none of its tools.
"""

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from api_pages import api_pages, copy_packages
from bounds import ROOT, normal
from document_blocks import FENCE
from figures import figures, with_figures
from github_markdown import file_lists, outside_code, repository_pages, translate
from navigation import navigation
from tutorial_documents import notebook_text, with_outputs

from ludoteca.agents.registry import AGENTS
from ludoteca.envs.registry import GAMES, make_game
from ludoteca.train.algorithms import ALGORITHMS

DOCS = ROOT / "docs"
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS += sorted(DOCS.rglob("*.md"))
TUTORIAL = sorted((DOCS / "tutorial").glob("[0-9]_*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def prose(path: Path) -> str:
    """Return a document without its code blocks."""
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a document."""
    names: list[str] = []
    for heading in HEADING.findall(prose(path)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = names.count(name)
        names.append(f"{name}-{count}" if count else name)
    return set(names)


def broken_links(path: Path) -> Iterator[str]:
    """Yield the links of a document to files or headings that do not exist."""
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            yield link


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    assert list(broken_links(path)) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "# A b: `c`\n[x](#a-b-c) [y](#other) [z](none.md) ![p](a.png)\n```\n[](k)\n```\n"
    )
    assert list(broken_links(page)) == ["#other", "none.md", "a.png"]


def test_every_page_is_in_the_navigation_once() -> None:
    paths = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    sections = navigation([*paths, "a_new_page.md", "games/a_new_game.md"])
    listed: Counter[str] = Counter()
    by_title = {title: pages for section in sections for title, pages in section.items()}
    for pages in by_title.values():
        listed.update([pages] if isinstance(pages, str) else pages)
    assert listed == Counter([*paths, "a_new_page.md", "games/a_new_game.md"])
    assert by_title["Home"] == "index.md"
    assert "a_new_page.md" in by_title["Guides"]
    assert "games/a_new_game.md" in by_title["Games"]
    reference = navigation(["index.md", "api/index.md", "api/ludoteca.a.b.md", "api/ludoteca.a.md"])
    assert reference[1] == {
        "API": ["api/index.md", {"a": "api/ludoteca.a.md"}, {"a.b": "api/ludoteca.a.b.md"}]
    }
    for title, first in (("Games", "games/README.md"), ("Tutorial", "tutorial/README.md")):
        assert by_title[title][0] == first


def test_the_gallery_shows_every_game() -> None:
    page = translate((DOCS / "games/README.md").read_text(), "games/README.md", False)
    for name in GAMES:
        game = make_game(name)
        assert f'href="{game.name}.html"' in page, name
        assert (DOCS / "images" / f"{game.name}.png").exists()


def test_the_landing_page_shows_moving_games() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    page = translate(text, "index.md", False)
    pictures = sorted((DOCS / "images/moving").glob("*.svg"))
    assert page.count('class="game"') == len(pictures) == 6
    for picture in pictures:
        assert f"](images/moving/{picture.name})](games/{picture.stem}.md)" in text
        assert f'src="images/moving/{picture.name}"' in page
    assert page.count("{ .md-button }") == 4
    assert "](quick_start.md#quick-start){ .md-button }" in page


def test_links_and_fences_are_translated() -> None:
    text = "[b](../results/recipes) [c](x.md)\n```python slow varies\n[](../q)\n```\n"
    page = translate(text, "recipes/README.md", False)
    assert "](../results/recipes/files.md)" in page
    assert "```python\n[](../q)\n```" in page
    assert translate("[a](../README.md#games)", "search.md", False) == "[a](quick_start.md#games)"
    assert outside_code("a\n```\na\n```\n", str.upper) == "A\n```\na\n```\n"


def test_generated_pages_link_to_pages() -> None:
    pages = repository_pages(ROOT)
    assert {"quick_start.md", "contributing.md", "changelog.md", "license.md"} == set(pages)
    names = {*pages, *file_lists(DOCS)}
    for path, text in pages.items():
        for link in LINK.findall(FENCE.sub("", text)):
            target = link.partition("#")[0]
            if target and not re.match(r"[a-z]+:", target):
                assert target in names or (DOCS / target).is_file(), (path, link)


def test_the_api_reference_has_every_public_package(tmp_path: Path) -> None:
    copy_packages(ROOT, tmp_path)
    pages = api_pages(tmp_path)
    index = pages.pop("api/index.md")
    for name in ("ludoteca", "ludoteca.envs", "ludoteca.envs.games", "ludoteca.agents.search"):
        assert f"api/{name}.md" in pages
        assert f"[`{name}`]({name}.md)" in index
    assert "::: ludoteca.envs.game\n" in pages["api/ludoteca.envs.md"]
    modules = re.findall(r"^::: (.*)$", "\n".join(pages.values()), re.MULTILINE)
    assert len(modules) == len(set(modules)) > 200


def test_the_figures_are_those_of_the_results() -> None:
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    assert with_figures(page, figures()) == page, "run python -P docs/site/figures.py"


def test_the_list_of_algorithms_is_complete() -> None:
    text = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    learning, rest = text.split("## Search")
    named = re.findall(r"^\| `([\w-]+)` \|", learning, re.MULTILINE)
    assert set(named) == set(ALGORITHMS)
    agents = rest.split("## Exact")[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", agents, re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}
    assert names <= set(AGENTS)


@pytest.mark.parametrize("path", TUTORIAL, ids=lambda path: path.stem)
def test_notebooks_are_those_of_the_tutorial(path: Path) -> None:
    notebook = DOCS / "notebooks" / f"{path.stem}.ipynb"
    text = notebook_text(path)
    assert notebook.read_text(encoding="utf-8") == text, "run make notebooks"
    content = json.loads(text)
    assert content["nbformat"] == 4
    cells = content["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for code in codes:
        ast.parse(re.sub(r"^%%writefile \S+\n", "", code))
    blocks = [
        match for match in FENCE.finditer(path.read_text()) if match["info"].startswith("python")
    ]
    assert len(codes) == len([match for match in blocks if "no-test" not in match["info"].split()])
    for cell in cells:
        for link in LINK.findall(
            "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
        ):
            target = link.partition("#")[0]
            if target and not re.match(r"[a-z]+:", target):
                assert (notebook.parent / target).exists(), link


def test_outputs_are_written_into_documents() -> None:
    from document_blocks import blocks_of

    text = "```python\na\n```\n\n```text\nold ...\n```\n\n```python\nb\n```\n```text\n\n```\n"
    first, _, second, _ = blocks_of(text)
    written = with_outputs(text, {first: "old 1 s\n", second: "new\n"})
    assert written == text.replace("```text\n\n```", "```text\nnew\n```")


@pytest.mark.parametrize("path", sorted((DOCS / "images").glob("*/*.svg")), ids=lambda p: p.stem)
def test_pictures_are_well_formed(path: Path) -> None:
    root = ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg")
    if path.parent.name == "moving":
        assert len(root.findall(".//{http://www.w3.org/2000/svg}animate")) > 5


def test_pins_of_the_site_cover_its_extra() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    lines = (DOCS / "site/constraints.txt").read_text().splitlines()
    pins = {normal(line.split("==")[0]) for line in lines if line and not line.startswith("#")}
    for requirement in extra["docs"]:
        assert normal(re.split(r"[\[>=]", requirement)[0]) in pins


def test_workflows_run_the_checks_and_publish_on_tags() -> None:
    folder = ROOT / ".github" / "workflows"
    checks, publish = ((folder / f"{name}.yml").read_text() for name in ("ci", "publish"))
    assert re.search(r"^      - run: \.ci/run$", checks, re.MULTILINE)
    assert re.search(r"^      - run: make docs$", checks, re.MULTILINE)
    assert 'tags: ["v*"]' in publish
    assert "branches" not in publish
    assert publish.index("make package") < publish.index("pypa/gh-action-pypi-publish")
    assert "password" not in publish.replace("no password", "")
