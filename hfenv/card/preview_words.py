"""The words of the preview page, in English and Chinese, and which of the two a card's page speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hfenv.card.reader import Card

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]")
_OTHER_SCRIPT = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")  # kana and hangul: Japanese and Korean use Han signs too
_LATIN_WORD = re.compile(r"[A-Za-z]{3}")
_CHINESE = re.compile(r"(?:zh|cmn|yue)(?:-[A-Za-z0-9]{1,8})*", re.IGNORECASE)

# key: English, Chinese
_WORDS: dict[str, tuple[str, str]] = {
    "card": ("Environment Card", "环境卡片"),
    "format": ("format", "格式"),
    "contents": ("Contents", "目录"),
    "licence": ("Licence", "许可证"),
    "languages": ("Language", "语言"),
    "tags": ("Tags", "标签"),
    "versions": ("Versions", "版本"),
    "release": ("Release", "发布版本"),
    "code": ("Code", "代码"),
    "tasks": ("Tasks", "任务集"),
    "reward": ("Reward", "奖励"),
    "unreleased": ("not released", "未发布"),
    "missing": ("not given", "未填写"),
    "rating": ("Rating", "评级"),
    "unaudited": ("not audited", "未审计"),
    "self_reported": ("self-reported", "作者自报"),
    "unrated": ("unrated", "未评级"),
    "points": ("points", "分"),
    "ruleset": ("ruleset", "规则集"),
    "sandbox": ("sandbox", "沙箱"),
    "report": ("report", "报告"),
    "at_a_glance": ("At a glance", "一览"),
    "about": ("About", "基本信息"),
    "name": ("Name", "名称"),
    "repo": ("Repository", "仓库"),
    "categories": ("Task categories", "任务类别"),
    "size": ("Size", "规模"),
    "frameworks": ("Frameworks", "框架"),
    "adopted": ("Adopted from", "来源"),
    "aliases": ("Aliases", "别名"),
    "yanked": ("Yanked releases", "已撤回版本"),
    "canary": ("Canary", "金丝雀标记"),
    "interface": ("Interface", "接口"),
    "action": ("Action", "动作"),
    "extract": ("Extraction", "提取方式"),
    "observation": ("Observation", "观测"),
    "range": ("Return", "回报"),
    "floor": ("Floor", "下限"),
    "scope": ("Judged per", "评判范围"),
    "builtin": ("Reward", "奖励"),
    "by_environment": ("computed by the environment itself", "由环境自身计算"),
    "parts": ("Parts of a score", "得分组成"),
    "policies": ("Policies", "策略"),
    "config": ("Options", "可配置项"),
    "determinism": ("Determinism", "确定性"),
    "running": ("To run it", "运行要求"),
    "step_timeout": ("Longest step", "单步时限"),
    "max_steps": ("Most steps", "最多步数"),
    "memory": ("Memory", "内存"),
    "python": ("Python", "Python"),
    "packages": ("Packages", "依赖包"),
    "system": ("System", "系统依赖"),
    "secrets": ("Secrets", "密钥"),
    "network": ("Network", "网络"),
    "services": ("Services", "服务"),
    "image": ("Sandbox image", "沙箱镜像"),
    "sandbox_network": ("Sandbox network", "沙箱网络"),
    "resources": ("Resources", "资源"),
    "sources": ("Sources", "数据来源"),
    "set": ("Task set", "任务数据"),
    "splits": ("Splits", "数据划分"),
    "split": ("Split", "划分"),
    "files": ("Files", "文件"),
    "grades": ("Tasks by grade", "各难度任务数"),
    "ungraded": ("The tasks have no grades.", "任务没有难度等级。"),
    "other_grades": ("others", "其他"),
    "in_all": ("{} in all", "合计 {}"),
    "roles": ("Fields of a task", "任务字段"),
    "fields": ("Fields", "字段"),
    "role": ("Role", "角色"),
    "meaning": ("What becomes of it", "用途"),
    "role_input": ("shown to the agent", "展示给智能体"),
    "role_target": ("the answer, never shown", "答案，从不展示"),
    "role_grading": ("for the reward only", "仅供奖励函数使用"),
    "role_resource": ("names a resource", "指向一个资源"),
    "role_meta": ("describes the task", "描述任务"),
    "benchmarks": ("Measured results", "测量结果"),
    "policy": ("Policy", "策略"),
    "metric": ("Metric", "指标"),
    "value": ("Value", "数值"),
    "advisories": ("Known problems", "已知问题"),
    "fixed_in": ("fixed in {}", "修复于 {}"),
    "status_deprecated": ("This environment is deprecated.", "此环境已弃用。"),
    "status_archived": ("This environment is archived.", "此环境已归档。"),
    "since": ("Since {}.", "自 {} 起。"),
    "successor": ("Successor:", "替代者："),
    "cut": ("The text is longer than a page can be; its end is left out.", "正文过长，末尾已省略。"),
    "made_by": ("Made from README.md by hfenv card preview.", "由 hfenv card preview 根据 README.md 生成。"),
    "caveat": (
        "Versions, results and rating are what the card says.",
        "版本、结果与评级均以卡片所述为准。",
    ),
}


def words(language: str) -> Mapping[str, str]:
    """Every word of the page in the language of `language`, a code such as `en` or `zh-TW`."""
    column = 1 if _CHINESE.fullmatch(language) else 0
    return {key: pair[column] for key, pair in _WORDS.items()}


def page_language(card: Card) -> str:
    """The code of the page's language: Chinese as the card names it if its headings are, else English."""
    declared = card.front_matter.get("language")
    first = declared[0] if isinstance(declared, list) and declared else declared
    code = first if isinstance(first, str) and _CHINESE.fullmatch(first) else ""
    titles = [section.title for section in card.sections if section.level == 2]
    titles = titles or [section.title for section in card.sections]
    if titles:
        chinese = _share(titles, both=bool(code)) > 0.5
    else:
        chinese = bool(code) or _share([str(card.block.get("summary", ""))], both=True) > 0
    return (code or "zh") if chinese else "en"


def _share(titles: Sequence[str], *, both: bool) -> float:
    """Share of titles in Chinese; `both` counts those that name the same thing in English too."""
    found = [
        title
        for title in titles
        if _HAN.search(title) and not _OTHER_SCRIPT.search(title) and (both or not _LATIN_WORD.search(title))
    ]
    return len(found) / len(titles)
