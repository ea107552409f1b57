"""What code imports, as the build asks it of pages, exercises and notebooks."""

import ast


def imported(source: str) -> set[str]:
    """Return the first names of the packages and modules that a source imports anywhere.

    >>> sorted(imported("import numpy as np, a.b\\ndef f():\\n    from c.d import e"))
    ['a', 'c', 'numpy']
    >>> imported("from . import f\\nfrom .g import h")  # its own package
    set()
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}
