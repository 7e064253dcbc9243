"""The interface of a node type, as data: what it takes, what it gives, and what it does to the world."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

Effect = Literal["pure", "idempotent", "effectful"]
"""Pure: only computes or reads. Idempotent: doing it twice is as good as once. Effectful: twice is twice."""

Source = Literal["builtin", "user", "entry-point", "mcp"]
EFFECTS: Final = ("pure", "idempotent", "effectful")
TYPES: Final = ("str", "int", "float", "bool", "dict", "list", "any")


@dataclass(frozen=True, slots=True)
class Param:
    """`type` is one of TYPES, or several joined by `|`."""

    key: str
    type: str = "any"
    required: bool = False
    default: Any = None
    description: str = ""

    def plain(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "type": self.type,
            "required": self.required,
            "default": self.default,
            "description": self.description,
        }


@dataclass(frozen=True, slots=True)
class Out:
    """`structure` is what a dict or the items of a list hold, by key; None where that is not known."""

    key: str
    type: str = "any"
    description: str = ""
    structure: Mapping[str, "Out"] | None = None

    def plain(self) -> dict[str, Any]:
        told: dict[str, Any] = {"key": self.key, "type": self.type, "description": self.description}
        if self.structure is not None:
            told["structure"] = [out.plain() for out in self.structure.values()]
        return told


@dataclass(frozen=True, slots=True)
class Interface:
    """`run` names the function: `package.module:function`, or `file.py:function` beside the file that says so."""

    type: str
    description: str
    run: str
    params: Mapping[str, Param] = field(default_factory=dict[str, Param])
    outputs: Mapping[str, Out] = field(default_factory=dict[str, Out])
    actions: tuple[str, ...] = ("default", "error")
    effect: Effect = "effectful"
    effect_by: tuple[str, Mapping[str, Effect]] | None = None
    """A parameter on whose value the effect depends, and the effect for each value; `effect` for all others."""
    version: str = "1"
    example: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tags: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    """Parameters that name files. Size and time of change of those are part of what a result follows from."""
    open_params: bool = False
    """Whether it takes parameters that are not listed."""
    open_actions: bool = False
    """Whether it may answer with actions that are not listed."""
    timeout: float | None = None
    source: Source = "builtin"
    file: str = ""
    """The file that declares it, for a node of the user's own."""

    def effect_of(self, params: Mapping[str, Any]) -> Effect:
        if self.effect_by is None:
            return self.effect
        name, effects = self.effect_by
        default = self.params[name].default if name in self.params else None
        return effects.get(str(params.get(name, default)).upper(), self.effect)

    def plain(self) -> dict[str, Any]:
        """As `browse_components` tells of it."""
        return {
            "type": self.type,
            "description": self.description,
            "inputs": [param.plain() for param in self.params.values()],
            "outputs": [out.plain() for out in self.outputs.values()],
            "actions": list(self.actions),
            "effect": self.effect,
            "example": dict(self.example),
        }


def interface_from(plain: Mapping[str, Any], *, source: Source, file: str = "") -> Interface:
    """The interface that a JSON object declares. Raises ValueError that says what is wrong with it."""
    kind = _text(plain, "type")
    effect = plain.get("effect", "effectful")
    by: tuple[str, Mapping[str, Effect]] | None = None
    if isinstance(effect, dict):
        told = cast("dict[str, Any]", effect)
        values: dict[str, Effect] = {str(key).upper(): _effect(value) for key, value in told.get("values", {}).items()}
        by, effect = (str(told.get("param")), values), told.get("default", "effectful")
    return Interface(
        type=kind,
        description=_text(plain, "description"),
        run=_text(plain, "run"),
        params={key: _param(key, value) for key, value in _mapping(plain, "params").items()},
        outputs=_outs(_mapping(plain, "outputs")),
        actions=tuple(plain.get("actions", ("default", "error"))),
        effect=_effect(effect),
        effect_by=by,
        version=str(plain.get("version", "1")),
        example=_mapping(plain, "example"),
        tags=tuple(plain.get("tags", ())),
        reads=tuple(plain.get("reads", ())),
        open_params=bool(plain.get("open_params", False)),
        open_actions=bool(plain.get("open_actions", False)),
        timeout=plain.get("timeout"),
        source=source,
        file=file,
    )


def _text(plain: Mapping[str, Any], key: str) -> str:
    value = plain.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"`{key}` must be text")
    return value


def _mapping(plain: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = plain.get(key, {})
    if not isinstance(value, dict):
        raise ValueError(f"`{key}` must be an object")  # noqa: TRY004 - what is wrong is the file
    return cast("dict[str, Any]", value)


def _effect(value: Any) -> Effect:
    if value not in EFFECTS:
        raise ValueError(f"`effect` must be one of {', '.join(EFFECTS)}")
    return value


def _kind(value: Any) -> str:
    if not isinstance(value, str) or not all(one in TYPES for one in value.split("|")):
        raise ValueError(f"a type is one of {', '.join(TYPES)}, or several joined by |")
    return value


def _param(key: str, value: Any) -> Param:
    plain = {"type": value} if isinstance(value, str) else cast("dict[str, Any]", value)
    return Param(
        key=key,
        type=_kind(plain.get("type", "any")),
        required=bool(plain.get("required", False)),
        default=plain.get("default"),
        description=str(plain.get("description", "")),
    )


def _outs(plain: Mapping[str, Any]) -> dict[str, Out]:
    return {key: _out(key, value) for key, value in plain.items()}


def _out(key: str, value: Any) -> Out:
    plain = {"type": value} if isinstance(value, str) else cast("dict[str, Any]", value)
    structure = plain.get("structure")
    return Out(
        key=key,
        type=_kind(plain.get("type", "any")),
        description=str(plain.get("description", "")),
        structure=None if structure is None else _outs(cast("dict[str, Any]", structure)),
    )
