"""Observations become messages, completions become actions."""

import pytest

from hfenv.card.manifest import ActionSection
from hfenv.errors import AuthorCodeError
from hfenv.runtime.chat import extract
from hfenv.runtime.loader import load_environment

FENCED = "Draft:\n```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```\nDone."


@pytest.mark.parametrize(
    ("how", "completion", "action"),
    [
        ("raw", "  as it is\n", "  as it is\n"),
        ("fenced", FENCED, "SELECT 2"),
        ("fenced", "no fence at all ", "no fence at all"),
        ("fenced", "```\nSELECT 1\n```\nthen ```", "SELECT 1"),
        ("fenced", "cut off:\n```python\nprint(1)", "print(1)"),
        ("fenced", "~~~~\n~~~\nx\n~~~\n~~~~", "~~~\nx\n~~~"),
        ("fenced", "inline ```SELECT 3``` here", "SELECT 3"),
        ("boxed", r"so \boxed{1}, no, \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        ("boxed", r"\boxed{unfinished {x}", "unfinished {x}"),
        ("boxed", " 42 ", "42"),
        ("tag:answer", "<answer>1</answer> or <answer> 2 </answer>", "2"),
        ("tag:answer", "the tag began in the prompt</answer>", "the tag began in the prompt"),
        ("tag:answer", "<answer>cut", "cut"),
        ("tag:answer", "none", "none"),
    ],
)
def test_extraction(how, completion, action):
    assert extract(completion, ActionSection("text", extract=how)) == action


@pytest.mark.parametrize(
    ("kind", "completion", "action"),
    [
        ("discrete", " 3 ", 3),
        ("discrete", "left", "left"),
        ("json", '{"a": [1]}', {"a": [1]}),
        ("box", "[0.5, 1]", [0.5, 1]),
        ("text", {"role": "assistant", "content": "hello"}, "hello"),
        ("text", [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}], "!"),
    ],
)
def test_actions_get_their_type(kind, completion, action):
    assert extract(completion, ActionSection(kind)) == action


def test_the_default_prompt_shows_every_key(folder):
    with load_environment(folder.spec()) as env:
        assert env.render("text") == [{"role": "user", "content": "text"}]
        assert env.render({"question": "1 + 1", "rows": [1]})[0]["content"] == "question: 1 + 1\n\nrows: [1]"
        assert env.render(None) == []
        assert env.render([{"role": "tool", "content": "x", "tool_call_id": "1"}])[0]["tool_call_id"] == "1"


def test_a_template_renders_only_what_is_new(folder):
    folder.write("env/prompt.md", "{% if turn == 0 %}\nSum {{ question }}\n{% else %}\nNo. Again.\n{% endif %}")
    with load_environment(folder.spec()) as env:
        observation, _ = env.reset(task_id="t1")
        assert env.render(observation)[0]["content"].strip() == "Sum 1 + 1"
        assert env.render(env.step("x").observation)[0]["content"].strip() == "No. Again."


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ nothing }}", "'nothing' is undefined"),
        ("a\n{% if %}", "env/prompt.md, line 2"),
        ("{{ question.__class__.__mro__ }}", "env/prompt.md"),
    ],
)
def test_a_template_that_can_not_be_used_says_why(folder, template, said):
    folder.write("env/prompt.md", template)
    with load_environment(folder.spec()) as env, pytest.raises(AuthorCodeError, match=said):
        env.render({"question": "?"})


def test_an_author_may_render_and_parse(folder):
    code = (folder.root / "env/environment.py").read_text(encoding="utf-8")
    methods = (
        "    def render(self, observation):\n        return [{'role': 'system', 'content': 'mine'}]\n\n"
        "    def parse(self, completion):\n        return completion.upper()\n"
    )
    folder.write("env/environment.py", code + "\n" + methods)
    with load_environment(folder.spec()) as env:
        assert env.render("x") == [{"role": "system", "content": "mine"}]
        assert env.parse("abc") == "ABC"
