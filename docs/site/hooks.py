"""MkDocs hooks: the navigation, generated pages, and GitHub's Markdown.

The documents are written for GitHub. The hooks add pages that exist only on the site: the quick
start (sections of the README), the API reference, and lists of result files. They also add a
gallery of the games.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

from api_pages import api_pages, copy_packages
from github_markdown import DOCS, ROOT, file_lists, repository_pages, translate
from navigation import navigation


def on_startup(command: str, dirty: bool) -> None:
    """Copy the packages to build/docs, where mkdocstrings reads them.

    This must happen before `on_config`, in which mkdocstrings lists the files of that folder.
    """
    copy_packages(ROOT, ROOT / "build" / "docs")


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages and set the navigation."""
    pages = {
        **repository_pages(ROOT),
        **file_lists(DOCS),
        **api_pages(ROOT / "build" / "docs"),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    documents = [file.src_uri for file in files.documentation_pages()]
    config.nav = navigation([path for path in documents if not path.endswith("/files.md")])
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Translate a document from GitHub's Markdown."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    generated = page.file.generated_by is not None
    return translate(markdown, page.file.src_uri, generated)


def on_post_build(config: Any) -> None:
    """Remove the copy of the packages."""
    shutil.rmtree(ROOT / "build" / "docs", ignore_errors=True)
