"""The names of the sections that a card must have, and other headings that an author may have meant by them."""

from __future__ import annotations

import re

SECTIONS = {
    "Overview": "概述",
    "Installation": "安装",
    "Interface": "接口",
    "Usage": "用法",
    "Tasks": "任务集",
    "Reward": "奖励",
    "Benchmarks": "基准",
    "Limitations": "限制",
}
# What authors call a section instead; a heading of such a name is asked about, and not taken for the section.
_SYNONYMS = {
    "Overview": "introduction|intro|about|summary|description|abstract|motivation|background|at a glance|what it is|"
    "简介|介绍|概览|概要|摘要|总览|概况|背景|说明|简述|簡介|介紹|概覽|總覽|說明",
    "Installation": "install|installing|setup|set up|requirements|dependencies|prerequisites|getting started|"
    "安装说明|安装方法|安装步骤|环境配置|环境准备|依赖|部署|配置|安裝|安裝說明|安裝方法|依賴|環境準備",
    "Interface": "interfaces|api|actions|observations|action space|observation space|actions and observations|spaces|"
    "input and output|i/o|environment interface|交互|交互接口|交互方式|界面|动作|观测|动作与观测|动作空间|观测空间|"
    "输入输出|输入与输出|介面|交互介面|互動介面|輸入輸出",
    "Usage": "use|using|how to use|getting started|quickstart|quick start|example|examples|example usage|running|"
    "使用|使用方法|使用方式|使用说明|用法说明|如何使用|示例|使用示例|快速开始|快速上手|快速入门|运行|"
    "使用說明|用法說明|範例|快速開始|運行",
    "Tasks": "task|task set|task sets|taskset|dataset|datasets|data|task format|splits|problems|"
    "任务|任务说明|任务数据|数据集|数据|题目|題目|任務|任務集|數據集|資料集|資料",
    "Reward": "rewards|scoring|score|scores|grading|reward function|reward design|"
    "奖励函数|奖励设计|评分|打分|得分|评分方式|评分标准|獎勵|獎勵函數|評分|計分",
    "Benchmarks": "benchmark|results|evaluation|evaluations|baseline|baselines|performance|leaderboard|experiments|"
    "基准测试|基线|结果|实验|实验结果|评测|评测结果|评估|评估结果|性能|测试结果|基準|基準測試|基線|結果|評測|評估|效能",
    "Limitations": "limitation|limits|known limitations|known issues|issues|caveats|limitations and biases|"
    "bias and limitations|biases|risks|out of scope|局限|局限性|已知限制|已知局限|已知问题|不足|限制与不足|"
    "局限與不足|已知問題|侷限|侷限性",
}  # fmt: skip
# Names that stand in titles of all kinds, and say something only alone.
BROAD = frozenset(re.findall(r"\w+", "使用 说明 說明 数据 數據 資料 背景 不足 结果 結果 description summary"))
_BETWEEN_NAMES = re.compile(r"[/|()（）,·:：&]|\s-\s")
_NUMBER = re.compile(r"^(?:第?[一二三四五六七八九十百]+[章节、.．)）:：]|[ivxlcdm]{1,5}[.)]|[a-z][.)])(?![a-z])")
_LONGEST_TITLE = 200


def proper_names(english: str) -> frozenset[str]:
    """The names of a section, in lower case."""
    return frozenset((english.casefold(), SECTIONS[english]))


def other_names(english: str) -> frozenset[str]:
    """What a section is called instead, in lower case."""
    return frozenset(_SYNONYMS[english].split("|"))


def shortened(title: str) -> str:
    """As much of a title as is looked at, in lower case."""
    return title.casefold()[:_LONGEST_TITLE]


def names_in(title: str) -> set[str]:
    """A title without numbers, signs and emphasis, as the names that it puts side by side: 'Overview 概述' has two."""
    parts = _BETWEEN_NAMES.split(_bare(title))
    return {name for part in parts for piece in _by_script(part) if (name := _trimmed(piece))}


def is_called(title: str, names: frozenset[str]) -> bool:
    """Whether a title is one of the names, or puts several of them side by side."""
    found = names_in(title)
    return _trimmed(_bare(title)) in names or (bool(found) and found <= names)


def has_chinese(text: str) -> bool:
    """Whether there is a Chinese sign in a text."""
    # A pattern of so large a range takes longer to compile than all titles of a card to read.
    return any("㐀" <= sign <= "鿿" for sign in text)


def _bare(title: str) -> str:
    bare = " ".join(shortened(title).split())
    return _trimmed(_NUMBER.sub("", _trimmed(bare, numbers=True)), numbers=True)


def _by_script(part: str) -> list[str]:
    """The words of a part, put together as long as they are of one script."""
    pieces: list[str] = []
    for word in part.split():
        if pieces and not has_chinese(pieces[-1][-1]) and not has_chinese(word[0]):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
    return pieces


def _trimmed(text: str, *, numbers: bool = False) -> str:
    """The text without signs at its ends, and without a number in front of it."""
    start, end = 0, len(text)
    while start < end and not (text[start].isalpha() or (text[start].isalnum() and not numbers)):
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]
