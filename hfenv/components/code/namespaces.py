"""Packages that many distributions share, such as google and azure: which one brings a dotted name in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache

# A dotted name, and the distributions that bring it; `x-*` is any that begins so. The first is the one to recommend.
_TABLE = """
azure.core: azure-core azure-*
azure.identity: azure-identity
azure.storage.filedatalake: azure-storage-file-datalake
azure.storage.fileshare: azure-storage-file-share
databricks.sdk: databricks-sdk
databricks.sql: databricks-sql-connector
google.adk: google-adk
google.ai.generativelanguage: google-ai-generativelanguage
google.api: googleapis-common-protos google-* grpcio-*
google.api_core: google-api-core google-*
google.auth: google-auth google-* gcsfs
google.cloud.aiplatform: google-cloud-aiplatform
google.cloud.bigtable: google-cloud-bigtable
google.cloud.documentai: google-cloud-documentai
google.cloud.functions: google-cloud-functions
google.cloud.secretmanager: google-cloud-secret-manager
google.cloud.sql: cloud-sql-python-connector
google.cloud.bigquery_storage: google-cloud-bigquery-storage
google.cloud.datacatalog: google-cloud-datacatalog
google.cloud.exceptions: google-cloud-core google-cloud-*
google.genai: google-genai
google.generativeai: google-generativeai
google.iam: grpc-google-iam-v1 google-cloud-*
google.longrunning: googleapis-common-protos google-* grpcio-*
google.oauth2: google-auth google-* gcsfs
google.protobuf: protobuf
google.resumable_media: google-resumable-media google-cloud-*
google.rpc: googleapis-common-protos google-* grpcio-*
google.type: googleapis-common-protos google-* grpcio-*
llama_index: llama-index llama-index-*
llama_index.core: llama-index-core llama-index
opentelemetry.sdk: opentelemetry-sdk opentelemetry-distro
opentelemetry.semconv: opentelemetry-semantic-conventions opentelemetry-sdk
snowflake.connector: snowflake-connector-python
snowflake.ml: snowflake-ml-python
snowflake.snowpark: snowflake-snowpark-python
snowflake.sqlalchemy: snowflake-sqlalchemy
"""
# Parents whose children are named as their distributions: google.cloud.storage comes from google-cloud-storage.
_REGULAR = """
azure: batch cosmos eventgrid eventhub functions servicebus
azure.ai: agents contentsafety documentintelligence evaluation formrecognizer inference ml projects textanalytics
azure.cognitiveservices: speech
azure.communication: email sms
azure.data: tables
azure.keyvault: certificates keys secrets
azure.mgmt: compute containerinstance network resource storage
azure.monitor: opentelemetry query
azure.search: documents
azure.storage: blob queue
backports: tarfile zoneinfo zstd
google.cloud: bigquery datastore dlp error_reporting firestore kms language logging monitoring ndb pubsub
google.cloud: recaptcha_enterprise redis run scheduler spanner speech storage tasks texttospeech translate
google.cloud: videointelligence vision
jaraco: classes collections context functools path text
opentelemetry.exporter: prometheus
ruamel: yaml
zope: component event interface schema
"""
_SHARED = frozenset(("google", "azure", "opentelemetry", "snowflake", "databricks", "llama_index", "jaraco", "zope",
                     "backports", "sphinxcontrib"))  # fmt: skip
_VERSION = re.compile(r"_v\d\w*$")


def is_shared(top: str) -> bool:
    """Whether a module is a namespace: its name says nothing about the distribution."""
    return top in _SHARED


def known_for(dotted: str) -> tuple[str, ...]:
    """The distributions that bring a dotted name in a namespace; empty where that isn't known."""
    names = [_VERSION.sub("", name) for name in dotted.split(".")]
    prefixes = (".".join(names[:end]) for end in range(len(names), 0, -1))
    return next((_table()[prefix] for prefix in prefixes if prefix in _table()), ())


def parts(module: str, names: tuple[str, ...]) -> Iterator[str]:
    """What an import takes out of a namespace: `from google import genai` takes google.genai."""
    inside = names and (module in _parents() or not known_for(module)) and names != ("*",)
    if inside and (module in _parents() or any(known_for(f"{module}.{name}") for name in names)):
        yield from (f"{module}.{name}" for name in names)
    else:
        yield module


def is_declared(dotted: str, declared: Set[str]) -> bool:
    """Whether one of the `declared` distributions (normalised names) brings a dotted name."""
    names = dotted.split(".")
    own = {"-".join(names[:end]).replace("_", "-").lower() for end in range(2, len(names) + 1)} | {"azure"} & {names[0]}
    if not declared.isdisjoint(own):
        return True
    for name in known_for(dotted):
        if name in declared or (name.endswith("*") and any(other.startswith(name[:-1]) for other in declared)):
            return True
    return False


@lru_cache(maxsize=1)
def _table() -> Mapping[str, tuple[str, ...]]:
    found = {name: tuple(rest.split()) for name, _, rest in (line.partition(":") for line in _lines(_TABLE))}
    for parent, _, children in (line.partition(":") for line in _lines(_REGULAR)):
        for child in children.split():
            found[f"{parent}.{child}"] = (f"{parent}.{child}".replace(".", "-").replace("_", "-"),)
    for name in ("trace", "metrics", "context", "propagate", "baggage", "propagators"):
        found[f"opentelemetry.{name}"] = ("opentelemetry-api", "opentelemetry-sdk", "opentelemetry-distro")
    return found


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line]


@lru_cache(maxsize=1)
def _parents() -> frozenset[str]:
    """Dotted names in which nothing is but other modules."""
    return _SHARED | {name.rpartition(".")[0] for name in _table() if "." in name}
