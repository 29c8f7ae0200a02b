"""The command `ludoteca gdl check`."""

from ludoteca.evaluate.cli.gdl.options import Sheet


def check(sheet: Sheet) -> None:
    """Check a rule sheet against the specification of GDL, without compiling it.

    The checks: parentheses, numbers of arguments, rules for legal, goal and terminal, moves of each
    role and goals of each player, goals from 0 to 100, variables that no positive literal binds
    (safety), negation within a cycle (stratification), the recursion restriction, terms that may
    grow without end, and which relations may depend on the moves. Each problem is printed on one
    line, with its line and column in the sheet. The exit status is 2 if there are errors, but not
    for warnings.

    Args:
        sheet: file of the rule sheet, or a sheet of this package, such as breakthrough.
    """
    from ludoteca.envs.gdl.checks import check_rules
    from ludoteca.envs.gdl.errors import counted
    from ludoteca.envs.gdl.own_sheets import find_sheet
    from ludoteca.envs.gdl.parse import parse, read_sheet
    from ludoteca.envs.gdl.rules import read_rules

    path = find_sheet(sheet)
    statements = parse(read_sheet(path), path.name)
    problems = check_rules(read_rules(statements, path.name))
    for problem in problems:
        print(f"{path}: {problem.severity}: {problem}")
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    counts = f"{counted(errors, 'error')} and {counted(warnings, 'warning')}"
    if errors:
        raise ValueError(f"{path}: {counts}")
    print(f"{path}: {counted(len(statements), 'statement')}, {counts}")
