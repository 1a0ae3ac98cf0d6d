"""Results are compared as bags or sequences of typed rows."""

import math

import pytest
from reward.compare import overlap, same


@pytest.mark.parametrize(
    ("answer", "gold", "equal"),
    [
        ([[1]], [[1.0]], True),
        ([[1]], [["1"]], False),
        ([[1]], [[True]], False),
        ([[0.1 + 0.2]], [[0.3]], True),
        ([[0.31]], [[0.3]], False),
        ([[1000001]], [[1000000]], False),
        ([[None]], [[""]], False),
        ([[None]], [["None"]], False),
        ([[None]], [[0]], False),
        ([[math.nan]], [[math.nan]], False),
        ([["a"], ["a"]], [["a"]], False),
        ([["a"], ["b"]], [["b"], ["a"]], True),
        ([["a", 1]], [[1, "a"]], False),
        ([["a"]], [["a", None]], False),
        ([], [], True),
        ([], [[None]], False),
        ([[{"blob": "00"}]], [["00"]], False),
        ([["é"]], [["e\u0301"]], False),
    ],
)
def test_bags(answer, gold, equal):
    assert same(answer, gold, ordered=False) is equal
    assert (overlap(answer, gold, ordered=False) == 1.0) is equal


def test_order_counts_only_when_asked_for():
    assert same([[1], [2]], [[2], [1]], ordered=False)
    assert not same([[1], [2]], [[2], [1]], ordered=True)
    assert overlap([[1], [2]], [[2], [1]], ordered=True) == 0.5


def test_overlap_falls_with_each_broken_row():
    gold = [[number, str(number)] for number in range(10)]
    broken = [[*gold[:keep], *([-1, ""] for _ in range(10 - keep))] for keep in range(11)]
    values = [overlap(answer, gold, ordered=False) for answer in broken]
    assert values == sorted(values)
    assert len(set(values)) == 11


def test_a_dump_around_the_answer_earns_its_precision():
    assert overlap([[number] for number in range(100)], [[5]], ordered=False) == pytest.approx(0.01)


def test_numbers_within_the_tolerance_pair_up_once():
    answer, gold = [[1.0000001], [1.0000001]], [[1.0], [2.0]]
    assert overlap(answer, gold, ordered=False) == pytest.approx(0.25)
