"""Run a notebook from top to bottom: `python -P run_notebook.py NOTEBOOK PARAMETERS OUTPUTS`.

The cells are run by IPython, as in Jupyter, in the current folder. After the cell tagged
`parameters`, which sets them, parameters get the values of the JSON object PARAMETERS. What each
cell prints is written to the JSON file OUTPUTS, a list. The exit status is 1 if a cell fails.
"""

import json
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


def main() -> None:
    """Parse the command line and run the notebook."""
    notebook, parameters, outputs = sys.argv[1:]
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    shell = InteractiveShell.instance(colors="nocolor", history_length=0)
    shell.display_trap.hook = lambda value: None  # values of cells are shown, not printed
    values, printed = json.loads(parameters), []
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        with capture_output(stderr=False) as captured:
            result = shell.run_cell("".join(cell["source"]))
        printed.append(captured.stdout)
        Path(outputs).write_text(json.dumps(printed), encoding="utf-8")
        if not result.success:
            sys.exit(f"{cell['id']} fails:\n{captured.stdout}")
        if "parameters" in cell["metadata"].get("tags", ()):
            unknown = values.keys() - shell.user_ns.keys()
            if unknown:
                sys.exit(f"{cell['id']} has no parameter {', '.join(sorted(unknown))}")
            shell.user_ns.update(values)


if __name__ == "__main__":
    main()
