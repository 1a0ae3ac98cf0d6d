"""Columns of many rows: parts of them at a time give what all of them together give."""

from __future__ import annotations

from hashlib import sha256

from hfenv.components.tasks.compare import compare
from hfenv.components.tasks.rows import Column, PackedNames, SplitRows, TaskRows, matched, repeated, split_digests

MANY = 9000


def rows(numbers, contents=None) -> TaskRows:
    """Rows in one split whose keys, contents and meta fields follow from numbers."""
    numbers = list(numbers)
    contents = numbers if contents is None else list(contents)
    names = [str(number).encode() for number in numbers]
    return TaskRows(
        (SplitRows("train", 0, len(numbers)),),
        Column(b"".join(sha256(name).digest()[:16] for name in names), 16),
        Column(b"".join(sha256(b"c%d" % content).digest()[:16] for content in contents), 16),
        Column(b"".join(number.to_bytes(8, "big") for number in numbers), 8),
        PackedNames(b"".join(names), map(len, names)),
    )


def test_digests_are_taken_over_sorted_pairs():
    many = rows(range(MANY))
    order = sorted(range(MANY), key=lambda row: many.keys[row])
    found = split_digests(many, range(MANY))
    assert found.rows == MANY
    assert found.ids == sha256(b"".join(many.keys[row] for row in order)).hexdigest()
    assert found.content == sha256(b"".join(many.keys[row] + many.contents[row] for row in order)).hexdigest()
    assert found.meta == sha256(b"".join(many.keys[row] + many.metas[row] for row in order)).hexdigest()
    assert found.order == sha256(many.keys.data).hexdigest()
    backwards = split_digests(many, range(MANY)[::-1])
    assert (backwards.ids, backwards.content, backwards.meta) == (found.ids, found.content, found.meta)
    assert backwards.order != found.order


def test_equal_contents_are_matched_once_and_in_their_order():
    old, new = rows(range(MANY), (n % 10 for n in range(MANY))), rows(range(MANY), (n % 20 for n in range(MANY)))
    pairs = sorted(matched(old.contents, range(MANY), new.contents, range(MANY)))
    ones = [row for row in range(MANY) if row % 10 == 1], [row for row in range(MANY) if row % 20 == 1]
    assert [pair for pair in pairs if pair[0] % 10 == 1] == [(a, b) for a, b in zip(*ones, strict=False)]
    assert len(pairs) == MANY // 2


def test_an_id_that_stands_twice_is_found():
    assert repeated(rows(range(MANY))) is None
    assert repeated(rows([*range(MANY), 17])) == MANY
    assert repeated(rows([1, 2, 1])) == 2


def test_many_rows_are_compared_as_few_are():
    old = rows(range(MANY))
    new = rows([*range(10, MANY), *range(MANY, MANY + 10)], [*range(10, MANY), *range(5), *range(50_000, 50_005)])
    found = compare(old, new)
    assert list(found.removed) == [5, 6, 7, 8, 9]
    assert list(found.renamed) == [MANY - 10 + n for n in range(5)]
    assert list(found.added) == [MANY - 5 + n for n in range(5)]
    assert [found.counterparts[row] for row in (0, MANY - 10, MANY - 1)] == [10, 0, -1]


def test_names_come_back_from_their_block():
    ids = ["a", "\u00e9\U0001f600", "half \ud800", "z" * 1000]
    packed = [one.encode("utf-8", "surrogatepass") for one in ids]
    names = PackedNames(b"".join(packed), map(len, packed))
    assert list(names) == ids
    assert names[1:3] == ids[1:3]
    assert names[-1] == ids[-1]
