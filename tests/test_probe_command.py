"""`hfenv probe`: record, update and check, as people and scripts see them."""

import json
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from hfenv.components.probes import read_probes
from tests.support import replace_in, run_cli, write_environment


@pytest.fixture
def adding(tmp_path):
    return write_environment(tmp_path / "adding")


@pytest.fixture
def rollouts(adding, tmp_path):
    path = tmp_path / "rollouts.jsonl"
    texts = []
    for policy in ("oracle", "random"):
        done = run_cli("run", adding, "--policy", policy, "--episodes", 6, "--backend", "inline", "--out", path)
        assert done.exit_code == 0, done.stderr
        texts.append(path.read_text())
    path.write_text("".join(texts))
    return path


def test_probes_are_recorded_checked_and_part_of_a_valid_environment(adding, rollouts):
    done = run_cli("probe", "record", rollouts, adding, "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert (done.json["command"], done.json["kept"], done.json["differed"]) == ("probe record", 0, 0)
    probes = read_probes(adding)
    assert done.json["probes"] == done.json["added"] == len(probes) > 1
    assert {probe.expected.total for probe in probes} == {1.0, -1.0}
    assert run_cli("validate", adding).exit_code == 0
    checked = run_cli("probe", "check", adding)
    assert checked.exit_code == 0
    assert f"{len(probes)} probes, each scores as it expects." in checked.stdout
    assert "hint: There is no probe of an empty attempt." in checked.stdout
    content = (adding / "reward/probes.jsonl").read_bytes()
    assert run_cli("probe", "record", rollouts, adding, "--format", "quiet").stdout.strip() == str(len(probes))
    assert (adding / "reward/probes.jsonl").read_bytes() == content


def test_a_changed_reward_is_told_and_then_accepted(adding, rollouts):
    run_cli("probe", "record", rollouts, adding)
    replace_in(adding / "reward/reward.py", 'hfenv.Score(-1.0, {"form": -1.0}', 'hfenv.Score(-0.5, {"form": -0.5}')
    stale = run_cli("probe", "check", adding)
    assert stale.exit_code == 1
    assert "total -1 -> -0.5, form -1 -> -0.5" in stale.stdout
    assert "hfenv probe update" in stale.stdout
    assert run_cli("probe", "check", adding, "--format", "json").json["sound"] is False
    assert run_cli("probe", "update", adding).exit_code == 0
    assert run_cli("probe", "check", adding).exit_code == 0
    assert {probe.expected.total for probe in read_probes(adding)} == {1.0, -0.5}


def test_replace_forgets_what_was_there_even_when_it_can_t_be_read(adding, rollouts):
    (adding / "reward/probes.jsonl").write_text("{\n")
    refused = run_cli("probe", "record", rollouts, adding)
    assert refused.exit_code == 3
    assert "reward/probes.jsonl:1" in refused.stderr
    assert run_cli("probe", "record", rollouts, adding, "--replace").exit_code == 0
    assert len(read_probes(adding)) > 1


def test_a_flaky_reward_fails_the_check_and_names_the_probes(adding, rollouts):
    run_cli("probe", "record", rollouts, adding)
    before = (adding / "reward/probes.jsonl").read_bytes()
    replace_in(adding / "reward/reward.py", "import hfenv\n", "import hfenv\nimport random\n")
    replace_in(adding / "reward/reward.py", "hfenv.Score(-1.0,", "hfenv.Score(-random.random(),")
    checked = run_cli("probe", "check", adding)
    assert checked.exit_code == 1
    assert "scored differently in two runs" in checked.stdout
    updated = run_cli("probe", "update", adding)
    assert (updated.exit_code, (adding / "reward/probes.jsonl").read_bytes()) == (1, before)


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("record", "nothing.jsonl", "."), 4, "There is no file nothing.jsonl"),
        (("check", "."), 4, "hfenv probe record"),
        (("check", "reward"), 2, "no Environment Card"),
        (("record", "README.md", "."), 3, "README.md:1: not a recorded episode"),
        (("record",), 2, ""),
    ],
)
def test_what_a_user_gets_wrong_ends_in_a_sentence(adding, arguments, code, text):
    done = run_cli("probe", *arguments, cwd=adding)
    assert (done.exit_code, done.stdout) == (code, "")
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_builtin_reward_is_refused(adding, rollouts):
    replace_in(adding / "README.md", 'entry: "reward/reward.py:score", range', "builtin: true, range")
    for command in (("record", rollouts, adding), ("check", adding), ("update", adding)):
        done = run_cli("probe", *command)
        assert done.exit_code == 2
        assert "reward.builtin" in done.stderr


def test_a_pulled_folder_needs_trust(adding, rollouts, tmp_path):
    run_cli("probe", "record", rollouts, adding)
    assert run_cli("push", "local/adding", adding, "--hub", "local").exit_code == 0
    pulled = tmp_path / "pulled"
    assert run_cli("pull", "local/adding", "--to", pulled, "--hub", "local").exit_code == 0
    assert run_cli("probe", "check", pulled).exit_code == 7
    assert run_cli("probe", "check", pulled, "--trust-remote-code").exit_code == 0


def test_a_killed_command_leaves_the_file_and_no_process(adding, rollouts, marked_processes):
    run_cli("probe", "record", rollouts, adding)
    before = (adding / "reward/probes.jsonl").read_bytes()
    with (adding / "reward/reward.py").open("a") as stream:
        stream.write("\n\n_score = score\n\n\ndef score(task, transcript):\n    while True:\n        pass\n")
    command = [sys.executable, "-m", "hfenv.cli", "probe", "update", str(adding)]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as running:
        end = time.monotonic() + 30
        while len(marked_processes()) < 3 and time.monotonic() < end:
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while marked_processes() and time.monotonic() < end:
        time.sleep(0.05)
    assert marked_processes() == []
    assert (adding / "reward/probes.jsonl").read_bytes() == before


@pytest.fixture
def marked_processes(monkeypatch):
    """Ids of the processes that this test started, and that inherited its environment."""
    mark = f"HFENV_TEST_MARK={uuid.uuid4().hex}"
    monkeypatch.setenv(*mark.split("="))

    def find():
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    return find


def test_control_signs_in_what_a_reward_says_reach_no_terminal(adding, rollouts):
    run_cli("probe", "record", rollouts, adding)
    replace_in(adding / "reward/reward.py", "    said = ", '    raise ValueError("\\x1b[31m::error::red")\n    said = ')
    checked = run_cli("probe", "check", adding)
    assert checked.exit_code == 1
    assert "\x1b" not in checked.stdout + checked.stderr
    assert json.loads(run_cli("probe", "check", adding, "--format", "json").stdout)["failed"]
