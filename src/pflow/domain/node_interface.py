"""The interface of a node type as data: parameters, outputs, actions and effect, and its declaration in a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypedDict, cast

if TYPE_CHECKING:
    from pflow.service.workflow_replies import NodeType, NodeTypeOutput, NodeTypeValue
    from uraniborg.kernel.json_values import Json, JsonObject

Effect = Literal["pure", "idempotent", "effectful"]
"""Pure: only computes or reads. Idempotent: twice has the same effect as once. Effectful: each time has an effect."""

Source = Literal["builtin", "user", "entry-point", "mcp"]
EFFECTS: Final = ("pure", "idempotent", "effectful")
TYPES: Final = ("str", "int", "float", "bool", "dict", "list", "any")


class ParamDeclaration(TypedDict, total=False):
    """A parameter in a declaration, see `Param`."""

    type: str
    required: bool
    default: "Json"
    description: str
    choices: "list[Json] | None"


class NodeOutputDeclaration(TypedDict, total=False):
    """An output in a declaration, see `OutputField`."""

    type: str
    description: str
    structure: "Mapping[str, str | NodeOutputDeclaration] | None"


class EffectDeclaration(TypedDict):
    """An effect that depends on the value of a parameter."""

    param: str
    values: NotRequired[Mapping[str, Effect]]
    default: NotRequired[Effect]
    unless: NotRequired[list[str]]


class VolatileDeclaration(TypedDict):
    """The values of a parameter with which a node is volatile."""

    param: str
    values: list[str]


class NodeDeclaration(TypedDict):
    """A node type as a file declares it, see `Interface`. A text stands for a parameter or output of that type."""

    type: str
    description: str
    run: str
    params: NotRequired[Mapping[str, str | ParamDeclaration]]
    outputs: NotRequired[Mapping[str, str | NodeOutputDeclaration]]
    actions: NotRequired[list[str]]
    effect: NotRequired[Effect | EffectDeclaration]
    version: NotRequired[str]
    example: "NotRequired[JsonObject]"
    tags: NotRequired[list[str]]
    reads: NotRequired[list[str]]
    writes: NotRequired[list[str]]
    takes: NotRequired[list[str]]
    limits: NotRequired[list[str]]
    reads_world: NotRequired[bool]
    volatile: NotRequired[bool | VolatileDeclaration]
    open_params: NotRequired[bool]
    open_actions: NotRequired[bool]
    timeout: NotRequired[float | None]
    tool: NotRequired[str]
    """Of an MCP server, the tool."""


class StoredDeclaration(NodeDeclaration):
    """A declaration in the cache, with its origin."""

    source: Source
    file: str


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. `type` is one of TYPES, or several joined by `|`; `choices` are the allowed values, if bounded.

    The checker compares constants with them; the node checks values of templates.
    """

    key: str
    type: str = "any"
    required: bool = False
    default: "Json" = None
    description: str = ""
    choices: "tuple[Json, ...]" = ()

    def to_dict(self) -> "NodeTypeValue":
        described: NodeTypeValue = {
            "key": self.key,
            "type": self.type,
            "required": self.required,
            "default": self.default,
            "description": self.description,
        }
        if self.choices:
            described["choices"] = list(self.choices)
        return described


@dataclass(frozen=True, slots=True)
class OutputField:
    """An output. `structure` has the fields of a dict, or of the items of a list; None if unknown."""

    key: str
    type: str = "any"
    description: str = ""
    structure: Mapping[str, "OutputField"] | None = None

    def to_dict(self) -> "NodeTypeOutput":
        described: NodeTypeOutput = {"key": self.key, "type": self.type, "description": self.description}
        if self.structure is not None:
            described["structure"] = [out.to_dict() for out in self.structure.values()]
        return described


