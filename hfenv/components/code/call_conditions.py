"""Conditions of the table of names that matter: which uses of a name are the ones that a rule is about."""

from __future__ import annotations

import ast

from hfenv.components.code.names import Scope
from hfenv.components.code.walk import Use


def always(use: Use) -> bool:
    return True


def never(use: Use) -> bool:
    return False


def called(use: Use) -> bool:
    return use.call is not None


def unseeded(use: Use) -> bool:
    """A generator that is made without a seed: no argument, or None."""
    if use.call is None:
        return False
    given = [*use.call.args, *(keyword.value for keyword in use.call.keywords)]
    return all(isinstance(value, ast.Constant) and value.value is None for value in given)


def without_arguments(use: Use) -> bool:
    return use.call is not None and not use.call.args and not use.call.keywords


def without_generator(use: Use) -> bool:
    """A call that isn't handed a generator of its own."""
    return use.call is not None and not any(keyword.arg in ("generator", None) for keyword in use.call.keywords)


def one_format(use: Use) -> bool:
    """`time.strftime` without a time formats the present one."""
    return use.call is not None and len(use.call.args) < 2 and not use.call.keywords


def first_not_literal(use: Use) -> bool:
    """Text that is put together at run time, or a function that is passed on."""
    return use.call is None or not _is_literal(_argument(use.call, 0), use.scope)


def evaluates_unknown(use: Use) -> bool:
    # A reference such as `compile=compile` hands the function on; `{"eval": None}` isn't one.
    return use.call is None or (bool(use.call.args) and not _is_literal(use.call.args[0], use.scope))


def imports_unknown(use: Use) -> bool:
    """A module whose name is made at run time; a name that begins with a dot stays in the package."""
    if use.call is None or not (name := _argument(use.call, 0)) or _is_literal(name, use.scope):
        return False
    start = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else name
    while isinstance(start, ast.BinOp):
        start = start.left
    return not (isinstance(start, ast.Constant) and str(start.value).startswith("."))


def runs_shell(use: Use) -> bool:
    """`shell=True`, or a shell that is given a text to run, where that text isn't a literal."""
    command = _command(use)
    if use.call is None or command is None or _is_literal(command, use.scope):
        return False
    shell = _keyword(use.call, "shell")
    if shell is not None and not (isinstance(shell, ast.Constant) and not shell.value):
        return True
    if not isinstance(command, (ast.List, ast.Tuple)) or not command.elts:
        return False
    words = [part.value if isinstance(part, ast.Constant) else None for part in command.elts]
    program = str(words[0]).rpartition("/")[2].removesuffix(".exe").lower()
    texts = [w for w in words[1:] if isinstance(w, str) and w.lower() in ("-c", "-lc", "-ic", "/c", "-command")]
    return program in ("sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh") and bool(texts)


def installs(use: Use) -> bool:
    """A program that fetches and installs something while the environment runs."""
    if (command := _command(use)) is None:
        return False
    words = [str(part.value) for part in ast.walk(command) if isinstance(part, ast.Constant)]
    text = f" {' '.join(words)} "
    if any(f" {tool} install " in text for tool in ("pip", "pip3", "conda", "mamba", "npm", "apt-get", "apt")):
        return True
    return any(f" {tool} " in text for tool in ("curl", "wget")) and "|" in text


def loads_any_object(use: Use) -> bool:
    """`torch.load` without weights_only=True."""
    return use.call is not None and not _is_true(use.call, "weights_only")


def allows_pickle(use: Use) -> bool:
    return use.call is not None and _is_true(use.call, "allow_pickle")


def without_safe_loader(use: Use) -> bool:
    if use.call is None:
        return False
    loader = _argument(use.call, 1, "Loader")
    name = use.scope.dotted(loader) if loader is not None else None
    return loader is None or (name or "").rpartition(".")[2] not in ("SafeLoader", "CSafeLoader", "BaseLoader", "")


def trusts_remote(use: Use) -> bool:
    return use.call is not None and _is_true(use.call, "trust_remote_code")


def uses_files(use: Use) -> bool:
    """In a function, and not on a file beside the code: what is read at import belongs to the component."""
    if use.call is None or not use.place.function:
        return False
    pending: list[tuple[ast.expr, int]] = [(use.call, 0)]
    while pending:
        expression, hops = pending.pop()
        for part in ast.walk(expression):
            if isinstance(part, ast.Name) and part.id == "__file__":
                return False
            if isinstance(part, ast.Name) and hops < _HOPS and (value := use.scope.literal(part.id)) is not None:
                pending.append((value, hops + 1))
    return True


def _command(use: Use) -> ast.expr | None:
    """What a call runs: a text, a list of words, or all of its arguments."""
    if use.call is None:
        return None
    if use.dotted == "asyncio.create_subprocess_exec":
        return ast.List(use.call.args, ast.Load())
    return _argument(use.call, 0, "args")


def _argument(call: ast.Call, index: int, name: str | None = None) -> ast.expr | None:
    if index < len(call.args):
        return call.args[index]
    return _keyword(call, name) if name else None


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_true(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return isinstance(value, ast.Constant) and bool(value.value)


_MOST_PARTS = 1_000
_HOPS = 3  # names followed to what they are assigned


def _is_literal(expression: ast.expr | None, scope: Scope) -> bool:
    """Whether an expression is written out in the file: constants, lists of them, names that stand for one."""
    pending, hops, looked = [expression], 0, 0
    while pending:
        part = pending.pop()
        looked += 1
        if looked > _MOST_PARTS:
            return False
        if isinstance(part, (ast.List, ast.Tuple)):
            pending += part.elts
        elif isinstance(part, ast.BinOp):
            pending += [part.left, part.right]
        elif isinstance(part, ast.JoinedStr):
            pending += [value.value if isinstance(value, ast.FormattedValue) else value for value in part.values]
        elif isinstance(part, ast.Name) and hops < 20:
            hops += 1
            pending.append(scope.literal(part.id))
        elif not isinstance(part, ast.Constant):
            return False
    return True
