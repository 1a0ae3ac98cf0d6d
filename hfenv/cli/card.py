"""`hfenv card`: the schema for editors, the front matter for hooks, and the card as a page."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import HfenvError, NotFoundError, UsageError

if TYPE_CHECKING:
    from hfenv.card.reader import Card

app = new_app(no_args_is_help=True, help="The card for other tools: schema, extract, preview.")

STANDARD = Path("-")  # standard input or output, as everywhere on the command line
PathArgument = Annotated[
    Path, typer.Argument(metavar="[PATH]", help="An environment's folder, a README.md, or - for standard input.")
]


class SchemaForm(str, Enum):
    """How the schema is spelled."""

    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


@app.command()
def schema(
    form: Annotated[
        SchemaForm, typer.Option("--as", help="JSON or YAML for tools, Markdown for people.")
    ] = SchemaForm.JSON,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Print the JSON Schema of a card's header.

    Editors and validators read it as JSON or YAML. With --format json it stands under the key "schema" of one object.
    """
    from hfenv.card.schema import load_schema

    output = Output(fmt)
    if fmt is Format.JSON:
        output.result("card schema", {"schema": load_schema()}, "")
    else:
        output.raw(_schema_text(form).encode())


def _schema_text(form: SchemaForm) -> str:
    import json

    from hfenv.card.fields import field_reference
    from hfenv.card.schema import SCHEMA_NAME, load_schema
    from hfenv.paths import data_folder

    if form is SchemaForm.YAML:
        return (data_folder("schemas") / SCHEMA_NAME).read_text(encoding="utf-8")
    if form is SchemaForm.MARKDOWN:
        return field_reference()
    return json.dumps(load_schema(), indent=2, ensure_ascii=False) + "\n"


@app.command()
def extract(path: PathArgument = Path(), fmt: FormatOption = Format.HUMAN) -> None:
    """Print a card's front matter.

    The YAML exactly as it is written, or its values with --format json.
    Exit code 3: the card can't be read.
    """
    card = _card(path)
    output = Output(fmt)
    if fmt is Format.JSON:
        output.result("card extract", {"front_matter": _json(card.front_matter)}, "")
    else:
        output.raw(card.text[card.header.start : card.header.end].encode())


@app.command()
def preview(
    path: PathArgument = Path(),
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where the page goes; - is standard output.")
    ] = STANDARD,
    open_: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a FILE that isn't an earlier preview.")] = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Make one HTML page of a card.

    It holds the pictures of the card's folder, runs nothing and fetches nothing, so it can be sent and opened anywhere.
    Exit code 3: the card can't be read.
    """
    from hfenv.card.preview import render_preview

    output = Output(fmt)
    if out == STANDARD and not open_ and fmt is not Format.JSON and sys.stdout.isatty():
        raise UsageError("The page would fill this terminal.", "Add --out page.html, --open, or > page.html.")
    card = _card(path)
    page = render_preview(card, folder=_pictures(path), grades=_grades(path, card, output))
    if open_ and out == STANDARD:
        out = Path(tempfile.mkdtemp(prefix="hfenv-preview-")) / "preview.html"
    if out != STANDARD:
        _write(out, page, force=force)
        if path != STANDARD and path.is_dir() and out.resolve().is_relative_to(path.resolve()):
            output.note(f"{out} lies in the environment and would be pushed with it; .hfenvignore can leave it out.")
    if open_:
        _show(out, output)
    data = {"out": None, "html": page.decode()} if out == STANDARD else {"out": out.as_posix(), "bytes": len(page)}
    if out == STANDARD and fmt is not Format.JSON:
        output.raw(page)
    else:
        output.result("card preview", data, f"{out}: {len(page):,} bytes", str(out))


def _card(path: Path) -> Card:
    """The card at a path; NotFoundError where there is nothing, CardError (exit 3) where it can't be read."""
    from hfenv.card.reader import parse_card, read_card

    if path == STANDARD:
        stream = getattr(sys.stdin, "buffer", None)
        return parse_card(stream.read() if stream else sys.stdin.read().encode(), "standard input")
    if not path.exists():
        raise NotFoundError(f"There is nothing at {path}.", "Name the folder of an environment, or a README.md.")
    return read_card(path)


def _json(value: Any) -> Any:
    """Values of a header as JSON can hold them: what is no JSON number becomes its text in YAML."""
    if isinstance(value, dict):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else "-.inf" if value < 0 else ".inf"
    # Python refuses to print integers of more than 4,300 digits; in YAML such a one can be written in hexadecimal.
    return hex(value) if isinstance(value, int) and value.bit_length() > 14_000 else value


def _pictures(path: Path) -> Path | None:
    if path == STANDARD:
        return None
    return path if path.is_dir() else path.parent


_LARGEST_TASKS = 256 * 1024 * 1024  # bytes of task files that are read for a page


def _grades(path: Path, card: Card, output: Output) -> Mapping[str, int] | None:
    """Tasks by grade from a folder's task files, where the card doesn't give them; a note says what can't be read."""
    from hfenv.card.declared import Declared
    from hfenv.card.preview_facts import declared_grades
    from hfenv.components.taskfiles import split_files
    from hfenv.components.tasks.facts import grade_field, split_facts

    declared = Declared.of(card)
    if path == STANDARD or not path.is_dir() or declared_grades(card) or grade_field(declared.fields) is None:
        return None
    if declared.seeds:
        return None  # the files hold only a sample of the tasks
    try:
        files = split_files(path, [pattern for patterns in declared.splits.values() for pattern in patterns])
        if sum(file.stat().st_size for file in files) > _LARGEST_TASKS:
            output.note("The task files are large, so their grades aren't counted; a push writes them onto the card.")
            return None
        return split_facts(path, declared.fields, [file.relative_to(path).as_posix() for file in files]).grades
    except (HfenvError, OSError) as error:
        output.note(f"Tasks aren't counted: {error.message if isinstance(error, HfenvError) else error.strerror}")
        return None


def _write(out: Path, page: bytes, *, force: bool) -> None:
    from hfenv.card.preview import is_preview
    from hfenv.components.files import check_replaceable, write_all

    if out.is_dir():
        raise UsageError(f"{out} is a folder.", "Name a file, such as --out page.html.")
    check_replaceable(out)
    if out.exists() and not force:
        with out.open("rb") as stream:
            if not is_preview(stream.read(100)):
                raise UsageError(f"{out} exists and is no preview.", "Choose another name, or replace it with --force.")
    write_all({out: page})


def _show(out: Path, output: Output) -> None:
    import webbrowser

    if not webbrowser.open(out.resolve().as_uri()):
        output.warn(f"No browser could be started; open {out}.")
