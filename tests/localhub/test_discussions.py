"""Discussions and pull requests, through the real client's own methods."""

import threading

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete
from huggingface_hub.errors import BadRequestError, HfHubHTTPError, RepositoryNotFoundError

from hfenv.localhub import routes_discussions

pytestmark = pytest.mark.filterwarnings("ignore:Hidden comments")


def add(path, text):
    return CommitOperationAdd(path, text.encode())


def commit(api, repo, *operations, **options):
    return api.create_commit(repo, operations, commit_message="change", repo_type="dataset", **options)


def read(api, repo, path, revision="main"):
    from huggingface_hub import get_session

    headers = {"Authorization": f"Bearer {api.token}"}
    return get_session().get(f"{api.endpoint}/datasets/{repo}/resolve/{revision}/{path}", headers=headers).text


@pytest.fixture
def api(client):
    return client.api


@pytest.fixture
def bob(client):
    return client.api_for(client.new_user("bob"))


@pytest.fixture
def talk(api, repo):
    return api.create_discussion(repo, "A question", description="Does it work?", repo_type="dataset")


def details(api, repo, num):
    return api.get_discussion_details(repo, num, repo_type="dataset")


def test_a_discussion_lives_through_comments_titles_and_states(api, bob, repo, talk):
    assert (talk.num, talk.status, talk.author, talk.is_pull_request) == (1, "open", "alice", False)
    said = bob.comment_discussion(repo, 1, "<b>Yes</b>", repo_type="dataset")
    assert said.rendered == "<p>&lt;b&gt;Yes&lt;/b&gt;</p>"
    changed = bob.edit_discussion_comment(repo, 1, said.id, "Mostly", repo_type="dataset")
    assert (changed.content, changed.edited, changed.number_of_edits) == ("Mostly", True, 1)
    assert api.rename_discussion(repo, 1, "A good question", repo_type="dataset").old_title == "A question"
    closed = api.change_discussion_status(repo, 1, "closed", comment="Thanks", repo_type="dataset")
    assert closed.new_status == "closed"

    found = details(api, repo, 1)
    assert (found.title, found.status) == ("A good question", "closed")
    assert [event.type for event in found.events] == ["comment", "comment", "title-change", "comment", "status-change"]
    assert [event.author for event in found.events] == ["alice", "bob", "alice", "alice", "alice"]


def test_a_hidden_comment_is_gone_for_good(api, bob, client, repo, talk):
    said = bob.comment_discussion(repo, 1, "wrong words", repo_type="dataset")
    bob.edit_discussion_comment(repo, 1, said.id, "wronger words", repo_type="dataset")
    assert api.hide_discussion_comment(repo, 1, said.id, repo_type="dataset").hidden
    stored = "".join(p.read_text() for p in client.git_folder(repo).glob("hub-discussions/*"))
    assert "words" not in stored
    with pytest.raises(HfHubHTTPError, match="hidden"):
        bob.edit_discussion_comment(repo, 1, said.id, "again", repo_type="dataset")


