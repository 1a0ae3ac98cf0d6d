"""A ready copy of the example, its databases built from the data package, once per session."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sql-analytics"


def load_script():
    """scripts/database.py as a module, imported by path as hfenv's demo does it."""
    spec = importlib.util.spec_from_file_location("sql_analytics_database", EXAMPLE / "scripts" / "database.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def database_script():
    return load_script()


@pytest.fixture(scope="session")
def sql_analytics(database_script, tmp_path_factory):
    """Folder of a complete copy; read it, never write to it."""
    folder = tmp_path_factory.mktemp("examples")
    # An empty folder to reuse from, so that the databases are really built.
    return database_script.prepare(folder / "sql-analytics", reuse=folder)


@pytest.fixture(scope="session")
def sql_tasks():
    return {
        split: [json.loads(line) for line in (EXAMPLE / "tasks" / f"{split}.jsonl").read_text("utf-8").splitlines()]
        for split in ("train", "test")
    }
