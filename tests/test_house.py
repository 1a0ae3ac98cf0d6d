"""The house: imports point down only, start-up stays lean, and a wheel has everything inside."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "hfenv"

# Who may import whom, straight from the architecture: a room may import itself and what stands here.
BASE = {"errors", "findings", "rules", "paths", "secret_shapes", "__init__"}
ALLOWED = {
    "errors": set(),
    "secret_shapes": set(),
    "findings": {"secret_shapes"},
    "rules": {"findings"},
    "paths": {"errors"},
    "card": BASE,
    "components": BASE | {"card"},
    "localhub": {"errors", "paths", "card", "components"},
    "hub": BASE | {"card", "components"},
    "runtime": BASE | {"card", "components"},
    "scaffold": BASE,
    "tasksets": BASE,
    "selecting": BASE | {"card", "components", "hub", "runtime"},
    "specify": BASE | {"card", "components", "hub", "runtime", "selecting"},
    "probing": BASE | {"card", "components", "runtime"},
    "sampling": BASE | {"card", "components", "hub", "runtime", "specify"},
    "rescoring": BASE | {"card", "components", "hub", "runtime", "specify"},
    "settling": BASE | {"card", "components", "hub", "runtime", "specify", "probing", "sampling"},
    "against": BASE | {"card", "components", "hub", "diffing"},
    "diffing": BASE | {"card", "components", "hub", "runtime", "probing", "specify"},
    "trusting": BASE | {"selecting", "card", "components", "hub", "runtime", "diffing", "specify"},
    "loading": BASE | {"card", "components", "hub", "runtime", "tasksets", "specify"},
    "locked": BASE | {"card", "components", "hub", "runtime", "selecting", "specify", "diffing"},
    "cli": BASE
    | {"card", "components", "hub", "runtime", "loading", "specify", "scaffold", "demo"}
    | {"against", "diffing", "locked", "probing", "rescoring", "sampling", "settling", "trusting"},
    "demo": BASE | {"card", "components", "hub", "runtime", "loading", "specify", "settling"},
}
# The embedded hub is known to the hub's client and to its own command alone.
EXTRA = {
    "hub/client.py": {"localhub"},
    "cli/hub.py": {"localhub"},
    "cli/hub_team.py": {"localhub"},
    "__init__.py": {"loading", "rescoring", "runtime"},
}


def imports(path: Path) -> set[str]:
    """Rooms of hfenv that a module imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names = [f"{node.module}.{alias.name}" if node.module == "hfenv" else node.module for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("hfenv.")}
    return found


def test_imports_point_down_only():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        room = relative.parts[0].removesuffix(".py")
        if room in ("_data", "__init__"):
            continue
        assert room in ALLOWED, f"{room} has no place in the house yet"
        allowed = ALLOWED[room] | {room} | EXTRA.get(relative.as_posix(), set())
        # `from hfenv import __version__` and the like name the public package itself.
        wrong += [f"{relative} imports hfenv.{name}" for name in imports(path) - allowed if (PACKAGE / name).exists()
                  or (PACKAGE / f"{name}.py").exists()]  # fmt: skip
    assert wrong == []


def test_modules_and_functions_stay_readable():
    long = []
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > 350:
            long.append(path.name)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno >= 50:
                long.append(f"{path.name}: {node.name}")
    assert long == []


def test_every_module_says_what_it_holds():
    mute = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert mute == []


SLOW = ("datasets", "huggingface_hub", "starlette", "jsonschema", "jinja2", "pygit2", "uvicorn", "gymnasium")


def imported_by(*arguments: str, cwd: Path) -> set[str]:
    """The slow packages that one command imports, measured in a process of its own."""
    code = (
        "import sys, json\n"
        f"sys.argv = ['hfenv', *{list(arguments)!r}]\n"
        "from hfenv.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print(json.dumps([m for m in {SLOW!r} if m in sys.modules]), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_imports_nothing_slow(tmp_path):
    assert imported_by("--help", cwd=tmp_path) == set()
    assert imported_by("push", "--help", cwd=tmp_path) == set()


def test_help_loads_nothing_that_runs_or_compares(tmp_path):
    code = (
        "import sys\nimport hfenv.cli.bump, hfenv.cli.diff, hfenv.cli.push, hfenv.cli.status\n"
        "print(sorted(m for m in sys.modules if m.startswith(('hfenv.probing', 'hfenv.diffing', 'hfenv.settling'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_init_imports_no_hub(tmp_path):
    assert imported_by("init", "x", "--template", "sql", cwd=tmp_path) <= {"jinja2"}
    assert (tmp_path / "x" / "README.md").is_file()


def test_validate_imports_no_hub(tmp_path):
    assert imported_by("validate", str(ROOT / "examples" / "sql-analytics"), cwd=tmp_path) <= {"jsonschema"}


def test_a_hook_that_extracts_waits_for_nothing_slow(tmp_path):
    card = str(ROOT / "examples" / "sql-analytics" / "README.md")
    assert imported_by("card", "extract", card, cwd=tmp_path) == set()
    assert imported_by("card", "preview", card, "--out", "page.html", cwd=tmp_path) <= {"jinja2"}


def test_every_command_in_the_help_works(tmp_path):
    from hfenv.cli.app import ENTRIES

    for entry in ENTRIES:
        done = subprocess.run(
            [sys.executable, "-m", "hfenv.cli", entry.name, "--help"], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 0, entry.name


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The console script of a wheel built from this checkout, in a virtual environment of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    home = folder / "venv"
    venv.create(home, with_pip=False)
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    wheel = next(folder.glob("hfenv-*.whl"))
    install = ["--no-deps", "--no-index", "--target", str(purelib), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "install", *install], check=True, capture_output=True)
    # The dependencies are borrowed from here; a path file's own path files aren't read, so that the checkout isn't.
    (purelib / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin" / "python"


def test_an_installed_wheel_works_from_an_empty_folder(installed, tmp_path):
    variables = {**os.environ, "HFENV_HOME": str(tmp_path / "home"), "PYTHONPATH": ""}

    def hfenv(*arguments: str) -> str:
        command = [str(installed), "-m", "hfenv.cli", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = [str(installed), "-c", "import hfenv; print(hfenv.__file__)"]
    location = subprocess.run(where, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True).stdout
    assert str(PACKAGE) not in location
    assert "sql" in hfenv("init", "--list")
    hfenv("init", "x", "--template", "sql")
    hfenv("validate", "x")
    assert hfenv("card", "preview", "x").startswith("<!doctype html>")
    assert hfenv("card", "schema", "--as", "markdown").startswith("# Fields")
    assert "local/x" in hfenv("push", "local/x", "x", "--hub", "local")
