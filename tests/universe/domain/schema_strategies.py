"""Values that a JSON schema accepts, for Hypothesis: of the parts of JSON Schema that the published schemas use."""

from typing import Any, Final, cast

from hypothesis import strategies as st

Schema = dict[str, Any]
_IGNORED: Final = {"title", "description", "default", "discriminator", "$defs", "components"}
_USED: Final = {
    "$ref", "additionalProperties", "anyOf", "const", "enum", "exclusiveMaximum", "exclusiveMinimum", "items",
    "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "multipleOf", "oneOf", "properties",
    "propertyNames", "required", "type",
}  # fmt: skip
_LARGEST: Final = 1.7e308
_MADE: Final[dict[int, dict[str, st.SearchStrategy[Any]]]] = {}
_EXTRA: Final = st.dictionaries(st.sampled_from(["note", "x-1"]), st.none() | st.integers() | st.text(), max_size=1)


def values_of(schema: Schema, defs: Schema) -> st.SearchStrategy[Any]:
    """Return a strategy for values that the schema accepts. Raises AssertionError for keywords it does not know."""
    assert not schema.keys() - _USED - _IGNORED, schema.keys() - _USED - _IGNORED
    if "$ref" in schema:
        return st.deferred(lambda: _defined(schema["$ref"].rsplit("/", 1)[1], defs))
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    if "properties" not in schema and ("anyOf" in schema or "oneOf" in schema):
        return st.one_of([values_of(one, defs) for one in schema.get("anyOf", schema.get("oneOf", []))])
    return _OF_TYPE[schema["type"]](schema, defs)


def _defined(name: str, defs: Schema) -> st.SearchStrategy[Any]:
    """Return the strategy of a definition, made once: to make one takes longer than to use it."""
    known = _MADE.setdefault(id(defs), {})
    if name not in known:
        known[name] = values_of(defs[name], defs)
    return known[name]


def _object(schema: Schema, defs: Schema) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        keys = schema.get("propertyNames", {})
        values = schema.get("additionalProperties", {"type": "integer"})
        return st.dictionaries(_string({**keys, "type": "string"}, defs), values_of(values, defs), max_size=2)
    required = set(schema.get("required", ()))
    alternatives = schema.get("anyOf", [{}])
    return st.one_of([_fields(schema, required, cast("Schema", one), defs) for one in alternatives])


def _fields(schema: Schema, required: set[str], alternative: Schema, defs: Schema) -> st.SearchStrategy[Any]:
    needed = required | set(alternative.get("required", ()))
    narrowed = {**schema["properties"], **alternative.get("properties", {})}
    fields = {name: values_of(_both(schema["properties"][name], narrowed[name]), defs) for name in schema["properties"]}
    optional = {name: field for name, field in fields.items() if name not in needed}
    made = st.fixed_dictionaries({name: fields[name] for name in sorted(needed)}, optional=optional)
    if schema.get("additionalProperties") is False:
        return made
    return st.builds(_joined, _EXTRA, made)


def _joined(extra: Schema, given: Schema) -> Schema:
    return {**extra, **given}


def _both(schema: Schema, narrower: Schema) -> Schema:
    """Return the schema of a field where one alternative narrows it: to a constant, a range, or other than null."""
    if schema is narrower or "const" in narrower or "anyOf" in narrower:
        return narrower
    return {**next(one for one in schema["anyOf"] if one.get("type") == narrower["type"]), **narrower}


def _array(schema: Schema, defs: Schema) -> st.SearchStrategy[Any]:
    least = schema.get("minItems", 0)
    return st.lists(values_of(schema["items"], defs), min_size=least, max_size=schema.get("maxItems", least + 2))


def _string(schema: Schema, _defs: Schema) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), schema.get("maxLength", 300)
    text = st.text(st.characters(exclude_categories=("Cs",)), min_size=least, max_size=min(most, least + 8))
    return text | st.just("x" * most)


def _number(schema: Schema, _defs: Schema) -> st.SearchStrategy[Any]:
    low = max(schema.get("minimum", -_LARGEST), schema.get("exclusiveMinimum", -_LARGEST))
    high = min(schema.get("maximum", _LARGEST), schema.get("exclusiveMaximum", _LARGEST))
    whole = st.integers(max(int(low), -(2**70)) + ("exclusiveMinimum" in schema), min(int(high), 2**70))
    if "multipleOf" in schema or schema["type"] == "integer":
        return whole | whole.map(float)
    broken = st.floats(
        low, high, exclude_min="exclusiveMinimum" in schema, exclude_max="exclusiveMaximum" in schema, allow_nan=False
    )
    return broken if "exclusiveMaximum" in schema else broken | whole


def _null(_schema: Schema, _defs: Schema) -> st.SearchStrategy[None]:
    return st.none()


def _boolean(_schema: Schema, _defs: Schema) -> st.SearchStrategy[bool]:
    return st.booleans()


_OF_TYPE: Final = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _number,
    "null": _null,
    "boolean": _boolean,
}
