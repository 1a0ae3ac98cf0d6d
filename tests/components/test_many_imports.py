"""Statements that import very many names: the checks of calls go through each of them once."""

from __future__ import annotations

import ast

from hfenv.components.code.names import module_scope
from hfenv.components.code.source import Source
from hfenv.components.code.walk import uses


class Counted(list):
    """A list that counts how often somebody goes through it."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()


def test_a_statement_with_many_imports_is_looked_at_once():
    statement = ast.parse("import " + ", ".join(f"m{number}" for number in range(100)) + ", random as chance").body[0]
    statement.names = names = Counted(statement.names)
    source = Source("env/a.py", "chance.random()\n", ast.parse("chance.random()"))
    list(uses(source, module_scope(source.tree), [statement] * 101, {"random"}, set()))
    assert names.times == 1
