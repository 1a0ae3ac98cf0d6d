"""What the task templates are made of: values, ways to say a condition, and the template itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Choice = tuple[str, str]  # how the question says it, how the query says it


@dataclass(frozen=True)
class Template:
    """A family of tasks. Placeholders are drawn from `choices`; {where} and {cond} are drawn conditions.

    `only_test` keeps a whole family out of the training split, so that the test split has shapes never seen there.
    """

    key: str
    wordings: tuple[str, ...]
    sql: str
    choices: Mapping[str, Sequence[Choice]] = field(default_factory=dict)
    conditions: tuple[int, int] | None = None  # at least and at most so many conditions on flights
    kinds: tuple[str, ...] = ()  # kinds of conditions that may be drawn; all when empty
    alias: str = ""
    edge: str = ""
    count: int = 10
    only_test: bool = False


def same(*values: object) -> list[Choice]:
    """Values that question and query write alike."""
    return [(str(value), str(value)) for value in values]


def quoted(*values: str) -> list[Choice]:
    """Texts: as they are in the question's single quotes, with quotes doubled in the query."""
    return [(value, "'" + value.replace("'", "''") + "'") for value in values]


MONTH_NAMES = "January February March April May June July August September October November December".split()
MONTHS: list[Choice] = [(name, str(number)) for number, name in enumerate(MONTH_NAMES, start=1)]
ORIGINS = quoted("EWR", "JFK", "LGA")
CARRIERS = quoted("9E", "AA", "B6", "DL", "EV", "FL", "MQ", "UA", "US", "VX", "WN", "AS", "F9")
AIRLINES = quoted(
    "Endeavor Air Inc.",
    "American Airlines Inc.",
    "JetBlue Airways",
    "Delta Air Lines Inc.",
    "ExpressJet Airlines Inc.",
    "AirTran Airways Corporation",
    "Envoy Air",
    "United Air Lines Inc.",
    "US Airways Inc.",
    "Virgin America",
    "Southwest Airlines Co.",
)
DESTS = quoted(
    *(
        "ORD ATL LAX BOS MCO CLT SFO FLL MIA DCA DTW DFW RDU TPA DEN IAH MSP PBI BNA LAS SJU IAD BUF PHX CLE STL MDW "
        "SEA CVG MSY RSW CMH CHS PIT SAN MKE JAX BTV SLC ROC RIC AUS IND PWM HOU MCI SYR ORF PHL DAY BHM SAV"
    ).split()
)
DELAYS: list[Choice] = [
    ("departure delay (dep_delay)", "dep_delay"),
    ("arrival delay (arr_delay)", "arr_delay"),
]
METRICS: list[Choice] = [*DELAYS, ("time in the air (air_time)", "air_time"), ("distance", "distance")]
THINGS: list[Choice] = [
    ("destinations (dest)", "dest"),
    ("carriers (carrier)", "carrier"),
    ("tail numbers (tailnum)", "tailnum"),
    ("flight numbers (flight)", "flight"),
]
ENDS: list[Choice] = [("largest", "MAX"), ("smallest", "MIN")]
MAKERS = quoted(
    "BOEING",
    "AIRBUS",
    "AIRBUS INDUSTRIE",
    "EMBRAER",
    "BOMBARDIER INC",
    "MCDONNELL DOUGLAS",
    "MCDONNELL DOUGLAS AIRCRAFT CO",
)
ZONES = quoted("America/New_York", "America/Chicago", "America/Los_Angeles", "America/Denver", "America/Anchorage")

# Conditions on flights: a kind, several ways to say it, the condition, and the values to draw from.
CONDITIONS: dict[str, tuple[tuple[str, ...], str, Sequence[Choice]]] = {
    "carrier": (("operated by carrier '{0}'", "with carrier code '{0}'"), "{a}carrier = {1}", CARRIERS),
    "origin": (("departing from {0}", "with origin {0}"), "{a}origin = {1}", ORIGINS),
    "dest": (("to destination {0}", "bound for {0}"), "{a}dest = {1}", DESTS),
    "month": (("in {0}", "in the month of {0}"), "{a}month = {1}", MONTHS),
    "before": (("scheduled to depart before {0}:00 (hour below {0})",), "{a}hour < {1}", same(8, 9, 10, 11, 12, 14)),
    "after": (
        ("scheduled to depart at {0}:00 or later (hour {0} or above)",),
        "{a}hour >= {1}",
        same(14, 15, 16, 17, 18, 19),
    ),
    "long": (
        ("of at least {0} miles", "with a distance of {0} miles or more"),
        "{a}distance >= {1}",
        same(500, 700, 1000, 1500, 2000),
    ),
    "short": (
        ("of less than {0} miles", "with a distance below {0} miles"),
        "{a}distance < {1}",
        same(400, 600, 800, 1100, 1600),
    ),
    "late": (
        ("that departed more than {0} minutes late", "with a dep_delay above {0} minutes"),
        "{a}dep_delay > {1}",
        same(5, 10, 15, 20, 30, 45, 60),
    ),
    "late_arrival": (
        ("that arrived more than {0} minutes late", "with an arr_delay above {0} minutes"),
        "{a}arr_delay > {1}",
        same(5, 10, 15, 20, 30, 45, 60),
    ),
    "early": (
        ("that arrived at least {0} minutes early (arr_delay of -{0} or below)",),
        "{a}arr_delay <= -{1}",
        same(5, 10, 15, 20),
    ),
    "airborne": (("with more than {0} minutes in the air",), "{a}air_time > {1}", same(60, 90, 120, 150, 200)),
}