@dataclass(frozen=True, slots=True)
class Interface:
    """A node type. `run` is `package.module:function`, or `file.py:function` beside the declaring file."""

    type: str
    description: str
    run: str
    params: Mapping[str, Param] = field(default_factory=dict[str, Param])
    outputs: Mapping[str, OutputField] = field(default_factory=dict[str, OutputField])
    actions: tuple[str, ...] = ("default", "error")
    effect: Effect = "effectful"
    effect_by: tuple[str, Mapping[str, Effect]] | None = None
    """A parameter on whose value the effect depends, and the effect for each value; `effect` for all others.

    The effect for "" is that of the parameter left out, unless one of `effect_unless` is given.
    """
    effect_unless: tuple[str, ...] = ()
    version: str = "1"
    example: "JsonObject" = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    """Parameters that name input files. A result depends on their size and modification time."""
    writes: tuple[str, ...] = ()
    """Parameters that name files it writes: if one of them is missing, an earlier result is not reused."""
    takes: tuple[str, ...] = ()
    """Parameters that name files it removes: earlier nodes that wrote them need not write them again."""
    reads_world: bool = False
    """Whether it may read files that earlier nodes wrote, without a parameter that names them."""
    is_volatile: bool = False
    """Whether its input changes by itself, so that an earlier result is never reused."""
    volatile_by: tuple[str, frozenset[str]] | None = None
    """The parameter that decides whether it is volatile, and the values for which it is: see `is_volatile_with`."""
    limits: tuple[str, ...] = ()
    """Parameters that only bound how long it takes or how much it may use: its result does not depend on them."""
    open_params: bool = False
    """Whether it takes parameters that are not listed."""
    open_actions: bool = False
    """Whether it may return actions that are not listed."""
    timeout: float | None = None
    source: Source = "builtin"
    file: str = ""
    """The file that declares it, for a node of the user's own; `SERVER/TOOL` for a tool of an MCP server."""

    def get_effect(self, params: "Mapping[str, Json]") -> Effect:
        if self.effect_by is None:
            return self.effect
        name, effects = self.effect_by
        value = params.get(name)
        if value is None and name in self.params:
            value = self.params[name].default
        if value is None:
            return (
                effects.get("", self.effect)
                if all(params.get(one) is None for one in self.effect_unless)
                else self.effect
            )
        return effects.get(str(value).upper(), self.effect)

    def is_volatile_with(self, params: "Mapping[str, Json]") -> bool:
        if self.volatile_by is None:
            return self.is_volatile
        name, values = self.volatile_by
        value = params.get(name)
        if value is None and name in self.params:
            value = self.params[name].default
        return str(value).upper() in values

    def to_dict(self) -> "NodeType":
        """Return the description in `browse_components`."""
        return {
            "type": self.type,
            "description": self.description,
            "inputs": [param.to_dict() for param in self.params.values()],
            "outputs": [out.to_dict() for out in self.outputs.values()],
            "actions": list(self.actions),
            "effect": self.effect,
            "example": dict(self.example),
        }


def parse_interface(plain: Mapping[str, object], *, source: Source, file: str = "") -> Interface:
    """Return the interface that a JSON object declares. Raise ValueError with the problem."""
    return build_interface(require_valid_declaration(cast("JsonObject", plain)), source=source, file=file)


def build_interface(plain: NodeDeclaration, *, source: Source, file: str = "") -> Interface:
    """Return the interface of a declaration."""
    effect, volatile = plain.get("effect", "effectful"), plain.get("volatile", False)
    by: tuple[str, Mapping[str, Effect]] | None = None
    unless: tuple[str, ...] = ()
    if isinstance(effect, dict):
        by = (effect["param"], {key.upper(): value for key, value in effect.get("values", {}).items()})
        effect, unless = effect.get("default", "effectful"), tuple(effect.get("unless", ()))
    volatile_by: tuple[str, frozenset[str]] | None = None
    if isinstance(volatile, dict):
        volatile_by = (volatile["param"], frozenset(value.upper() for value in volatile["values"]))
    return Interface(
        type=plain["type"],
        description=plain["description"],
        run=plain["run"],
        params={key: _parse_param(key, value) for key, value in plain.get("params", {}).items()},
        outputs=_parse_outputs(plain.get("outputs", {})),
        actions=tuple(plain.get("actions", ("default", "error"))),
        effect=effect,
        effect_by=by,
        effect_unless=unless,
        version=str(plain.get("version", "1")),
        example=plain.get("example", {}),
        tags=tuple(plain.get("tags", ())),
        reads=tuple(plain.get("reads", ())),
        writes=tuple(plain.get("writes", ())),
        takes=tuple(plain.get("takes", ())),
        reads_world=bool(plain.get("reads_world", False)),
        is_volatile=volatile is True,
        volatile_by=volatile_by,
        limits=tuple(plain.get("limits", ())),
        open_params=bool(plain.get("open_params", False)),
        open_actions=bool(plain.get("open_actions", False)),
        timeout=plain.get("timeout"),
        source=source,
        file=file,
    )