def test_what_only_authors_and_owners_may(api, bob, client, repo, talk):
    calls = [
        lambda: bob.rename_discussion(repo, 1, "Mine", repo_type="dataset"),
        lambda: bob.change_discussion_status(repo, 1, "closed", repo_type="dataset"),
        lambda: bob.edit_discussion_comment(repo, 1, talk.events[0].id, "no", repo_type="dataset"),
        lambda: bob.hide_discussion_comment(repo, 1, talk.events[0].id, repo_type="dataset"),
        lambda: client.api_for(client.new_user("eve", "read")).comment_discussion(repo, 1, "x", repo_type="dataset"),
    ]
    for call in calls:
        with pytest.raises(HfHubHTTPError) as refused:
            call()
        assert refused.value.response.status_code == 403
    with pytest.raises(HfHubHTTPError) as refused:
        client.api_for(False).comment_discussion(repo, 1, "x", repo_type="dataset")
    assert refused.value.response.status_code == 401
    api.update_repo_settings(repo, private=True, repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        details(bob, repo, 1)


def test_lists_are_filtered_and_paged(api, bob, repo, monkeypatch):
    monkeypatch.setattr(routes_discussions, "PAGE", 7)
    for number in range(18):
        by = bob if number % 9 == 0 else api
        by.create_discussion(repo, f"Number {number}", repo_type="dataset", pull_request=number % 6 == 0)
    api.change_discussion_status(repo, 3, "closed", repo_type="dataset")

    def numbers(**filters):
        return [each.num for each in api.get_repo_discussions(repo, repo_type="dataset", **filters)]

    assert numbers() == list(range(18, 0, -1))
    assert numbers(author="bob") == [10, 1]
    assert numbers(discussion_type="pull_request") == [13, 7, 1]
    assert numbers(discussion_status="closed") == [3]
    assert numbers(discussion_status="open", discussion_type="discussion", author="bob") == [10]


@pytest.mark.parametrize("title", ["ab", "x" * 201, "  a \n "])
def test_titles_are_neither_too_short_nor_too_long(api, repo, title):
    with pytest.raises(BadRequestError, match="between 3 and 200"):
        api.create_discussion(repo, title, repo_type="dataset")


def test_a_missing_discussion_is_not_found(api, repo):
    with pytest.raises(HfHubHTTPError, match="no discussion 7"):
        details(api, repo, 7)


def test_a_pull_request_with_a_commit_is_merged(api, bob, client, repo):
    before = api.repo_info(repo, repo_type="dataset").sha
    made = commit(bob, repo, add("a.txt", "new\n"), create_pr=True, commit_description="Because.")
    assert (made.pr_num, made.pr_revision) == (1, "refs/pr/1")
    found = details(api, repo, 1)
    assert (found.status, found.author, found.target_branch) == ("open", "bob", "refs/heads/main")
    assert found.conflicting_files == []
    assert "+new" in found.diff
    assert [event.type for event in found.events] == ["comment", "commit"]
    assert found.events[0].content == "Because."
    assert found.events[1].oid == made.oid

    with pytest.raises(HfHubHTTPError) as refused:
        bob.merge_pull_request(repo, 1, repo_type="dataset")
    assert refused.value.response.status_code == 403
    api.merge_pull_request(repo, 1, comment="Good", repo_type="dataset")
    found = details(api, repo, 1)
    head = api.list_repo_commits(repo, repo_type="dataset")[0]
    assert (found.status, found.merge_commit_oid) == ("merged", head.commit_id)
    assert head.title == "change (#1)"
    assert client.git(repo, "rev-list", "--parents", "-1", "main").split() == [head.commit_id, before]
    assert {event.type for event in found.events} == {"comment", "commit", "status-change"}
    assert "+new" in found.diff
    assert read(api, repo, "a.txt") == "new\n"
    client.assert_sound(repo)
    with pytest.raises(BadRequestError, match="merged"):
        commit(bob, repo, add("b.txt", "late"), revision="refs/pr/1")
    with pytest.raises(BadRequestError, match="merged"):
        api.merge_pull_request(repo, 1, repo_type="dataset")


def test_a_draft_takes_commits_and_is_merged_once_open(api, bob, client, repo):
    draft = bob.create_pull_request(repo, "More files", repo_type="dataset")
    assert (draft.status, draft.git_reference) == ("draft", "refs/pr/1")
    commit(bob, repo, add("one.txt", "1\n"), revision="refs/pr/1")
    commit(api, repo, add("two.txt", "2\n"), revision="refs/pr/1")
    with pytest.raises(HfHubHTTPError) as refused:
        commit(client.api_for(client.new_user("carl")), repo, add("3.txt", "3\n"), revision="refs/pr/1")
    assert refused.value.response.status_code == 403
    with pytest.raises(BadRequestError, match="draft"):
        api.merge_pull_request(repo, 1, repo_type="dataset")
    bob.change_discussion_status(repo, 1, "open", repo_type="dataset")
    api.merge_pull_request(repo, 1, repo_type="dataset")
    head = api.list_repo_commits(repo, repo_type="dataset")[0]
    assert head.title == "More files (#1)"
    assert "Co-authored-by: bob" in head.message
    assert read(api, repo, "one.txt") + read(api, repo, "two.txt") == "1\n2\n"


def test_changes_of_both_sides_are_joined_and_contradictions_told(api, bob, repo):
    text = "".join(f"line {number}\n" for number in range(20))
    commit(api, repo, add("a.txt", text), add("gone.txt", "x"))
    commit(
        bob, repo, add("a.txt", text.replace("line 2\n", "LINE 2\n")), CommitOperationDelete("gone.txt"), create_pr=True
    )
    commit(bob, repo, add("a.txt", text.replace("line 2\n", "Line two\n")), create_pr=True)
    commit(api, repo, add("a.txt", text.replace("line 18\n", "LINE 18\n")))

    api.merge_pull_request(repo, 1, repo_type="dataset")
    assert read(api, repo, "a.txt") == text.replace("line 2\n", "LINE 2\n").replace("line 18\n", "LINE 18\n")
    assert not api.file_exists(repo, "gone.txt", repo_type="dataset")
    found = details(api, repo, 2)
    assert found.conflicting_files == ["a.txt"]
    head = api.repo_info(repo, repo_type="dataset").sha
    with pytest.raises(HfHubHTTPError, match=r"contradicts 'main' in: a\.txt") as refused:
        api.merge_pull_request(repo, 2, repo_type="dataset")
    assert refused.value.response.status_code == 409
    assert api.repo_info(repo, repo_type="dataset").sha == head
    assert details(api, repo, 2).status == "open"


def test_a_merge_that_died_after_its_commit_is_finished_by_the_next(api, client, repo):
    made = commit(api, repo, add("a.txt", "new\n"), create_pr=True)
    client.git(repo, "update-ref", "refs/heads/main", made.oid)
    api.merge_pull_request(repo, 1, repo_type="dataset")
    assert details(api, repo, 1).merge_commit_oid == made.oid
    assert api.repo_info(repo, repo_type="dataset").sha == made.oid


def test_an_empty_pull_request_is_not_merged(api, repo):
    api.create_pull_request(repo, "Nothing yet", repo_type="dataset")
    api.change_discussion_status(repo, 1, "open", repo_type="dataset")
    with pytest.raises(BadRequestError, match="changes nothing"):
        api.merge_pull_request(repo, 1, repo_type="dataset")


def test_large_files_come_in_by_pull_request(api, bob, repo):
    data = bytes(range(256)) * 50_000
    bob.create_commit(
        repo, [CommitOperationAdd("big.bin", data)], commit_message="Large", repo_type="dataset", create_pr=True
    )
    api.merge_pull_request(repo, 1, repo_type="dataset")
    (found,) = api.get_paths_info(repo, "big.bin", repo_type="dataset")
    assert found.lfs.size == len(data)


def test_discussions_opened_at_once_all_get_numbers_of_their_own(api, client, repo):
    numbers = []

    def work():
        mine = client.api_for(client.token)
        numbers.append(mine.create_discussion(repo, "At once", repo_type="dataset").num)
        numbers.append(commit(mine, repo, add("x.txt", "x"), create_pr=True).pr_num)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 9))


def test_discussions_move_and_go_with_their_repository(api, repo, talk):
    api.move_repo(repo, f"{repo}-new", repo_type="dataset")
    assert details(api, f"{repo}-new", 1).title == "A question"
    api.delete_repo(f"{repo}-new", repo_type="dataset")
    api.create_repo(f"{repo}-new", repo_type="dataset")
    assert list(api.get_repo_discussions(f"{repo}-new", repo_type="dataset")) == []
