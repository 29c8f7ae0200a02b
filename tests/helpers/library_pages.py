"""The examples of a library's page, which run where that library is installed."""

import contextlib
import io

from document_blocks import ROOT, agrees, blocks_of


def run_page(name: str) -> int:
    """Run the Python blocks of `docs/libraries/NAME.md`, tagged `no-test` elsewhere, in order.

    Returns:
        How many there are.

    Raises:
        AssertionError: if one prints something else than stands below it.
    """
    page = ROOT / f"docs/libraries/{name}.md"
    blocks = [one for one in blocks_of(page.read_text("utf-8")) if one.language == "python"]
    names = {"__name__": "__main__"}
    for block in blocks:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert agrees(block.output or "", printed.getvalue(), "varies" in block.tags), (
            f"the block at line {block.line} of {page.name} printed {printed.getvalue()!r}"
        )
    return len(blocks)
