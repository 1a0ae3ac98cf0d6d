"""What a caller may set at load."""

import pytest

from hfenv.errors import UnreadableError, UsageError
from hfenv.runtime.config import resolve_config
from hfenv.runtime.loader import load_environment

SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {"type": "integer", "minimum": 1, "default": 10},
        "style": {"type": "object", "properties": {"case": {"enum": ["upper", "lower"], "default": "lower"}}},
        "name": {"type": "string"},
    },
}


def test_given_values_stand_over_defaults_at_every_depth():
    assert resolve_config(SCHEMA, {}) == {"rows": 10, "style": {"case": "lower"}}
    assert resolve_config(SCHEMA, {"style": {"case": "upper"}, "name": "x"}) == {
        "rows": 10,
        "style": {"case": "upper"},
        "name": "x",
    }
    assert resolve_config(SCHEMA["properties"], {"rows": 3})["rows"] == 3
    assert resolve_config({}, {}) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": 0}, "Configuration 'rows': 0 is less than the minimum of 1"),
        ({"style": {"case": "odd"}}, r"Configuration 'style\.case'"),
        ({"colour": 1}, "no configuration key 'colour'"),
    ],
)
def test_a_wrong_value_names_its_key(given, said):
    with pytest.raises(UsageError, match=said):
        resolve_config(SCHEMA, given)


def test_a_card_whose_config_is_no_schema():
    with pytest.raises(UnreadableError):
        resolve_config({"properties": {"x": {"type": "nonsense"}}}, {"x": 1})


def test_the_environment_and_its_provenance_get_the_whole_configuration(folder):
    with load_environment(folder.card(config=SCHEMA).spec(config={"rows": 2})) as env:
        assert env.unwrapped.config["rows"] == 2
        assert env.provenance["config"] == {"rows": 2, "style": {"case": "lower"}}
    with pytest.raises(UsageError, match="Keys on its card: name, rows, style"):
        load_environment(folder.spec(config={"row": 2}))
