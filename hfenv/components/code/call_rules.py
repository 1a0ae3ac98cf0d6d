"""Names that matter where they are used: a table of what draws by chance, reads a clock, reaches out, or runs text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hfenv.components.code.call_conditions import (
    allows_pickle,
    always,
    called,
    evaluates_unknown,
    first_not_literal,
    imports_unknown,
    installs,
    loads_any_object,
    never,
    one_format,
    runs_shell,
    trusts_remote,
    unseeded,
    uses_files,
    without_arguments,
    without_generator,
    without_safe_loader,
)
from hfenv.components.code.hashing import hashes_text
from hfenv.components.code.walk import Use

CHANCE, CLOCK, NETWORK, OUTSIDE = "HFE418", "HFE419", "HFE420", "HFE421"
ENV_CHANCE = "HFE422"
CODE_TEXT, SHELL, LOADED, FOREIGN = "HFE423", "HFE424", "HFE425", "HFE426"
REWARD_RULES = (CHANCE, CLOCK, NETWORK, OUTSIDE)
TRUST_RULES = (CODE_TEXT, SHELL, LOADED, FOREIGN)


@dataclass(frozen=True, slots=True)
class UseRule:
    """Names that rules are about. `name.*` stands for everything in a module that has no entry of its own.

    `says` gets the name as `{name}`. `when` decides by the use itself.
    """

    rules: tuple[str, ...]
    names: str
    says: str
    fix: str
    when: Callable[[Use], bool]

    def cure(self, rule: str) -> str:
        """What to do about it: nothing hands a generator to a score, as `start` gets one."""
        return _SCORE_RNG if rule == CHANCE and self.fix in (_RNG, _TORCH_RNG) else self.fix


# The table

_RNG = "Draw from the `rng` that is handed in, or from a generator with a seed of its own: random.Random(seed)."
_TORCH_RNG = "Pass generator=torch.Generator().manual_seed(seed)."
_SCORE_RNG = (
    "Draw in measure, from context.rng: what that finds is recorded as evidence. Or make a generator whose seed is of "
    'the task: random.Random(task["id"]).'
)
_IN_MEASURE = "Do it in measure: what that finds is recorded as evidence, so that every later rescoring gives the same."
_SHARED = "{name} draws from a generator that everything in the process shares"
_UNSEEDED = "{name} without a seed draws differently each time"
_RANDOM = (
    "betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits getstate lognormvariate "
    "normalvariate paretovariate randbytes randint random randrange sample seed setstate shuffle triangular uniform "
    "vonmisesvariate weibullvariate"
)
_NUMPY_GENERATORS = "default_rng RandomState SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64"
_TORCH = "bernoulli multinomial normal poisson rand rand_like randint randint_like randn randn_like randperm"
_BOTH = (CHANCE, ENV_CHANCE)


def _names(module: str, names: str) -> str:
    return " ".join(f"{module}.{name}" for name in names.split())


TABLE = (
    UseRule(_BOTH, _names("random", _RANDOM), _SHARED, _RNG, always),
    UseRule(_BOTH, "numpy.random.*", _SHARED, _RNG, called),
    UseRule(_BOTH, "numpy.random.Generator numpy.random.BitGenerator", "", "", never),
    UseRule(_BOTH, f"random.Random {_names('numpy.random', _NUMPY_GENERATORS)}", _UNSEEDED, _RNG, unseeded),
    UseRule(_BOTH, f"{_names('torch', _TORCH)}", _SHARED, _TORCH_RNG, without_generator),
    UseRule(_BOTH, "torch.manual_seed torch.seed tensorflow.random.set_seed", _SHARED, _RNG, called),
    UseRule(_BOTH, "random.SystemRandom secrets.choice secrets.randbelow secrets.randbits secrets.SystemRandom",
            "{name} can't be seeded", _RNG, always),
    UseRule((CHANCE,), "os.urandom os.getrandom uuid.uuid1 uuid.uuid4 secrets.*", "{name} differs each time", _RNG,
            always),
    UseRule((CHANCE,), "secrets.compare_digest", "", "", never),
    UseRule((CHANCE,), "builtins.hash", "hash() of text differs from process to process",
            "Use a digest of hashlib, or compare the values themselves.", hashes_text),
    UseRule((CLOCK,), _names("time", "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time "
            "process_time_ns thread_time thread_time_ns clock_gettime clock_gettime_ns"), "{name} reads a clock",
            "Take times in the environment or in measure, and put them into outcome.data or the evidence.", always),
    UseRule((CLOCK,), "time.localtime time.gmtime time.ctime time.asctime", "{name} reads a clock", _IN_MEASURE,
            without_arguments),
    UseRule((CLOCK,), "time.strftime", "{name} without a time reads a clock", _IN_MEASURE, one_format),
    UseRule((CLOCK,), "datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today "
            "timeit.default_timer pandas.Timestamp.now pandas.Timestamp.today pandas.Timestamp.utcnow arrow.now "
            "arrow.utcnow pendulum.now pendulum.today django.utils.timezone.now", "{name} reads a clock", _IN_MEASURE,
            always),
    UseRule((NETWORK,), "requests.* httpx.* aiohttp.* urllib3.* urllib.request.* http.client.* socket.* ssl.* "
            "ftplib.* smtplib.* imaplib.* poplib.* telnetlib.* xmlrpc.client.* websocket.* websockets.* grpc.* "
            "paramiko.* boto3.* openai.* anthropic.* litellm.* cohere.* mistralai.* groq.* google.generativeai.* "
            "google.genai.* huggingface_hub.* datasets.load_dataset pymongo.* redis.* psycopg.* psycopg2.* "
            "asyncio.open_connection http.server.* socketserver.*", "{name} uses the network", _IN_MEASURE, called),
    UseRule((OUTSIDE,), "subprocess.* os.system os.popen os.fork os.spawnv os.spawnl os.execv os.posix_spawn pty.spawn "
            "asyncio.create_subprocess_exec asyncio.create_subprocess_shell multiprocessing.Process "
            "multiprocessing.Pool concurrent.futures.ProcessPoolExecutor docker.*", "{name} starts a process",
            _IN_MEASURE, called),
    UseRule((OUTSIDE,), "builtins.open io.open os.open ?.read_text ?.read_bytes ?.write_text ?.write_bytes os.listdir "
            "os.scandir os.walk os.remove os.unlink os.mkdir os.makedirs os.rename os.replace os.path.exists "
            "os.path.isfile os.path.getsize glob.glob glob.iglob shutil.* tempfile.* codecs.open gzip.open",
            "{name} uses files", "Read files when the module is imported, from beside it, or do it in measure.",
            uses_files),
    UseRule((OUTSIDE,), "os.environ os.environ.* os.getenv os.getcwd sys.argv builtins.input sys.stdin sys.stdin.*",
            "{name} depends on how the process was started", _IN_MEASURE, always),
    UseRule((CODE_TEXT,), "builtins.eval builtins.exec builtins.compile", "{name} runs whatever text it is given",
            "Parse what you need (json.loads, ast.literal_eval), or run it in a sandbox.", evaluates_unknown),
    UseRule((CODE_TEXT,), "builtins.__import__ importlib.import_module", "{name} imports what a text names",
            "Name the modules in a mapping and choose one.", imports_unknown),
    UseRule((CODE_TEXT,), "runpy.run_path runpy.run_module code.InteractiveInterpreter code.InteractiveConsole "
            "code.interact imp.load_source importlib.util.spec_from_file_location numexpr.evaluate",
            "{name} runs whatever code it is given", "Run foreign code in a process of its own, in a sandbox.",
            first_not_literal),
    UseRule((CODE_TEXT,), "pandas.eval", "{name} runs whatever text it is given", "Write the expression in Python.",
            evaluates_unknown),
    UseRule((SHELL,), "os.system os.popen subprocess.getoutput subprocess.getstatusoutput "
            "asyncio.create_subprocess_shell commands.getoutput", "{name} gives a text to a shell",
            "Call the program with a list of arguments: subprocess.run([...]).", first_not_literal),
    UseRule((SHELL,), _names("subprocess", "run call check_call check_output Popen") +
            " asyncio.create_subprocess_exec", "{name} gives a text to a shell",
            "Call the program with a list of arguments and without a shell.", runs_shell),
    UseRule((LOADED,), "pickle.load pickle.loads pickle.Unpickler _pickle.load _pickle.loads cPickle.load "
            "cPickle.loads "
            "dill.load dill.loads dill.Unpickler cloudpickle.load cloudpickle.loads marshal.load marshal.loads "
            "shelve.open joblib.load pandas.read_pickle jsonpickle.decode yaml.unsafe_load yaml.unsafe_load_all "
            "yaml.full_load yaml.full_load_all", "{name} can run code that stands in the data",
            "Store data as JSON, Parquet, SQLite or safetensors.", called),
    UseRule((LOADED,), "torch.load", "{name} can run code that stands in the file",
            "Write torch.load(..., weights_only=True), or use safetensors.", loads_any_object),
    UseRule((LOADED,), "numpy.load", "{name} with allow_pickle can run code that stands in the file",
            "Store arrays without objects.", allows_pickle),
    UseRule((LOADED,), "yaml.load yaml.load_all", "{name} can run code that stands in the text", "Use yaml.safe_load.",
            without_safe_loader),
    UseRule((FOREIGN,), "ctypes.CDLL ctypes.PyDLL ctypes.WinDLL ctypes.cdll.* ctypes.windll.* ctypes.pythonapi.* "
            "ctypes.memmove ctypes.memset ctypes.string_at cffi.FFI",
            "{name} runs native code that nobody can read here",
            "Use a published package for it, listed under requires.packages.", called),
    UseRule((FOREIGN,), "torch.hub.load urllib.request.urlretrieve",
            "{name} fetches files or code that the environment's digests don't cover",
            "Declare it under environment.resources, with its sha256.", called),
    UseRule((FOREIGN,), "?.from_pretrained transformers.* datasets.load_dataset", "{name} runs code that it downloads",
            "Leave trust_remote_code out.", trusts_remote),
    UseRule((FOREIGN,), _names("subprocess", "run call check_call check_output Popen getoutput") +
            " os.system os.popen", "{name} installs or fetches something while the environment runs",
            "List it under requires.packages or requires.system.", installs),
    UseRule((FOREIGN,), "sys.path.insert sys.path.append sys.path.extend site.addsitedir",
            "{name} lets code be imported that hfenv hasn't verified", "Import siblings relatively, without it.",
            called),
)  # fmt: skip


def _index() -> dict[str, list[UseRule]]:
    found: dict[str, list[UseRule]] = {}
    for rule in TABLE:
        for name in rule.names.split():
            found.setdefault(name, []).append(rule)
    return found


_BY_NAME = _index()
_LONG = 1_000  # characters; nothing in the table begins with that many dots
# How the names begin, for a look through a file: what stands before the last dot, builtins and attributes whole.
NAMES = frozenset(name for name in _BY_NAME if not name.startswith("?"))
ATTRIBUTES = frozenset(name[2:] for name in _BY_NAME if name.startswith("?"))


def entries_for(dotted: str) -> Mapping[str, Sequence[UseRule]]:
    """The entries of the table for a dotted name, by the rules that they are for.

    For each rule the entry of the longest name decides, so that exceptions can stand beside `module.*`.
    """
    return _entries(dotted) if len(dotted) < _LONG else {}


@lru_cache(maxsize=4096)
def _entries(dotted: str) -> Mapping[str, Sequence[UseRule]]:
    found: dict[str, list[UseRule]] = {}
    for name in _candidates(dotted):
        longer = set(found)
        for entry in _BY_NAME.get(name, ()):
            for rule in entry.rules:
                if rule not in longer:
                    found.setdefault(rule, []).append(entry)
    return found


def _candidates(dotted: str) -> Iterator[str]:
    yield dotted
    parent = dotted
    while "." in parent:
        parent = parent.rpartition(".")[0]
        yield f"{parent}.*"
