"""The index of a task set: golden vectors, what it reads and refuses, and the form in which a record holds it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from hfenv.card.manifest import Resource
from hfenv.card.reader import read_card
from hfenv.card.schema import manifest_of
from hfenv.components.changes.change import ChangeKind
from hfenv.components.digest import canonical_json
from hfenv.components.ownership import Component, FileEntry, walk
from hfenv.components.tasks import parquet as taskparquet
from hfenv.components.tasks.changes import classify_tasks
from hfenv.components.tasks.digests import canonical
from hfenv.components.tasks.index import index_tasks, task_source
from hfenv.components.tasks.record import from_json, to_json
from hfenv.components.tasks.resources import resource_digests
from hfenv.components.tasks.since import since_release
from hfenv.components.tasks.values import TaskValues
from hfenv.components.versions import Level
from hfenv.errors import NotFoundError, UnreadableError
from tests.components.tasksets import Form, Tasks, recorded, scan, task, tasks, write
from tests.support import write_environment

CANONICAL = [
    ({}, "{}"),
    ({"b": 1, "a": [1.0, -0.0, 1e16, 1e-7, 0.1]}, '{"a":[1.0,-0.0,1e+16,1e-07,0.1],"b":1}'),
    ({"\U0001f600": "\u00e9\n\u2028", "\uffff": None}, r'{"\uffff":null,"\ud83d\ude00":"\u00e9\n\u2028"}'),
    ({"a": {"z": True, "A": [{"y": 1, "x": 2**70}]}}, '{"a":{"A":[{"x":1180591620717411303424,"y":1}],"z":true}}'),
    ({"half": "\ud800"}, r'{"half":"\ud800"}'),
]


@pytest.mark.parametrize(("value", "text"), CANONICAL)
def test_the_canonical_form(value, text):
    assert canonical(value) == text == canonical_json(value)


def test_golden_vectors(tmp_path):
    rows = [
        {"id": "a", "question": "2 + 2?", "answer": 4, "level": "easy", "hint": None},
        {"level": "hard", "answer": 4.0, "question": "\u00e9\U0001f600", "id": "b", "parts": [{"y": 1, "x": None}]},
    ]
    model = Tasks({"train": rows[:1], "test": rows[1:]}, {"question": "input", "level": "meta"}, {"db": "0" * 64})
    index = scan(tmp_path, model).index()
    assert index.meaning == "1a29a3628fe3b534e33d38b556c9c3bcb2cff1873bcc085473a261593b95ea6f"
    assert index.splits["test"].content == "1b4f3dd34a36355765fa87bb426b2a71aecfec0890ba9699ad51edd9923c9531"
    assert to_json(index)["splits"]["train"]["tasks"] == ["FiXK7kbZN4KaHDwK a"]
    assert to_json(index)["fields"] == {
        "answer": "target float int",
        "hint": "target",
        "level": "meta text",
        "parts": "target list",
        "question": "input text",
    }


def test_null_and_absent_are_one_at_the_top_and_two_inside(tmp_path):
    def meaning(**values):
        return (
            scan(tmp_path, Tasks({"train": [{"id": "a", "q": 1, **values}, {"id": "b", "q": None, "x": {}}]}))
            .index()
            .meaning
        )

    assert meaning() == meaning(x=None)
    assert meaning(x={}) != meaning(x={"y": None})


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_several_processes_find_what_one_finds(tmp_path, suffix):
    source = write(tmp_path, tasks(train=50), Form(suffix, files=4))
    alone, together = index_tasks(source, workers=1), index_tasks(source, workers=2)
    assert to_json(alone.index()) == to_json(together.index())
    assert [together.place(row) for row in (0, 14, 50)] == [
        (f"tasks/train-0{suffix}", 1), (f"tasks/train-1{suffix}", 2), (f"tasks/test-0{suffix}", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(("piece", "least"), [(1, 1), (1, 1 << 20), (600, 1), (1 << 20, 1)])
@pytest.mark.parametrize("group", [None, 1, 7])
def test_parquet_is_one_in_whatever_pieces_it_is_read(tmp_path, monkeypatch, piece, least, group):
    monkeypatch.setattr(taskparquet, "_PIECE", piece)
    monkeypatch.setattr(taskparquet, "RANGE", least)
    source = write(tmp_path, tasks(train=20), Form(".parquet", group=group))
    found = index_tasks(source, workers=1)
    assert to_json(found.index()) == to_json(scan(tmp_path, tasks(train=20)).index())
    assert [found.place(row)[1] for row in range(24)] == [*range(1, 21), *range(1, 5)]
    with TaskValues(found, range(24)) as values:
        assert [row["id"] for row in values.read(range(24)).values()] == list(found.rows.names)


def test_a_row_of_parquet_has_a_place_too(tmp_path):
    scanned = scan(tmp_path, tasks(), Form(".parquet", files=2, group=2))
    assert scanned.place(4) == ("tasks/train-1.parquet", 2)


BAD = [
    (b'{"id": "a"}\n{"id": }\n', "tasks/train.jsonl:2: not JSON"),
    (b'{"id": "a"}\n\n[1]\n', "tasks/train.jsonl:3: the row is no JSON object"),
    (b'{"id": "a"} {}\n', "tasks/train.jsonl:1: not JSON: Extra data"),
    (b'{"id": "a", "x": NaN}\n', "tasks/train.jsonl:1: not JSON: NaN is no JSON number"),
    (b'{"id": "a", "x": 1e999}\n', "tasks/train.jsonl:1: the row isn't plain JSON"),
    (b'{"id": "a\xff"}\n', "tasks/train.jsonl:1: byte 10 is not UTF-8"),
    (b"\xef\xbb\xbf" + b'{"id": "a"}\n', "tasks/train.jsonl:1: not JSON"),
    (b'{"id": 1}\n', "tasks/train.jsonl:1: the task has no string 'id'"),
    (b'{"id": ""}\n', "tasks/train.jsonl:1: the task has no string 'id'"),
    (b'{"x": 1}\n', "tasks/train.jsonl:1: the task has no string 'id'"),
    (b'{"id": "a"}\n{"id": "b"}\n{"id": "a"}\n', "tasks/train.jsonl:3: another task has the id 'a' already"),
    (b'{"id": "a", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}", "tasks/train.jsonl:1: "),
]


@pytest.mark.parametrize(("content", "message"), BAD)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, content, message, workers):
    (tmp_path / "tasks").mkdir()
    source = write(tmp_path, Tasks({"train": [task(1)], "test": [task(2)]}))
    files = tuple(replace(file, name=f"tasks/{file.split}.jsonl") for file in source.files)
    files[0].path.write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        index_tasks(replace(source, files=files), workers=workers)
    assert caught.value.message.startswith(message)
    assert caught.value.hint


def test_the_same_id_in_two_splits_is_refused(tmp_path):
    with pytest.raises(UnreadableError, match=r"test-0\.jsonl:1: another task has the id 'task-001' already"):
        scan(tmp_path, Tasks({"train": [task(1)], "test": [task(1)]}))


def test_files_that_are_no_files_are_refused(tmp_path):
    source = write(tmp_path, tasks(), Form(".parquet"))
    source.files[1].path.write_bytes(b"PAR1 and no more")
    with pytest.raises(UnreadableError, match=r"tasks/test-0\.parquet: not readable as Parquet"):
        index_tasks(source)
    source.files[1].path.unlink()
    with pytest.raises(UnreadableError, match=r"tasks/test-0\.parquet can't be read"):
        index_tasks(source)


def test_dates_in_parquet_are_refused(tmp_path):
    import datetime

    model = Tasks({"train": [{"id": "a", "when": datetime.date(2026, 1, 1)}]})
    with pytest.raises(UnreadableError, match=r"train-0\.parquet:1: the row isn't plain JSON"):
        scan(tmp_path, model, Form(".parquet"))


def test_the_task_set_of_an_environment(tmp_path):
    write_environment(tmp_path)
    resource = tmp_path / "tasks" / "resources" / "words.txt"
    resource.parent.mkdir()
    resource.write_text("one two", encoding="utf-8")
    manifest = manifest_of(read_card(tmp_path))
    source = task_source(tmp_path, manifest, walk(tmp_path))
    assert source.splits == ("train", "test")
    assert [(file.name, file.evaluation) for file in source.files] == [
        ("tasks/train.jsonl", False), ("tasks/test.jsonl", True),
    ]  # fmt: skip
    assert source.roles == {"question": "input", "answer": "target", "difficulty": "meta"}
    assert list(source.resources) == ["tasks/resources/words.txt"]
    (tmp_path / "tasks" / "test.jsonl").unlink()
    with pytest.raises(NotFoundError, match="test"):
        task_source(tmp_path, manifest, walk(tmp_path))


def entry(path: str, sha256: str, executable: bool = False) -> FileEntry:
    return FileEntry(path, 1, sha256, executable, Component.TASKS)


class TestResources:
    A, B = "a" * 64, "b" * 64

    def test_a_file_is_its_own_digest_wherever_it_lies(self):
        here = [Resource("db", path="tasks/resources/x.db")], [entry("tasks/resources/x.db", self.A)]
        there = [Resource("db", path="tasks/resources/y/z.db")], [entry("tasks/resources/y/z.db", self.A)]
        elsewhere = [Resource("db", uri="hf://datasets/a/b/x.db", sha256=self.A, size=1)], []
        assert resource_digests(*here) == resource_digests(*there) == resource_digests(*elsewhere) == {"db": self.A}

    def test_a_folder_is_its_files(self):
        resource = [Resource("repo", path="tasks/resources/repo")]

        def digest(*files):
            return resource_digests(resource, files)["repo"]

        one, two = entry("tasks/resources/repo/a", self.A), entry("tasks/resources/repo/b", self.B)
        assert digest(one, two) == digest(two, one)
        variants = [
            digest(), digest(one), digest(one, two), digest(one, two._replace(sha256=self.A)),
            digest(one, two._replace(executable=True)), digest(one, two._replace(path="tasks/resources/repo/c")),
        ]  # fmt: skip
        assert len(set(variants)) == len(variants)

    def test_a_file_that_no_resource_is_goes_by_its_path(self):
        files = [
            entry("tasks/resources/x.db", self.A),
            entry("tasks/resources/y.db", self.B),
            entry("tasks/a.jsonl", self.A),
        ]
        found = resource_digests([Resource("db", path="tasks/resources/x.db")], files)
        assert found == {"db": self.A, "tasks/resources/y.db": self.B}


class TestRecord:
    def test_evaluation_splits_and_small_ones_are_recorded_first(self, tmp_path):
        model = Tasks({
            "train": [task(n) for n in range(5)],
            "test": [task(100 + n) for n in range(4)],
            "dev": [task(200 + n) for n in range(2)],
        })  # fmt: skip
        scanned = scan(tmp_path, model)
        for most, names in [(11, ["train", "test", "dev"]), (10, ["test", "dev"]), (5, ["dev"]), (1, [])]:
            index = scanned.index(most)
            assert [split.name for split in index.rows.splits] == names
            assert {name: split.rows for name, split in index.splits.items()} == {"train": 5, "test": 4, "dev": 2}

    def test_ids_are_written_down_unless_they_are_long_or_no_unicode(self, tmp_path):
        ids = ["plain", "with space ~ and \u00e9\U0001f600", "x" * 64, "x" * 65, "half \ud800", "\n"]
        model = Tasks({"train": [{"id": one} for one in ids]}, {}, {})
        index = scan(tmp_path, model, Form(spaces=True)).index()
        lines = to_json(index)["splits"]["train"]["tasks"]
        json.dumps(lines, ensure_ascii=False).encode()
        assert [line[17:] for line in lines if line[16] == " "] == [*ids[:3], ids[5]]
        assert [len(line) for line in lines if line[16] == "~"] == [39, 39]
        assert recorded(index).rows.keys == index.rows.keys

    def test_a_task_without_a_written_id_is_still_found(self, tmp_path):
        model = Tasks({"train": [{"id": "x" * 65, "q": 1}, {"id": "y" * 65, "q": 2}]}, {}, {})
        index = recorded(scan(tmp_path, model).index())
        model.splits["train"].pop()
        found = classify_tasks(since_release(index, scan(tmp_path, model, old=index.roles)))
        assert [change.kind for change in found] == [ChangeKind.TASK_REMOVED]
        assert found[0].message.startswith("1 train task removed: (id with digest ")

    def test_a_task_takes_a_short_line(self, tmp_path):
        size = len(json.dumps(to_json(scan(tmp_path, tasks(train=1000)).index())))
        assert size < 35_000

    def test_an_edit_does_not_hide_behind_a_digest_that_was_cut(self, tmp_path):
        old, new = tasks(), tasks()
        new.splits["test"][2]["gold"] = 0
        data = to_json(scan(tmp_path, old).index())
        # As if somebody had found two contents that begin with the same eight bytes.
        data["splits"]["test"]["tasks"] = to_json(scan(tmp_path, new).index())["splits"]["test"]["tasks"]
        index = from_json(data, "release.json")
        found = classify_tasks(since_release(index, scan(tmp_path, new, old=index.roles)))
        assert [(change.kind, change.level, change.count) for change in found] == [
            (ChangeKind.TASK_EDITED, Level.MAJOR, None)
        ]
        new.splits["test"].append(task(150))
        found = classify_tasks(since_release(index, scan(tmp_path, new, old=index.roles)))
        assert ChangeKind.TASK_EDITED in {change.kind for change in found}

    @pytest.mark.parametrize(
        ("path", "value"),
        [
            (["canonical"], None),
            (["fields", "gold"], "judge int"),
            (["fields", "gold"], "target int int"),
            (["fields", "gold"], "target  int"),
            (["fields", "gold"], 1),
            (["resources", "flights"], "A" * 64),
            (["resources"], []),
            (["splits", "test", "rows"], 3),
            (["splits", "test", "rows"], True),
            (["splits", "test", "rows"], -1),
            (["splits", "test", "order"], "0" * 64),
            (["splits", "test", "meta"], "0"),
            (["splits", "test", "tasks", 0], "short"),
            (["splits", "test", "tasks", 0], "!" * 16 + " task-100"),
            (["splits", "test", "tasks", 0], "A" * 16 + " task-101"),
            (["splits", "test", "tasks", 0], "A" * 16 + "~AAAA"),
            (["splits", "test", "tasks", 0], None),
            (["splits", "test", "tasks"], None),
            (["splits", "test"], []),
        ],
    )
    def test_anything_else_is_refused(self, tmp_path, path, value):
        data = copy.deepcopy(to_json(scan(tmp_path, tasks()).index()))
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        with pytest.raises(UnreadableError, match=r"^release\.json "):
            from_json(data, "release.json")
