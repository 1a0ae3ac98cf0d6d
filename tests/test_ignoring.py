"""Comments that make findings not count, on the card and in Python files, and comments that do nothing."""

import pytest

from hfenv.components.validation import validate
from tests.support import replace_in, write_environment

REASON = "the Hub's list is behind"


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


def found(root):
    return [(f.rule, f.path, f.line) for f in validate(root).findings]


def licence(root, line):
    replace_in(root / "README.md", "license: apache-2.0\n", line)


def test_a_comment_at_the_end_of_the_line_ignores_its_finding_and_is_reported_with_its_reason(root):
    licence(root, f"license: acme-1.0  # hfenv: ignore[HFE604] {REASON}\n")
    report = validate(root)
    assert report.findings == ()
    (suppressed,) = report.suppressed
    assert (suppressed.finding.rule, suppressed.reason, suppressed.by.value) == ("HFE604", REASON, "comment")


def test_a_comment_on_a_line_of_its_own_speaks_for_the_next_line(root):
    licence(root, f"# hfenv: ignore[HFE604] {REASON}\n# what we use\n\nlicense: acme-1.0\n")
    # The next line is another comment, so that the ignore comment belongs to that one.
    assert [rule for rule, _, _ in found(root)] == ["HFE016", "HFE604"]
    replace_in(root / "README.md", "# what we use\n\n", "\n")
    assert found(root) == []


def test_comments_can_be_stacked_and_name_several_rules(root):
    replace_in(root / "README.md", "license: apache-2.0\n",
               "# hfenv: ignore[HFE604] a\n# hfenv: ignore[HFE012, HFE602] b\nlicense: acme-1.0\n")  # fmt: skip
    assert [(rule, line) for rule, _, line in found(root)] == [("HFE016", 3), ("HFE016", 3)]


def test_a_comment_without_a_reason_ignores_nothing(root):
    licence(root, "license: acme-1.0  # hfenv: ignore[HFE604]\n")
    assert [rule for rule, _, _ in found(root)] == ["HFE604", "HFE016"]


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        ("ignore[HFE999] why", "no rule HFE999"),
        ("ignore[HFE005] why", "can't be ignored"),
        ("ignore[HFE604] why", "isn't found here"),
        ("ignore HFE604 why", "names no rule"),
        ("ignore[] why", "names no rule"),
    ],
)
def test_a_comment_that_does_nothing_is_a_finding(root, comment, says):
    licence(root, f"license: apache-2.0  # hfenv: {comment}\n")
    (finding,) = validate(root).findings
    assert (finding.rule, finding.line, finding.column) == ("HFE016", 2, 22)
    assert says in finding.message


def test_what_only_looks_like_a_comment_is_none(root):
    replace_in(root / "README.md", "summary: Add two small numbers.", 'summary: "Add # hfenv: ignore[HFE604] two"')
    replace_in(
        root / "README.md", "Load it.", "```yaml\nx  # hfenv: ignore[HFE604] y\n<!-- hfenv: ignore[HFE1] z -->\n```"
    )
    assert found(root) == []


def test_a_comment_in_the_markdown(root):
    replace_in(root / "README.md", "## Usage\nLoad it.", "<!-- hfenv: ignore[HFE111] to come -->\n## Usage\n")
    assert found(root) == []
    replace_in(root / "README.md", "to come", "")
    assert [rule for rule, _, _ in found(root)] == ["HFE016", "HFE111"]


def test_a_comment_in_a_python_file_speaks_for_its_line_only(root):
    code = 'A = "hf_QmFzZTY0RW5jb2RlZFNlY3JldFRleHRzSQ"'
    text = f"{code}  # hfenv: ignore[HFE608] made up\nB = {code[4:]}\n"
    (root / "env" / "words.py").write_text('ASK = ""\n' + text, encoding="utf-8")
    assert found(root) == [("HFE608", "env/words.py", 3)]
    (root / "env" / "words.py").write_text('ASK = "# hfenv: ignore[HFE608] no"\n' + text, encoding="utf-8")
    assert found(root) == [("HFE608", "env/words.py", 3)]


def test_the_card_speaks_for_files_that_cannot_hold_comments(root):
    (root / "tests").mkdir()
    (root / "tests" / "data.json").write_text('{"a": "AKIAQ7R2T9W4K6M8P3Z5"}', encoding="utf-8")
    (root / "env" / "words.py").write_text('ASK = "AKIAQ7R2T9W4K6M8P3Z5"\n', encoding="utf-8")
    assert [path for _, path, _ in found(root)] == ["env/words.py", "tests/data.json"]
    licence(root, "license: apache-2.0\n# hfenv: ignore[HFE608] keys of a fake account\n")
    assert found(root) == [("HFE608", "env/words.py", 1)]


