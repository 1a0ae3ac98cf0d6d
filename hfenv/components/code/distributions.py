"""Which distribution brings an imported module: by name, by a table of those that differ, by what is installed here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache

from hfenv.components.code.namespaces import is_declared, is_shared, known_for
from hfenv.components.code.requires import normalised

# Modules that only other Pythons than the one that validates have in their standard library.
_OTHER_STDLIB = """
aifc annotationlib asynchat asyncore audioop binhex cgi cgitb chunk compression crypt distutils imghdr imp lib2to3
mailcap msilib nis nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib tomllib uu xdrlib
"""
NEWER_OR_OLDER_STDLIB = frozenset(_OTHER_STDLIB.split())
# A module, and the distributions that bring it where none of them has its name; the first is the one to recommend.
_TABLE = """
absl: absl-py
antlr4: antlr4-python3-runtime
apt: python-apt
attr: attrs
Bio: biopython
bs4: beautifulsoup4
cairo: pycairo
chess: chess python-chess
cpuinfo: py-cpuinfo
Crypto: pycryptodome pycrypto
Cryptodome: pycryptodomex
cv2: opencv-python-headless opencv-python opencv-contrib-python opencv-contrib-python-headless
dateutil: python-dateutil
discord: discord-py
dns: dnspython
docx: python-docx
dotenv: python-dotenv
engineio: python-engineio
faiss: faiss-cpu faiss-gpu faiss-gpu-cu12
fitz: pymupdf
gi: pygobject
git: gitpython
github: pygithub
gitlab: python-gitlab
googleapiclient: google-api-python-client
grpc: grpcio
hydra: hydra-core
igraph: igraph python-igraph
imblearn: imbalanced-learn
jose: python-jose
jwt: pyjwt
kafka: kafka-python kafka-python-ng
ldap: python-ldap
Levenshtein: levenshtein python-levenshtein
llama_cpp: llama-cpp-python
magic: python-magic
markdown_it: markdown-it-py
mpl_toolkits: matplotlib
multipart: python-multipart
MySQLdb: mysqlclient
nacl: pynacl
newspaper: newspaper3k newspaper4k
nvidia_smi: nvidia-ml-py3
odf: odfpy
onnxruntime: onnxruntime onnxruntime-gpu
OpenGL: pyopengl
OpenSSL: pyopenssl
paho: paho-mqtt
PIL: pillow pillow-simd
pkg_resources: setuptools
playhouse: peewee
pptx: python-pptx
psycopg2: psycopg2-binary psycopg2
pybullet_data: pybullet
pybullet_envs: pybullet
pygame: pygame pygame-ce
pylab: matplotlib
pynvml: nvidia-ml-py pynvml
pysat: python-sat
pythoncom: pywin32
pywintypes: pywin32
pyximport: cython
qiskit: qiskit qiskit-terra
rapidjson: python-rapidjson
rdkit: rdkit rdkit-pypi
readability: readability-lxml
rest_framework: djangorestframework
ruamel: ruamel-yaml
serial: pyserial
skimage: scikit-image
sklearn: scikit-learn
skopt: scikit-optimize
slugify: python-slugify
snappy: python-snappy
socketio: python-socketio
socks: pysocks
speech_recognition: speechrecognition
telegram: python-telegram-bot
tensorflow: tensorflow tensorflow-cpu tensorflow-gpu tensorflow-macos tf-nightly
torch_geometric: torch-geometric pyg
tree: dm-tree
umap: umap-learn
usb: pyusb
vertexai: google-cloud-aiplatform
websocket: websocket-client
win32api: pywin32
win32com: pywin32
win32con: pywin32
win32gui: pywin32
win32pipe: pywin32
wx: wxpython
xdg: pyxdg
Xlib: python-xlib
yaml: pyyaml
z3: z3-solver
zmq: pyzmq
"""
_DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    module: tuple(names.split()) for module, _, names in (line.partition(":") for line in _TABLE.split("\n") if line)
}
_COMMON_WORDS = frozenset(("python", "client", "core", "tools", "utils", "library", "binary", "base", "data", "text"))


def brings(top: str, dotted: str, declared: Set[str]) -> bool:
    """Whether one of the `declared` distributions (normalised names) is known by name to bring a module."""
    if is_shared(top):
        return is_declared(dotted, declared)
    if normalised(top) in declared or not declared.isdisjoint(_DISTRIBUTIONS.get(top, ())):
        return True
    names = dotted.split(".")
    longer = [".".join(names[:end]) for end in range(2, len(names) + 1)]
    return any(normalised(n) in declared or not declared.isdisjoint(_DISTRIBUTIONS.get(n, ())) for n in longer)


def unaccounted(modules: Iterable[str], declared: Set[str]) -> frozenset[str]:
    """Declared distributions of which no imported module is known to come."""
    modules = set(modules)
    known = {name for module in modules for name in (normalised(module), *_DISTRIBUTIONS.get(module, ()))}
    known |= {name for module in modules for name in known_for(module)}
    return frozenset(declared - known)


def distribution_for(dotted: str, left: frozenset[str]) -> str | None:
    """What to ask for so that a module is there: a name in quotes, or words where nobody knows it.

    None where one of the distributions in `left` seems to bring it: those that the card asks for although nothing known
    of theirs is imported. Only where there are any is looked at what is installed here, which takes time.
    """
    top = dotted.partition(".")[0]
    if is_shared(top) and (known := known_for(dotted)):
        return f'"{known[0]}"'
    if any(_sound_alike(top, name) for name in left):
        return None
    if left:
        installed = {normalised(name) for name in _installed().get(top, ())}
        if installed & left:
            return None
        if len(installed) == 1 and top not in _DISTRIBUTIONS:
            return f'"{sorted(installed)[0]}"'
    if is_shared(top):
        return f"the package that provides {dotted}"
    return f'"{_DISTRIBUTIONS.get(top, (normalised(top),))[0]}"'


def _sound_alike(module: str, distribution: str) -> bool:
    """`foo` from python-foo, pyfoo, foo-sdk: names that share a word that says something."""
    name = normalised(module)
    words, others = set(name.split("-")), set(distribution.split("-"))
    if {word for word in words & others if len(word) > 2} - _COMMON_WORDS:
        return True
    stems = {re.sub(r"^py|py$|\d+$", "", word) for word in (name.replace("-", ""), distribution.replace("-", ""))}
    return len(stems) == 1


@lru_cache(maxsize=1)
def _installed() -> Mapping[str, list[str]]:
    from importlib import metadata

    return metadata.packages_distributions()
