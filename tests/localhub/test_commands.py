"""`hfenv hub`, and the fixture that other people's tests use."""

import json
import os
import signal
import subprocess
import sys

import httpx2
import pytest

MAIN = [sys.executable, "-c", "from hfenv.cli.app import main; main()", "hub"]


def hub(*arguments):
    return subprocess.run([*MAIN, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def served(tmp_path):
    """A running `hfenv hub serve`: the process and its URL."""
    command = [*MAIN, "serve", "--port", "0", "--root", str(tmp_path / "hub"), "--token", "alice:its-secret"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().strip()
        assert process.stdout.readline().startswith("Ready.")
        yield process, url
    finally:
        process.kill()
        process.communicate()


def whoami(url, token):
    answer = httpx2.get(f"{url}/api/whoami-v2", headers={"Authorization": f"Bearer {token}"})
    return answer.json().get("name", answer.status_code)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_until_a_signal(served, tmp_path, number):
    process, url = served
    assert whoami(url, "its-secret") == "alice"
    running = json.loads(hub("env", "--root", str(tmp_path / "hub"), "--format", "json").stdout)
    assert (running["variables"]["HF_ENDPOINT"], running["running"]) == (url, True)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors.splitlines()[-1] == "Stopped."
    stopped = json.loads(hub("env", "--root", str(tmp_path / "hub"), "--format", "json").stdout)
    assert stopped["running"] is False


def test_tokens_of_a_running_server(served, tmp_path):
    process, url = served
    root = str(tmp_path / "hub")
    made = json.loads(hub("token", "create", "bob", "--read-only", "--root", root, "--format", "json").stdout)
    assert whoami(url, made["token"]) == "bob"
    listed = json.loads(hub("token", "list", "--root", root, "--format", "json").stdout)["tokens"]
    assert [(each["user"], each["role"]) for each in listed] == [("bob", "read")]
    stored = tmp_path / "hub" / "tokens.json"
    assert made["token"] not in stored.read_text(encoding="utf-8")
    assert stored.stat().st_mode & 0o777 == 0o600
    assert hub("token", "revoke", listed[0]["id"], "--root", root).returncode == 0
    assert whoami(url, made["token"]) == 401
    again = hub("token", "revoke", listed[0]["id"], "--root", root)
    assert (again.returncode, "hfenv hub token list" in again.stderr) == (4, True)
    assert "its-secret" not in "".join(
        path.read_text("latin-1") for path in (tmp_path / "hub").rglob("*") if path.is_file()
    )
    process.terminate()
    output, errors = process.communicate(timeout=30)
    assert made["token"] not in output + errors
    assert "its-secret" not in output + errors


def test_a_port_in_use(served):
    port = served[1].rsplit(":", 1)[1]
    refused = hub("serve", "--port", port)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"Port {port} of 127.0.0.1 is in use" in refused.stderr
    assert "--port 0" in refused.stderr


@pytest.mark.parametrize("text", ["hunter2", "alice:", ":hunter2", "alice:hunter2 x", "al ice:hunter2", "api:hunter2"])
def test_a_malformed_token(tmp_path, text):
    refused = hub("serve", "--port", "0", "--root", str(tmp_path), "--token", text)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "hunter2" not in refused.stderr
    assert len(refused.stderr.splitlines()) == 2


def test_a_storage_folder_that_cant_be_one(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    refused = hub("serve", "--port", "0", "--root", str(tmp_path / "file" / "hub"))
    assert refused.returncode == 2
    assert "HFENV_LOCAL_HUB" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_damaged_list_of_tokens(tmp_path):
    (tmp_path / "tokens.json").write_text("{", encoding="utf-8")
    refused = hub("token", "list", "--root", str(tmp_path))
    assert (refused.returncode, "Traceback" in refused.stderr) == (3, False)


def test_env_is_what_a_shell_needs():
    done = hub("env")
    script = f'{done.stdout}\nprintf "%s %s" "$HF_ENDPOINT" "$HF_HUB_DISABLE_XET"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, env={"PATH": os.defpath})
    assert shell.stdout == "http://127.0.0.1:8177 1"


def test_path():
    assert hub("path").stdout.strip() == os.path.join(os.environ["HFENV_HOME"], "hub")  # noqa: PTH118 - as printed


def test_the_fixture_serves_tools_in_other_processes(hfenv_hub):
    token = hfenv_hub.token("dora")
    script = (
        "from huggingface_hub import HfApi; api = HfApi(); api.create_repo('dora/x', repo_type='dataset');"
        "api.upload_file(path_or_fileobj=bytes(11 << 20), path_in_repo='big', repo_id='dora/x', repo_type='dataset');"
        "print(api.whoami()['name'], api.dataset_info('dora/x', files_metadata=True).siblings[1].lfs.size)"
    )
    environment = {**os.environ, **hfenv_hub.environment(token)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["dora", str(11 << 20)]


def test_the_plugin_costs_other_test_runs_nothing():
    script = "import sys, hfenv.localhub.pytest_plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"starlette", "huggingface_hub", "httpx2", "uvicorn", "pygit2", "datasets", "yaml"}
