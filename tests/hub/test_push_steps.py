"""What a push sends and how often, what it does when the way to the hub fails, and signals in the midst of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd

from hfenv.errors import ConflictError, NetworkError
from hfenv.hub import patience
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, _Push, push
from tests.hub.test_push import REPO, commits, git
from tests.hub.wire import dropped, failing, refused, unanswered, watched
from tests.support import replace_in, run_cli, write_environment

ROOT = Path(__file__).resolve().parents[2]
COMMIT, TAG = "/commit/", "/tag/"


@pytest.fixture
def wire():
    with watched() as found:
        yield found


def pushed_from(root, repo=REPO, **options):
    """Push, and count the requests."""
    with connect("local") as hub:
        return push(hub, root, repo, PushOptions(**options)), hub.requests


def bare(root, repo, paths):
    """Requests of a bare create_commit of the same files."""
    with connect("local") as hub:
        hub.api.create_repo(repo, repo_type="dataset", exist_ok=True)
        before = hub.requests
        operations = [CommitOperationAdd(path, str(root / path)) for path in paths]
        hub.api.create_commit(repo, operations, commit_message="bare", repo_type="dataset")
        return hub.requests - before


def bumped(root):
    """Another release, with one version and one tag beside its own."""
    replace_in(root / "README.md", 'code: {version: "1.0.0"', 'code: {version: "1.0.1"')
    replace_in(root / "env/words.py", "much", "many")
    entry = "## [1.0.1] - 2026-01-01\n\n### Fixed\n\n- Words.\n"
    replace_in(root / "changelog/code.md", "# Changelog\n", f"# Changelog\n\n{entry}")


def edited(root):
    """Another commit, and no release."""
    replace_in(root / "LICENSE", "Apache", "apache")


# Requests


@pytest.mark.parametrize("large", [0, 2])
def test_a_first_push_takes_four_requests_more_than_a_bare_commit_and_its_tags(adding, large):
    for number in range(large):
        (adding / "docs").mkdir(exist_ok=True)
        (adding / "docs" / f"{number}.png").write_bytes(os.urandom(1000))
    result, requests = pushed_from(adding)
    assert len(result.tags) == 4
    assert requests <= bare(adding, "local/bare", result.uploaded) + len(result.tags) + 4


@pytest.mark.parametrize("cache", ["warm", "cold"])
@pytest.mark.parametrize("kind", ["release", "documentation"])
def test_a_later_push_takes_at_most_four_more(home, pushed, cache, kind):
    root, _ = pushed
    if kind == "release":
        bumped(root)
    else:
        replace_in(root / "README.md", "It is tiny.", "It is small.")
    if cache == "cold":
        shutil.rmtree(os.environ.get("HFENV_CACHE", home / "cache"), ignore_errors=True)
    result, requests = pushed_from(root)
    assert len(result.tags) == (2 if kind == "release" else 0)
    assert requests <= bare(root, "local/bare", result.uploaded) + len(result.tags) + 4


def test_a_push_from_a_clone_without_state_takes_at_most_four_more(home, pushed):
    root, _ = pushed
    shutil.rmtree(root / ".hfenv")
    shutil.rmtree(home / "cache", ignore_errors=True)
    bumped(root)
    result, requests = pushed_from(root)
    assert requests <= bare(root, "local/bare", result.uploaded) + len(result.tags) + 4


def test_an_unchanged_push_takes_three_requests_and_two_when_it_knows_the_head(home, pushed):
    root, _ = pushed
    assert pushed_from(root)[1] == 2
    shutil.rmtree(home / "cache", ignore_errors=True)
    assert pushed_from(root)[1] == 3


# Large files


def test_what_was_uploaded_is_not_sent_again(wire, home, adding, monkeypatch):
    (adding / "docs").mkdir()
    for number in range(3):
        (adding / "docs" / f"{number}.png").write_bytes(os.urandom(10_000))

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_Push, "commit", stop)
        assert run_cli("push", REPO, adding).exit_code == 130
    assert wire.count("PUT") == 3
    assert wire.count("POST", COMMIT) == 0
    assert run_cli("push", REPO, adding).exit_code == 0
    assert wire.count("PUT") == 3
    assert len(commits(home)) == 2


def test_a_large_file_that_changes_before_it_is_sent_stops_the_push(wire, home, pushed, monkeypatch):
    root, revision = pushed
    (root / "docs").mkdir()
    (root / "docs" / "big.png").write_bytes(b"a" * (3 << 20))
    prepare = _Push.prepare

    def edit_first(*arguments):
        (root / "docs" / "big.png").write_bytes(b"b" * (3 << 20))
        return prepare(*arguments)

    monkeypatch.setattr(_Push, "prepare", edit_first)
    refused = run_cli("push", REPO, root)
    assert refused.exit_code == 7
    assert "docs/big.png changed" in refused.stderr
    assert commits(home)[0] == revision


# The way to the hub fails


@pytest.mark.parametrize("lost", [unanswered, failing(504), failing(500)], ids=["no answer", "504", "500"])
def test_a_commit_whose_answer_got_lost_is_found_and_not_repeated(wire, home, pushed, lost):
    root, _ = pushed
    bumped(root)
    wire.fault("POST", COMMIT, lost)
    result, _ = pushed_from(root)
    assert result.revision == commits(home)[0]
    assert result.tags == ("v1.0.1", "code-v1.0.1")
    assert wire.count("POST", COMMIT) == 1
    assert len(commits(home)) == 3


def test_it_is_found_below_what_others_pushed_since(wire, home, pushed):
    root, _ = pushed
    edited(root)

    def late(handle):
        handle().read()
        with connect("local") as hub:
            hub.api.upload_file(path_or_fileobj=b"x\n", path_in_repo="x.md", repo_id=REPO, repo_type="dataset")
        raise TimeoutError

    wire.fault("POST", COMMIT, late)
    result, _ = pushed_from(root)
    line = commits(home)
    assert result.revision == line[1]
    assert len(line) == 4


@pytest.mark.parametrize("way", [dropped, refused(503), refused(429)], ids=["dropped", "503", "429"])
def test_a_commit_that_did_not_land_is_sent_again(wire, home, pushed, way):
    root, _ = pushed
    edited(root)
    wire.fault("POST", COMMIT, way, times=2)
    result, _ = pushed_from(root)
    assert (wire.count("POST", COMMIT), wire.waited) == (3, list(patience.WAITS[:2]))
    assert result.revision == commits(home)[0]
    assert len(commits(home)) == 3


def test_one_that_lands_after_all_while_it_is_repeated_is_taken_for_what_it_is(wire, home, pushed):
    root, _ = pushed
    edited(root)
    held = []

    def held_back(handle):
        held.append(handle)
        raise TimeoutError

    def arrives_first(handle):
        held[0]().read()
        return handle()

    wire.fault("POST", COMMIT, held_back)
    wire.fault("POST", COMMIT, arrives_first)
    result, _ = pushed_from(root)
    assert result.revision == commits(home)[0]
    assert len(commits(home)) == 3


def test_of_a_first_commit_too(wire, home, adding):
    wire.fault("POST", COMMIT, unanswered)
    wire.fault("POST", "/api/repos/create", unanswered)
    result, _ = pushed_from(adding)
    assert result.revision == commits(home)[0]
    assert len(commits(home)) == 2


def test_a_hub_that_stays_away_is_given_up_after_a_few_tries(wire, home, pushed):
    root, revision = pushed
    edited(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    wire.fault("POST", COMMIT, dropped, times=100)
    with pytest.raises(NetworkError):
        pushed_from(root)
    assert wire.count("POST", COMMIT) == len(patience.WAITS) + 1
    assert commits(home)[0] == revision
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("way", [unanswered, refused(502), dropped], ids=["no answer", "502", "dropped"])
def test_every_other_step_is_asked_again(wire, home, pushed, way):
    root, _ = pushed
    bumped(root)
    shutil.rmtree(home / "cache", ignore_errors=True)
    for method, path in (("GET", "/refs$"), ("GET", "/tree/"), ("POST", TAG), ("POST", "/preupload/")):
        wire.fault(method, path, way)
    result, _ = pushed_from(root)
    assert result.tags == ("v1.0.1", "code-v1.0.1")
    assert git(home, "rev-parse", "v1.0.1") == git(home, "rev-parse", "code-v1.0.1") == result.revision


@pytest.mark.parametrize("status", [400, 403, 409, 412])
def test_no_answer_of_the_4xx_is_asked_for_twice(wire, pushed, status):
    root, _ = pushed
    edited(root)
    wire.fault("POST", COMMIT, refused(status), times=100)
    assert run_cli("push", REPO, root).exit_code in (2, 4, 5)
    assert wire.count("POST", COMMIT) == 1
    assert wire.waited == []


def test_the_hub_says_how_long_to_wait(wire, pushed):
    root, _ = pushed
    bumped(root)
    wire.fault("POST", TAG, refused(429, {"Retry-After": "17"}))
    wire.fault("GET", "/refs$", refused(429, {"RateLimit": '"api";r=0;t=23'}))
    pushed_from(root)
    assert wire.waited == [23.0, 17.0]


def test_and_who_asks_for_too_much_is_left_alone(wire, pushed):
    root, _ = pushed
    bumped(root)
    wire.fault("POST", TAG, refused(429, {"Retry-After": "3600"}))
    refusal = run_cli("push", REPO, root)
    assert refusal.exit_code == 6
    assert "3600 seconds" in refusal.stderr
    assert wire.waited == []
    assert run_cli("push", REPO, root, "--format", "json").json["tags"] == ["v1.0.1", "code-v1.0.1"]


def test_a_tag_that_somebody_else_made_elsewhere_is_told(wire, home, pushed):
    root, revision = pushed
    bumped(root)

    def taken(handle):
        git(home, "tag", "v1.0.1", revision)
        return handle()

    wire.fault("POST", TAG, taken)
    with pytest.raises(ConflictError, match=r"Tag v1\.0\.1 of local/adding was made by another push"):
        pushed_from(root)


# What moved


def test_who_is_behind_is_told_which_files_moved_and_by_whom(home, pushed, tmp_path):
    root, base = pushed
    other = tmp_path / "other"
    shutil.copytree(root, other)
    replace_in(other / "README.md", "It is tiny.", "Somebody else's edit.")
    (other / "docs.md").write_text("x\n")
    (other / "LICENSE").unlink()
    assert run_cli("push", REPO, other, "-m", "A title with \x1b[31mcolour").exit_code == 0
    head = commits(home)[0]
    (root / "more.md").write_text("x\n")
    behind = run_cli("push", REPO, root)
    assert behind.exit_code == 5
    assert f"({base[:12]} -> {head[:12]})" in behind.stderr
    for said in ("LICENSE deleted", "README.md changed", "docs.md added", f"{head[:12]} by local on 20"):
        assert said in behind.stderr
    assert "A title with" in behind.stderr
    assert "\x1b" not in behind.stderr
    assert "hfenv pull --update" in behind.stderr
    assert f"--base {head}" in behind.stderr


# Signals


@pytest.mark.parametrize(
    ("number", "step"), [(signal.SIGINT, "prepare"), (signal.SIGTERM, "prepare"), (signal.SIGTERM, "keep_record")]
)
def test_a_signal_ends_a_push_cleanly(home, adding, monkeypatch, number, step):
    before = signal.getsignal(signal.SIGTERM)

    def interrupted(*_):
        os.kill(os.getpid(), number)
        time.sleep(10)  # it comes at once, but perhaps not before the next line

    with monkeypatch.context() as patch:
        patch.setattr(_Push, step, interrupted)
        ended = run_cli("push", REPO, adding)
    assert (ended.exit_code, ended.stdout) == (128 + number, "")
    assert "Traceback" not in ended.stderr
    assert signal.getsignal(signal.SIGTERM) is before
    assert not list(adding.rglob(".hfenv-*.part"))
    assert run_cli("push", REPO, adding).exit_code == 0
    assert len(commits(home)) == 2
    assert len(git(home, "tag").splitlines()) == 4


# Many processes


def benchmark(name, *arguments):
    command = [sys.executable, str(ROOT / "benchmarks" / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_killed_pushes_and_pulls():
    benchmark("killed_pushes.py", "--trials", "3", "--seed", "11")


@pytest.mark.slow
def test_more_killed_pushes_and_pulls():
    benchmark("killed_pushes.py", "--trials", "17", "--seed", "12")


@pytest.mark.slow
def test_sixteen_writers():
    benchmark("many_writers.py", "--rounds", "2")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo terminal")
def test_a_terminal_gets_a_bar_with_bytes_and_time_left(tmp_path):
    import fcntl
    import pty
    import struct
    import termios

    root = write_environment(tmp_path / "big")
    (root / "docs").mkdir()
    (root / "docs" / "big.bin").write_bytes(os.urandom(30_000_000))
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    variables = {k: v for k, v in os.environ.items() if k != "HF_HUB_DISABLE_PROGRESS_BARS"}
    command = [sys.executable, "-m", "hfenv.cli", "push", "local/big", str(root), "--hub", "local"]
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=terminal) as process:
        os.close(terminal)
        seen = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
        process.stdout.read()
    os.close(main)
    assert process.returncode == 0
    assert b"/30.0M" in seen
    assert b"B/s" in seen
