"""Policies that come with the environment: what a perfect and what a simple agent earns."""

import random
import re
from typing import Any


def oracle(task: dict, observation: Any, info: dict, rng: random.Random) -> str:
    """The right answer; the oracle alone sees the whole row."""
    return task["gold_sql"]


def heuristic(task: dict, observation: Any, info: dict, rng: random.Random) -> str:
    """Reads the question and knows a few shapes; a baseline that a trained agent should beat."""
    question = task["question"]
    if found := re.search(r"How many orders are for the product '(.+)'", question):
        return f"SELECT COUNT(*) FROM orders WHERE product = '{found[1]}'"
    if found := re.search(r"names of customers who live in (\w+)", question):
        return f"SELECT name FROM customers WHERE city = '{found[1]}'"
    if found := re.search(r"product and amount of each order with an amount below (\d+)", question):
        return f"SELECT product, amount FROM orders WHERE amount < {found[1]}"
    if "sum of the amounts" in question:
        return "SELECT SUM(amount) FROM orders"
    if "customers have no city" in question:
        return "SELECT COUNT(*) FROM customers WHERE city IS NULL"
    if "without any order" in question:
        return "SELECT id, name FROM customers WHERE id NOT IN (SELECT customer FROM orders)"
    if "above the average amount" in question:
        return "SELECT COUNT(*) FROM orders WHERE amount > (SELECT AVG(amount) FROM orders)"
    return "SELECT COUNT(*) FROM orders"
