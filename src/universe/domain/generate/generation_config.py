"""Settings of generated universes, with their bounds and presets."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from universe.domain.generate.grammar import TOPOLOGIES, Topology
from uraniborg.kernel.errors import InvalidInput, make_invalid_input
from uraniborg.kernel.language.messages import find_nearest_names

Style = Literal["sparse", "solarLike", "crowded", "superDenseExperimental"]
STYLES: Final[tuple[Style, ...]] = get_args(Style)

_TABLE: Final[dict[str, tuple[Any, Any, Any, Any]]] = {
    "maxSystems": (3, 5, 15, 50),
    "maxStarsPerSystem": (1, 2, 3, 3),
    "enableNarySystems": (False, True, True, True),
    "planetDensity": (0.2, 0.5, 0.7, 0.8),
    "moonDensity": (0.2, 0.4, 0.6, 0.7),
    "orbitEccentricityStyle": ("circular", "circular", "mixed", "eccentric"),
    "orbitInclinationMax": (5, 10, 25, 45),
    "orbitOffsetEnabled": (False, False, False, True),
    "enableGroups": (False, False, False, True),
    "targetGalaxyCount": (3, 3, 3, 8),
    "groupStructureMode": ("flat", "flat", "flat", "deepHierarchy"),
    "smallBodyDetail": ("low", "medium", "high", "ultra"),
    "enableAsteroidBelts": (False, True, True, True),
    "beltDensity": (0.0, 0.4, 0.6, 0.7),
    "maxBeltsPerSystem": (0, 1, 2, 3),
    "beltPlacementMode": ("betweenPlanets", "betweenPlanets", "both", "both"),
    "beltStylePreset": ("none", "mainBelt", "mainBelt", "heavyDebris"),
    "enableKuiperBelt": (False, True, True, True),
    "kuiperBeltDensity": (0.0, 0.3, 0.5, 0.7),
    "kuiperBeltDistanceStyle": ("classical", "classical", "wide", "wide"),
    "kuiperBeltInclination": (0.2, 0.3, 0.5, 0.7),
    "enablePlanetaryRings": (False, True, True, True),
    "ringFrequency": (0.0, 0.3, 0.6, 0.9),
    "ringProminence": (0.3, 0.5, 0.7, 0.9),
    "ringStylePreset": ("none", "solarLike", "dramatic", "dramatic"),
    "enableComets": (False, True, True, True),
    "cometFrequency": (0.0, 0.3, 0.5, 0.8),
    "cometOrbitStyle": ("rareLong", "rareLong", "mixed", "manyShort"),
    "cometActivity": (0.3, 0.5, 0.7, 0.9),
    "enableLagrangePoints": (False, True, True, True),
    "lagrangeMarkerMode": ("none", "all", "all", "all"),
    "lagrangePairScope": ("starPlanet", "starPlanet", "starPlanet", "both"),
    "trojanFrequency": (0.0, 0.3, 0.6, 0.8),
    "trojanRichness": (0.3, 0.5, 0.7, 0.9),
    "enableProtoplanetaryDisks": (False, False, True, True),
    "protoplanetaryDiskPresence": (0.0, 0.0, 0.2, 0.5),
    "protoplanetaryDiskDensity": (0.3, 0.5, 0.6, 0.8),
    "protoplanetaryDiskProminence": (0.3, 0.5, 0.7, 0.9),
    "enableNebulae": (False, True, True, True),
    "nebulaDensity": (0.0, 0.2, 0.2, 0.2),
    "enableRoguePlanets": (False, True, True, True),
    "roguePlanetFrequency": (0.0, 0.2, 0.5, 0.8),
    "roguePlanetOrbitStyle": ("slowDrifters", "slowDrifters", "mixed", "fastIntruders"),
    "rogueTrajectoryMode": ("linearOnly", "mixed", "mixed", "curved"),
    "rogueCurvatureMin": (0.0, 0.0, 0.0, 0.3),
    "rogueCurvatureMax": (0.0, 0.3, 0.6, 1.0),
    "blackHoleRarityStyle": ("ultraRare", "rare", "rare", "common"),
    "blackHoleMassProfile": ("stellarOnly", "stellarOnly", "mixed", "supermassiveCentres"),
    "blackHoleAccretionStyle": ("subtle", "normal", "normal", "quasar"),
    "blackHoleAllowMultiplePerSystem": (False, False, False, True),
}


def get_style_settings(style: Style) -> dict[str, Any]:
    column = STYLES.index(style)
    return {name: row[column] for name, row in _TABLE.items()}


MOST_SYSTEMS: Final = 10_000
MOST_BODIES: Final = 200_000
"""A universe with more bodies is refused before any body is made."""
SEED_CHARS: Final = 1_000

Share = Annotated[float, Field(ge=0, le=1)]


class GenerationConfig(BaseModel):
    """All settings, by the camelCase names of JSON. A `stylePreset` gives the defaults."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        alias_generator=to_camel,
        title="generation config",
    )

    seed: int | Annotated[str, Field(max_length=SEED_CHARS)]
    style_preset: Style | None = None
    topology_preset: Topology = "classic"

    max_systems: int = Field(5, ge=1, le=MOST_SYSTEMS, description="The number of systems.")
    max_stars_per_system: int = Field(3, ge=1, le=3, description="For classic only.")
    max_depth: int = Field(3, ge=1, le=6, description="1: planets, 2: moons, 3 and more: submoons.")
    enable_nary_systems: bool = True
    scale_mode: Literal["realistic", "compressed", "toy"] = "realistic"
    planet_density: Share = Field(0.6, description="For classic only: a higher value gives more planets.")
    moon_density: Share = Field(0.7, description="For classic only: a higher value gives more moons.")
    orbit_eccentricity_style: Literal["circular", "mixed", "eccentric"] = "circular"
    orbit_inclination_max: float = Field(
        10, ge=0, le=90, description="The largest inclination of stars, planets and moons, in degrees."
    )
    orbit_offset_enabled: bool = False

    enable_groups: bool = False
    target_galaxy_count: int = Field(3, ge=1, le=1_000, description="The number of groups, limited to that of systems.")
    group_structure_mode: Literal["flat", "galaxyCluster", "deepHierarchy"] = "flat"

    small_body_detail: Literal["low", "medium", "high", "ultra"] = "medium"
    enable_asteroid_belts: bool = False
    belt_density: Share = 0.5
    max_belts_per_system: int = Field(2, ge=0, le=20)
    belt_placement_mode: Literal["betweenPlanets", "outerSystem", "both"] = "both"
    belt_style_preset: Literal["none", "mainBelt", "heavyDebris"] = "mainBelt"
    enable_kuiper_belt: bool = False
    kuiper_belt_density: Share = 0.5
    kuiper_belt_distance_style: Literal["tight", "classical", "wide"] = "classical"
    kuiper_belt_inclination: Share = 0.3

    enable_planetary_rings: bool = False
    ring_frequency: Share = 0.3
    ring_prominence: Share = 0.5
    ring_style_preset: Literal["none", "solarLike", "dramatic"] = "solarLike"

    enable_comets: bool = False
    comet_frequency: Share = 0.3
    comet_orbit_style: Literal["rareLong", "mixed", "manyShort"] = "mixed"
    comet_activity: Share = 0.5

    enable_lagrange_points: bool = False
    lagrange_marker_mode: Literal["none", "stableOnly", "all"] = "all"
    lagrange_pair_scope: Literal["starPlanet", "planetMoon", "both"] = "starPlanet"
    trojan_frequency: Share = 0.3
    trojan_richness: Share = 0.5

    enable_protoplanetary_disks: bool = False
    protoplanetary_disk_presence: Share = 0.3
    protoplanetary_disk_density: Share = 0.5
    protoplanetary_disk_prominence: Share = 0.5

    enable_nebulae: bool = False
    nebula_density: Share = 0.2
    nebula_size_bias: Literal["small", "medium", "large"] = "small"
    nebula_color_style: Literal["random", "mixed"] = "mixed"
    nebula_brightness: Share = 0.5

    enable_rogue_planets: bool = False
    rogue_planet_frequency: Share = 0.3
    rogue_planet_orbit_style: Literal["slowDrifters", "mixed", "fastIntruders"] = "mixed"
    rogue_planet_visibility: Share = 0.5
    rogue_trajectory_mode: Literal["linearOnly", "mixed", "curved"] = "mixed"
    rogue_curvature_min: Share = 0.0
    rogue_curvature_max: Share = 0.5
    rogue_trajectory_show: bool = True
    rogue_trajectory_preview_length: Share = 0.5

    enable_black_holes: bool = False
    black_hole_rarity_style: Literal["ultraRare", "rare", "common", "byFrequency"] = "rare"
    black_hole_frequency: Share = Field(0.1, description="Used if the rarity is byFrequency.")
    black_hole_mass_profile: Literal["stellarOnly", "mixed", "supermassiveCentres"] = "stellarOnly"
    black_hole_allow_multiple_per_system: bool = False
    black_hole_spin_level: Share = 0.5
    black_hole_accretion_style: Literal["subtle", "normal", "quasar"] = "normal"
    black_hole_accretion_intensity: Share = 0.6
    black_hole_disk_thickness_level: Share = 0.5
    black_hole_disk_clumpiness_level: Share = 0.5
    black_hole_jet_frequency: Share = 0.4
    black_hole_jet_drama_level: Share = 0.5
    black_hole_visual_complexity: Literal["minimal", "normal", "cinematic"] = "normal"
    black_hole_fx_intensity: Share = 0.5

    @model_validator(mode="before")
    @classmethod
    def _fill_in_style(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        settings = dict(cast("Mapping[str, Any]", given))
        style = settings.get("stylePreset")
        return {**get_style_settings(style), **settings} if style in STYLES else settings

    @model_validator(mode="after")
    def _check_curvature(self) -> Self:
        if self.rogue_curvature_min > self.rogue_curvature_max:
            raise ValueError("rogueCurvatureMin must not be above rogueCurvatureMax")
        return self


_SETTINGS: Final = tuple(to_camel(name) for name in GenerationConfig.model_fields)


def make_config(settings: Mapping[str, Any]) -> GenerationConfig:
    """Return the config for `settings`. Raise InvalidInput with the problem and the allowed values."""
    unknown = next((name for name in settings if name not in _SETTINGS), None)
    if unknown is not None:
        near = find_nearest_names(str(unknown), _SETTINGS)[:1]
        raise InvalidInput(
            f"There is no setting '{str(unknown)[:80]}'.",
            hint=f"Did you mean {near[0]}?" if near else f"Settings are: {', '.join(_SETTINGS)}.",
            argument=str(unknown)[:80],
            allowed=list(_SETTINGS),
        )
    try:
        return GenerationConfig.model_validate(settings)
    except ValidationError as exc:
        raise make_invalid_input(exc, label="generation config") from None


def make_preset_config(preset: str, seed: int | str, **overrides: Any) -> GenerationConfig:
    """Return the config of a topology or style preset, changed by `overrides`. Raise InvalidInput."""
    if preset in TOPOLOGIES:
        chosen: dict[str, Any] = {"topologyPreset": preset}
    elif preset in STYLES:
        chosen = {"stylePreset": preset}
    else:
        allowed = [*TOPOLOGIES, *STYLES]
        raise InvalidInput(
            f"There is no preset '{str(preset)[:80]}'.",
            hint=f"Presets are: {', '.join(allowed)}.",
            argument="preset",
            allowed=allowed,
        )
    return make_config({**chosen, **overrides, "seed": seed})
