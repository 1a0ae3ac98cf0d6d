"""The words of the hub's pages in English and Chinese, and which of the two a visitor reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from hfenv.card import preview_words

LANGUAGES = {"en": "English", "zh": "中文"}
_PREFERENCE = re.compile(r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q\s*=\s*([0-9.]{1,5}))?\s*")
_MOST = 20  # preferences that are read

# key: English, Chinese
_WORDS: dict[str, tuple[str, str]] = {
    "site": ("hfenv hub", "hfenv hub"),
    "tagline": ("Reinforcement-learning environments", "强化学习环境"),
    "skip": ("Skip to the content", "跳到正文"),
    "environments": ("Environments", "环境"),
    "language": ("Language", "语言"),
    "sign_in": ("Sign in", "登录"),
    "sign_out": ("Sign out", "退出"),
    "signed_in_as": ("Signed in as {}", "已登录：{}"),
    "token": ("Access token", "访问令牌"),
    "token_hint": (
        "Make one with: hfenv hub token create NAME. It stays on the server, and these pages only read.",
        "用 hfenv hub token create NAME 创建。令牌只留在服务器上，这些页面只读。",
    ),
    "token_wrong": ("That token isn't known here.", "未知的令牌。"),
    "too_often": ("Too many attempts. Wait a minute and try again.", "尝试次数过多，请一分钟后再试。"),
    "elsewhere": ("The form was sent from another page.", "表单来自其他页面。"),
    "search": ("Search", "搜索"),
    "text": ("Text", "文本"),
    "text_hint": ("name, summary, tags", "名称、摘要、标签"),
    "tag": ("Tag", "标签"),
    "action_type": ("Action", "动作类型"),
    "licence_of": ("Licence", "许可证"),
    "grade": ("Difficulty", "难度"),
    "framework": ("Framework", "框架"),
    "least_rating": ("Rating", "评级"),
    "or_better": ("{} or better", "{} 及以上"),
    "any": ("any", "不限"),
    "sort": ("Sort by", "排序"),
    "sort_likes": ("likes", "点赞"),
    "sort_downloads": ("downloads", "下载"),
    "sort_rating": ("rating", "评级"),
    "sort_date": ("last change", "最近更新"),
    "found_one": ("1 environment", "1 个环境"),
    "found": ("{} environments", "{} 个环境"),
    "none_found": ("No environment fits.", "没有符合条件的环境。"),
    "no_environments": ("There are no environments here yet.", "这里还没有环境。"),
    "clear_search": ("Clear the search", "清除搜索条件"),
    "pages": ("Pages", "分页"),
    "previous": ("Previous", "上一页"),
    "next": ("Next", "下一页"),
    "page_of": ("Page {} of {}", "第 {} / {} 页"),
    "private": ("private", "私有"),
    "gated": ("gated", "受限"),
    "likes": ("likes", "点赞"),
    "downloads": ("downloads", "下载"),
    "changed": ("changed", "更新于"),
    "release_of": ("release", "发布版本"),
    "rated": ("Rating, self-reported", "评级（作者自报）"),
    "card_tab": ("Card", "卡片"),
    "files_tab": ("Files", "文件"),
    "versions_tab": ("Versions", "版本"),
    "history_tab": ("History", "提交历史"),
    "discussions_tab": ("Discussions", "讨论"),
    "of_repository": ("Parts of the repository", "仓库栏目"),
    "path": ("Path", "路径"),
    "load": ("Load it", "加载"),
    "load_hint": (
        "Exactly this content, by its hash. Remote code runs only when you say so.",
        "按哈希加载，内容完全一致。只有明确允许才会运行远程代码。",
    ),
    "in_python": ("In Python", "Python"),
    "in_shell": ("In a shell", "命令行"),
    "copy_text": ("Copy", "复制"),
    "copied": ("Copied", "已复制"),
    "at_revision": ("This is the card at {}, not at the head.", "这是 {} 处的卡片，不是最新版本。"),
    "to_head": ("Show the head", "查看最新版本"),
    "is_yanked": ("Release {} is yanked: nobody should start to use it.", "发布版本 {} 已撤回：请勿开始使用。"),
    "yanked_mark": ("yanked", "已撤回"),
    "advisory": ("Advisory {}:", "安全公告 {}："),
    "card_broken": ("The card's header can't be read: {}", "无法读取卡片头部：{}"),
    "no_card": ("There is no README.md here.", "这里没有 README.md。"),
    "gated_card": (
        "The files of this environment are only for those with access. This is what its header says.",
        "此环境的文件仅对有权限者开放。以下为其头部信息。",
    ),
    "gated_ask": (
        "To ask for access, send this with your own token; the owners answer it.",
        "如需申请权限，请用自己的令牌发送以下请求，由所有者答复。",
    ),
    "fresh": ("for this content", "针对当前内容"),
    "stale": ("stale: the content changed since", "已过期：此后内容有变化"),
    "freshness_unknown": ("not known for which content", "不确定针对哪一版内容"),
    "revision": ("Revision", "修订"),
    "file_size": ("Size", "大小"),
    "kind": ("Kind", "类型"),
    "folder": ("folder", "文件夹"),
    "file": ("file", "文件"),
    "large_file": ("large file", "大文件"),
    "up": ("Parent folder", "上级目录"),
    "raw": ("Raw file", "原始文件"),
    "show_card": ("Show as a card", "以卡片显示"),
    "too_large": ("The file is too large to be shown.", "文件过大，无法显示。"),
    "binary": ("The file isn't text.", "该文件不是文本。"),
    "cut_lines": ("Only the first {} lines are shown.", "仅显示前 {} 行。"),
    "empty_file": ("The file is empty.", "文件为空。"),
    "empty_folder": ("There is nothing here.", "这里没有内容。"),
    "lines": ("{} lines", "{} 行"),
    "component": ("Component", "组件"),
    "date": ("Date", "日期"),
    "changes": ("Changes", "变更"),
    "no_entry": ("no changelog entry", "无变更记录"),
    "new_version": ("new", "新"),
    "no_releases": ("Nothing has been released yet.", "尚无发布版本。"),
    "broken_releases": (
        "{} more tags name a release whose record can't be read.", "另有 {} 个标签的发布记录无法读取。"
    ),
    "compare": ("Compare", "比较"),
    "compare_two": ("Compare two releases", "比较两个发布版本"),
    "from": ("From", "从"),
    "to": ("To", "到"),
    "since_previous": ("Changes since {}", "自 {} 以来的变更"),
    "versions_of": ("Versions", "版本"),
    "before": ("Before", "之前"),
    "after": ("After", "之后"),
    "unchanged": ("unchanged", "未变"),
    "tasks_counted": ("Tasks", "任务"),
    "added": ("added", "新增"),
    "removed": ("removed", "删除"),
    "edited": ("edited", "修改"),
    "moved": ("moved", "移动"),
    "renamed": ("renamed", "重命名"),
    "not_counted": (
        "The records don't say which tasks changed.", "发布记录未说明哪些任务有变化。"
    ),
    "changed_files": ("Changed files", "变更的文件"),
    "files_changed": ("{} files changed", "{} 个文件有变更"),
    "no_changes": ("Nothing differs.", "没有差异。"),
    "file_too_large": ("Too large to be compared here.", "文件过大，无法在此比较。"),
    "file_binary": ("Not text.", "非文本。"),
    "diff_cut": ("The rest of this file's changes is left out.", "该文件其余变更已省略。"),
    "more_files": ("{} more files differ.", "另有 {} 个文件不同。"),
    "commit": ("Commit", "提交"),
    "first_commit": ("The first commit.", "首次提交。"),
    "reviews": ("Reviews", "评价"),
    "mean_of": ("{} of {} on average, {} in all", "平均 {} / {}，共 {} 条"),
    "out_of": ("{} of {}", "{} / {}"),
    "open_ones": ("{} open", "{} 个进行中"),
    "closed_ones": ("{} closed", "{} 个已关闭"),
    "status": ("Status", "状态"),
    "discussion": ("discussion", "讨论"),
    "pull_request": ("pull request", "合并请求"),
    "status_is_draft": ("draft", "草稿"),
    "status_is_open": ("open", "进行中"),
    "status_is_closed": ("closed", "已关闭"),
    "status_is_merged": ("merged", "已合并"),
    "comments": ("comments: {}", "评论：{}"),
    "no_discussions": ("There are none.", "暂无讨论。"),
    "goes_to": ("to {}", "目标分支 {}"),
    "conflicts": ("It contradicts its branch in:", "与目标分支冲突："),
    "event_hidden": ("hid a comment", "隐藏了一条评论"),
    "event_commit": ("added", "提交了"),
    "event_status": ("made it", "将状态改为"),
    "event_title": ("called it", "改名为"),
    "more_events": ("{} more events are left out.", "另有 {} 条记录已省略。"),
    "older": ("Older", "更早"),
    "newer": ("Newer", "更新"),
    "not_found": ("Not found", "未找到"),
    "not_found_text": (
        "There is nothing at this address, or it isn't yours to see.", "此地址不存在，或您无权查看。"
    ),
    "refused": ("Not allowed", "无权访问"),
    "wrong": ("Something went wrong", "出现错误"),
    "home": ("All environments", "所有环境"),
    "footer": (
        "Ratings and results are what their authors report.", "评级与结果均由作者自报。"
    ),
}  # fmt: skip


@cache
def words(language: str) -> Mapping[str, str]:
    """Every word of the pages in a language of `LANGUAGES`; those of a card's own page win."""
    column = 1 if language == "zh" else 0
    return {key: pair[column] for key, pair in _WORDS.items()} | dict(preview_words.words(language))


def preferred(header: str) -> str:
    """The language of `LANGUAGES` that an Accept-Language header likes best; English where it likes none."""
    best, found = 0.0, "en"
    for part in header.split(",")[:_MOST]:
        if (match := _PREFERENCE.fullmatch(part)) is None:
            continue
        try:
            weight = float(match[2] or 1)
        except ValueError:
            continue
        language = match[1].lower()
        if language in LANGUAGES and weight > best:
            best, found = weight, language
    return found
