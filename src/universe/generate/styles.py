"""The four styles: one row for each setting they decide, from nearly empty to overfull."""

from typing import Any, Final, Literal, get_args

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


def style_settings(style: Style) -> dict[str, Any]:
    column = STYLES.index(style)
    return {name: row[column] for name, row in _TABLE.items()}
