"""Runner of the examples on a library's page, for environments that have the library."""

import contextlib
import io

from document_blocks import ROOT, agrees, blocks_of


def run_page(name: str) -> int:
    """Run the Python blocks of `docs/libraries/NAME.md` in order, and compare their outputs.

    Returns:
        The number of blocks.

    Raises:
        AssertionError: if a block does not print the output below it.
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