def require_valid_declaration(plain: "JsonObject") -> NodeDeclaration:
    """Return a JSON object that declares an interface. Raise ValueError with the problem of one that does not."""
    for key in ("type", "description", "run"):
        if not isinstance(plain.get(key), str) or not plain[key]:
            raise ValueError(f"`{key}` must be text")
    params = _require_mapping(plain, "params")
    for key, value in params.items():
        if "choices" in (described := _require_description(key, value)):
            _require_valid_choices(key, described["choices"])
    _require_valid_outputs(_require_mapping(plain, "outputs"))
    _require_mapping(plain, "example")
    for key in ("actions", "tags", "reads", "writes", "takes", "limits"):
        if key in plain and not _is_list_of_texts(plain[key]):
            raise ValueError(f"`{key}` must be a list of texts")
    limits = cast("list[str]", plain.get("limits", []))
    if unknown := [one for one in limits if one not in params]:
        raise ValueError(f"`limits` names `{unknown[0]}`, which is not one of `params`")
    timeout = plain.get("timeout")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
        raise ValueError("`timeout` must be a number of seconds")
    _require_valid_effect(plain.get("effect", "effectful"))
    _require_valid_volatile(plain.get("volatile", False))
    declared: Any = plain
    return declared


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[Any]", value))


def _require_valid_effect(effect: "Json") -> None:
    effect_object: JsonObject = effect if isinstance(effect, dict) else {"param": "", "default": effect}
    if type(effect_object.get("param")) is not str:
        raise ValueError("an `effect` that depends on a parameter must name it in `param`")
    for value in (effect_object.get("default", "effectful"), *_require_mapping(effect_object, "values").values()):
        if value not in EFFECTS:
            raise ValueError(f"`effect` must be one of {', '.join(EFFECTS)}")


def _require_valid_volatile(volatile: "Json") -> None:
    if isinstance(volatile, bool):
        return
    volatile_object: JsonObject = volatile if isinstance(volatile, dict) else {}
    if type(volatile_object.get("param")) is not str or not _is_list_of_texts(volatile_object.get("values")):
        raise ValueError("`volatile` must be true or false, or an object with `param` and a list of texts `values`")


def _require_valid_choices(key: str, choices: "Json") -> None:
    listed = choices if isinstance(choices, list) else []
    if choices is not None and not (listed and all(isinstance(one, (str, int, float)) for one in listed)):
        raise ValueError(f"`choices` of `{key}` must be a list of texts, numbers or booleans")


def _require_valid_outputs(outs: "JsonObject") -> None:
    for key, value in outs.items():
        if (structure := _require_description(key, value).get("structure")) is not None:
            if not isinstance(structure, dict):
                raise ValueError(f"`structure` of `{key}` must be an object")
            _require_valid_outputs(structure)


def _require_description(key: str, value: "Json") -> "JsonObject":
    described: Json = {"type": value} if isinstance(value, str) else value
    if not isinstance(described, dict):
        raise ValueError(f"`{key}` must be a type, or an object that has one")  # noqa: TRY004 - the error is in the file
    kind = described.get("type", "any")
    if kind not in TYPES and not (isinstance(kind, str) and all(one in TYPES for one in kind.split("|"))):
        raise ValueError(f"the type of `{key}` must be one of {', '.join(TYPES)}, or several joined by |")
    return described


def _require_mapping(plain: "JsonObject", key: str) -> "JsonObject":
    value = plain.get(key, {})
    if not isinstance(value, dict):
        raise ValueError(f"`{key}` must be an object")  # noqa: TRY004 - the error is in the file
    return value


def _parse_param(key: str, value: str | ParamDeclaration) -> Param:
    plain: ParamDeclaration = {"type": value} if isinstance(value, str) else value
    return Param(
        key=key,
        type=plain.get("type", "any"),
        required=bool(plain.get("required", False)),
        default=plain.get("default"),
        description=str(plain.get("description", "")),
        choices=tuple(plain.get("choices") or ()),
    )


def _parse_outputs(plain: Mapping[str, str | NodeOutputDeclaration]) -> dict[str, OutputField]:
    return {key: _parse_output(key, value) for key, value in plain.items()}


def _parse_output(key: str, value: str | NodeOutputDeclaration) -> OutputField:
    plain: NodeOutputDeclaration = {"type": value} if isinstance(value, str) else value
    structure = plain.get("structure")
    return OutputField(
        key=key,
        type=plain.get("type", "any"),
        description=str(plain.get("description", "")),
        structure=None if structure is None else _parse_outputs(structure),
    )