def test_a_comment_for_rules_that_did_not_run_is_left_alone(root):
    licence(root, "license: apache-2.0  # hfenv: ignore[HFE608] keys of a fake account\n")
    assert [rule for rule, _, _ in found(root)] == ["HFE016"]
    assert validate(root / "README.md").findings == ()


def test_a_comment_that_is_all_of_a_section_speaks_for_its_heading(root):
    replace_in(root / "README.md", "Load it.", "<!-- hfenv: ignore[HFE111] to come -->")
    assert found(root) == []
    replace_in(root / "README.md", "<!-- hfenv: ignore[HFE111] to come -->", "<!-- to come -->")
    assert [rule for rule, _, _ in found(root)] == ["HFE111"]
    replace_in(root / "README.md", "<!-- to come -->", "<!-- hfenv: ignore[HFE111] to come -->\nLoad it.")
    assert [rule for rule, _, _ in found(root)] == ["HFE016"]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: F401  # hfenv: ignore[HFE608] made up",
        "# hfenv: ignore[HFE608] made up  # noqa: F401",
        "# type: ignore[name], hfenv: ignore[HFE608] made up",
        "# noqa # hfenv: ignore[HFE608] made up # hfenv: ignore[HFE608] twice",
    ],
)
def test_a_mark_stands_anywhere_in_a_comment(root, comment):
    line = f'A = "hf_QmFzZTY0RW5jb2RlZFNlY3JldFRleHRzSQ"  {comment}\n'
    (root / "env" / "words.py").write_text('ASK = ""\n' + line, encoding="utf-8")
    report = validate(root)
    assert [f.rule for f in report.findings] == ["HFE016"] * ("twice" in comment)
    assert report.suppressed[0].reason.startswith("made up")
    licence(root, f"license: acme-1.0  {comment.replace('HFE608', 'HFE604')}\n")
    assert [s.finding.rule for s in validate(root).suppressed] == ["HFE604", "HFE608"]


@pytest.mark.parametrize(
    "mark", ["hfenv：ignore[HFE604] why", "hfenv: ignore【HFE604】 why", "hfenv: ignore［HFE604］ why"]
)
def test_a_mark_with_full_width_signs_is_told_how_it_is_written(root, mark):
    licence(root, f"license: acme-1.0  # {mark}\n")
    fault, other = sorted(validate(root).findings, key=lambda finding: finding.rule)
    assert (fault.rule, fault.line, fault.column, other.rule) == ("HFE016", 2, 20, "HFE604")
    assert "full-width" in fault.message
    assert fault.fix == "Write it as: hfenv: ignore[HFE604] why"
    (root / "env" / "words.py").write_text(f'ASK = ""  # {mark.replace("604", "608")}\n', encoding="utf-8")
    assert ("HFE016", "env/words.py", 1) in found(root)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- hfenv: ignore " * 40000,
        "<!-- hfenv: ignore " + " " * 400000,
        "<!-- hfenv: ignore[HFE012] x -->\n" * 20000,
        "<!-- hfenv: ignore[" + ",".join(f"HFX{n}" for n in range(4000)) + "] x -->",
        "<!--" * 200000,
    ],
)
@pytest.mark.timeout(20)
def test_comments_made_to_be_slow_are_read_in_passing(root, text):
    replace_in(root / "README.md", "It is tiny.", f"It is tiny.\n\n{text}")
    assert {rule for rule, _, _ in found(root)} <= {"HFE016"}


@pytest.mark.timeout(20)
def test_a_python_file_of_nothing_but_comments(root):
    (root / "env" / "x.py").write_text("# hfenv: ignore[HFE012] x\n" * 38000, encoding="utf-8")
    assert {rule for rule, _, _ in found(root)} == {"HFE016"}


def test_an_unknown_rule_gets_a_guess_only_where_one_is_near(root):
    licence(root, "license: apache-2.0  # hfenv: ignore[HFE604O] why\n")
    assert "HFE604" in validate(root).findings[0].fix
    replace_in(root / "README.md", "HFE604O", "HFE999")
    assert "hfenv rule" in validate(root).findings[0].fix
