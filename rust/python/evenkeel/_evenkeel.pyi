"""The compiled part of the package. Only ``Table`` and the classes after it are for users."""

from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

VERSION: str

Listener = Optional[Callable[..., None]]

def toml_of_json(json: str) -> str: ...
def json_of_toml(text: str, file: str) -> str: ...
def catalogue() -> List[Tuple[str, str, str, str, str]]: ...
def explain(word: str) -> List[str]: ...
def listing(name: str) -> Tuple[List[str], List[List[str]]]: ...
def parameters() -> List[Tuple[str, List[str], str]]: ...
def write_page(request: Mapping[str, Any]) -> List[str]: ...
def import_file(request: Mapping[str, Any]) -> Tuple[str, List[str]]: ...
def output_schema(name: str) -> str: ...
def compare(request: Mapping[str, Any], listener: Listener = None) -> Dict[str, Any]: ...
def write_comparison(path: str, csv: str) -> None: ...
def points(study: Mapping[str, Any]) -> str: ...
def sweep(request: Mapping[str, Any], listener: Listener = None) -> Dict[str, Any]: ...
def hpcc(request: Mapping[str, Any], listener: Listener = None) -> Run: ...
def figures(
    folders: List[str], choices: Mapping[str, Any]
) -> Tuple[List[Dict[str, Any]], List[str]]: ...
def drawing(svg: str, ending: str) -> bytes: ...
def write_run(path: str, files: List[Tuple[str, bytes]]) -> None: ...
def table_of_csv(name: str, csv: bytes) -> Table: ...

class Loaded:
    def __init__(self, source: Mapping[str, Any], overrides: Mapping[str, Any]) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def policy(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def hosts(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def has_rails(self) -> bool: ...
    def render(self) -> str: ...
    def check_line(self) -> str: ...
    def bound(self) -> Tuple[str, str]: ...
    def qps(self, listener: Listener = None) -> str: ...
    def export(self, format: str, out: str) -> Tuple[List[str], List[str]]: ...
    def traces(self, out: str) -> Tuple[List[str], List[str]]: ...
    def run(self, request: Mapping[str, Any], listener: Listener = None) -> Run: ...
    def run_rails(self, listener: Listener = None) -> RailRun: ...

class Run:
    def json(self) -> str: ...
    def text(self) -> str: ...
    @property
    def scenario_toml(self) -> Optional[str]: ...
    @property
    def incomplete(self) -> Optional[str]: ...
    @property
    def warnings(self) -> List[str]: ...
    @property
    def violations(self) -> Optional[List[str]]: ...
    def tables(self) -> List[str]: ...
    def table(self, name: str) -> Table: ...
    def save(self, path: str) -> None: ...

class RailRun(Run): ...

class Table:
    """A table of results in Arrow's memory format.

    Other libraries import it without a copy: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``. For pandas there is ``table.to_pandas()``.
    """

    @property
    def column_names(self) -> List[str]: ...
    @property
    def column_types(self) -> List[str]:
        """Types of the columns: int64, float64 or str."""
    @property
    def num_rows(self) -> int: ...
    def to_pandas(self) -> Any:
        """Returns a ``pandas.DataFrame``; works with pandas 2 and 3, with and without pyarrow.

        Whole numbers of which some are missing are float64.
        """
    def to_dict(self) -> Dict[str, List[Any]]:
        """Returns every column as a list, by name."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> List[Any]:
        """Returns the values of a column; a missing one is None."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

class Random:
    """A stream of random numbers, determined by the seed of the run."""

    def next_u32(self) -> int:
        """Returns 32 uniform bits."""
    def next_u16(self) -> int:
        """Returns 16 uniform bits: an entropy value."""
    def below(self, bound: int) -> int:
        """Returns a uniform number from 0 to ``bound`` - 1."""
    def chance(self, numerator: int, denominator: int) -> bool:
        """Returns True with probability ``numerator / denominator``."""

class QpContext:
    """The queue pair of a sender policy."""

    seed: int
    src: int
    dst: int
    stream: int
    qp_index: int
    path: int
    paths: List[int]
    base_rtt_ps: int
    bdp_packets: int
    retransmit_timeout_ps: int
    trimming: bool
    planes: int
    key: int
    def random(self) -> Random:
        """Returns the queue pair's random stream, from its start."""

class PlaneMask:
    """A set of planes: ``plane in free``, ``len(free)``, ``for plane in free``."""

    bits: int
    def __init__(self, bits: int) -> None:
        """Creates the set with bit ``p`` for plane ``p``."""
    def nth(self, index: int) -> Optional[int]:
        """Returns the plane with that index, in ascending order."""
    def next_from(self, plane: int) -> Optional[int]:
        """Returns the first plane from ``plane`` on, wrapping around."""
    def __contains__(self, plane: int) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...

class Feedback:
    """The report of an acknowledgement on a packet."""

    entropy: int
    signal: str
    packets: int
    marked: int
    rtt_ps: int

class SwitchContext:
    """The switch of a switch policy."""

    seed: int
    id: int
    tier: int
    ports: int
    port_rate_bps: int
    port_buffer_bytes: int
    def random(self) -> Random:
        """Returns the switch's random stream, from its start."""

class Packet:
    """The header of a packet, as a switch reads it."""

    src: int
    dst: int
    label: int
    entropy: int
    route: int
    wire_bytes: int
    is_data: bool
    is_marked: bool

class SwitchView:
    """The state of a switch at a decision."""

    candidates: int
    destination_edge: int
    destination_pod: int
    epoch: int
    def port(self, candidate: int) -> int:
        """Returns the port of a candidate, as an index into all ports of the switch."""
    def queue_bytes(self, candidate: int) -> int:
        """Returns the bytes queued at a candidate, including the packet in transmission."""
    def rate_bps(self, candidate: int) -> int:
        """Returns the rate of a candidate's link."""

class RouteLoad:
    """A route as the first switch of a packet sees it.

    ``cost`` is the product of ``links`` and ``queue_bytes``.
    """

    links: int
    queue_bytes: int
    cost: int

class DetourView:
    """The routes of a packet at the switch of its sender."""

    candidates: int
    minimal: RouteLoad
    def by(self, candidate: int) -> RouteLoad:
        """Returns the route through a candidate."""

class Departure:
    """A packet that leaves a switch."""

    port: int
    source_edge: int
    destination_edge: int
