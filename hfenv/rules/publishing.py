"""Rules about what the Hub and its readers see: licence, tags, configs, links, secrets and size: 6xx."""

from __future__ import annotations

from hfenv.findings import Severity
from hfenv.rules.rule import Example, Group, Rule

ERROR = Severity.ERROR
WARNING = Severity.WARNING

RULES = (
    Rule(
        "HFE601",
        ERROR,
        Group.PUBLISHING,
        "The card names a licence.",
        "Without one, nobody may use the environment. Write the Hub's identifier under `license` at the top of the "
        "header, not under `environment`.",
        bad=Example("licence: apache-2.0\n"),
        good=Example("license: apache-2.0\n"),
    ),
    Rule(
        "HFE602",
        ERROR,
        Group.PUBLISHING,
        "The tags contain rl-environment and hfenv.",
        "The Hub's filter for environments goes by the first, `hfenv search` by the second.",
        bad=Example("tags: [sql]\n"),
        good=Example("tags: [rl-environment, hfenv, sql]\n"),
        fixable=True,
    ),
    Rule(
        "HFE603",
        WARNING,
        Group.PUBLISHING,
        "`configs` agrees with the splits.",
        "`load_dataset` and the Hub's viewer read `configs`, hfenv reads `tasks.splits`: if they differ, people look "
        "at other tasks than they train on. hfenv writes `configs` from the splits at each push.",
        bad=Example("configs: [{config_name: tasks, data_files: tasks/old.jsonl}]\n"),
        good=Example(
            "configs:\n"
            "- config_name: tasks\n"
            "  default: true\n"
            "  data_files:\n"
            "  - {split: train, path: tasks/train.jsonl}\n"
            "  - {split: test, path: tasks/test.jsonl}\n"
        ),
        fixable=True,
    ),
    Rule(
        "HFE604",
        WARNING,
        Group.PUBLISHING,
        "The licence is one that the Hub knows.",
        "The Hub filters by its own identifiers, in lower case, and refuses cards with others. For any other licence "
        "write `other`, with `license_name` and `license_link`.",
        bad=Example("license: Apache 2.0\n"),
        good=Example("license: apache-2.0\n"),
        fixable=True,
    ),
    Rule(
        "HFE605",
        WARNING,
        Group.PUBLISHING,
        "The licence `other` has a name or a link.",
        "`other` alone says nothing about what a user may do.",
        bad=Example("license: other\n"),
        good=Example("license: other\nlicense_name: acme-research-1.0\nlicense_link: LICENSE\n"),
    ),
    Rule(
        "HFE606",
        WARNING,
        Group.PUBLISHING,
        "Languages are codes.",
        "The Hub takes ISO 639 codes of two or three letters, such as en and zh, besides `code` and `multilingual`. "
        "Regions and scripts, such as zh-Hans, go to `language_bcp47`.",
        bad=Example("language: English\n"),
        good=Example("language: en\n"),
        fixable=True,
    ),
    Rule(
        "HFE607",
        WARNING,
        Group.PUBLISHING,
        "Links of the card lead to files that are there.",
        "Links and images without a scheme are relative to the card, on the Hub too. Addresses of other sites aren't "
        "asked: validation makes no request. Links in code are left alone.",
        bad=Example("## Overview\nSee [the schema](docs/schema.png).\n"),
        good=Example("## Overview\nSee [the licence](LICENSE) and [the tasks](#tasks).\n"),
    ),
    Rule(
        "HFE608",
        ERROR,
        Group.SECRETS,
        "No file holds a token, a key or a password.",
        "What was pushed once stays in the history. Shapes that issuers give to their tokens are looked for in the "
        "first 32 MiB of every file, in columns of Parquet files too; in code and configuration also random values "
        "under names such as `api_key`. Nothing is sent anywhere, and the text itself is never printed. Take it out, "
        "revoke it, and read it from a secret that the card names. A made-up one says so: with `example` in it, it "
        "isn't found.",
        bad=Example('TOKEN = "hf_QmFzZTY0RW5jb2RlZFNlY3JldFRleHRzSQ"\n', path="env/words.py"),
        good=Example('import os\n\nASK = "How much is "\nTOKEN = os.environ.get("JUDGE_TOKEN")\n', path="env/words.py"),
    ),
    Rule(
        "HFE609",
        WARNING,
        Group.SECRETS,
        "No file has a name that stands for credentials.",
        "`credentials.json`, `secrets.yaml` and the like are pushed by accident. Name them in .hfenvignore. Key files, "
        "`.env` and `.netrc` are never pushed at all.",
        bad=Example('{"user": "me"}\n', path="tests/credentials.json"),
        good=Example('{"user": "me"}\n', path="tests/credentials.json.example"),
    ),
    Rule(
        "HFE610",
        ERROR,
        Group.SECRETS,
        "Files and folders have a size that the Hub takes.",
        "At most 50 GB in a file and 10,000 files in a folder; more than 100,000 files in a repository make everything "
        "slow. Put small files together into an archive or a Parquet file.",
    ),
    Rule(
        "HFE611",
        ERROR,
        Group.PUBLISHING,
        "No merge is left open.",
        "`hfenv pull --update` and git mark lines that both sides changed; of a file that isn't text, the hub's side "
        "lies beside yours under its name with `.remote`. Pushed like that, one side's work would be lost or nobody "
        "could read the file. Keep what is right, and remove the markers and the `.remote` file.",
        bad=Example("<<<<<<< here\nASK = 1\n=======\nASK = 2\n>>>>>>> hub\n", path="tests/notes.txt"),
        good=Example("ASK = 2\n", path="tests/notes.txt"),
    ),
)
