"""One valid example of each command, for the listing and for errors."""

from typing import Final

from uraniborg.kernel.json_values import JsonObject

_STAR: Final[JsonObject] = {
    "name": "Earth",
    "mass": 3.0e-6,
    "radius": 0.5,
    "color": "#4A90E2",
    "parentId": "sun",
    "orbitalDistance": 10,
    "orbitalSpeed": 1,
    "orbitalPhase": 100,
    "bodyType": "planet",
}
_PARTICLES: Final[JsonObject] = {
    "systemId": "sun",
    "innerRadius": 20,
    "outerRadius": 30,
    "thickness": 1,
    "particleCount": 2000,
    "baseColor": "#8B7355",
    "highlightColor": "#CCCCCC",
    "opacity": 0.7,
    "brightness": 1,
    "clumpiness": 0.2,
    "rotationSpeedMultiplier": 1,
    "seed": 7,
}
_FIELD: Final[JsonObject] = {
    "id": "belt",
    **_PARTICLES,
    "hostStarId": "sun",
    "beltType": "main",
    "regionLabel": "main belt",
    "isIcy": False,
    "style": "moderate",
}
_DISK: Final[JsonObject] = {"id": "disk", **_PARTICLES, "centralStarId": "sun", "style": "thin"}
_NEBULA: Final[JsonObject] = {
    "id": "veil",
    "name": "Veil",
    "position": {"x": 0, "y": 0, "z": 900},
    "radius": 120,
    "density": 0.4,
    "brightness": 0.5,
    "baseColor": "#4A90E2",
    "accentColor": "#E25822",
    "noiseScale": 1.5,
    "noiseDetail": 3,
    "seed": "veil",
}

EXAMPLES: Final[dict[str, JsonObject]] = {
    "tick": {"type": "tick", "dt": 1},
    "addStar": {"type": "addStar", "id": "earth", "payload": _STAR},
    "updateStar": {"type": "updateStar", "id": "earth", "payload": {"name": "Terra", "color": "#3FA7FF"}},
    "removeStar": {"type": "removeStar", "id": "earth"},
    "attachStar": {"type": "attachStar", "childId": "moon", "parentId": "earth"},
    "detachStar": {"type": "detachStar", "childId": "moon"},
    "addGroup": {
        "type": "addGroup",
        "id": "milky-way",
        "payload": {"name": "Milky Way", "children": [], "parentGroupId": None},
    },
    "updateGroup": {"type": "updateGroup", "id": "milky-way", "payload": {"color": "#9BB0FF"}},
    "removeGroup": {"type": "removeGroup", "id": "milky-way"},
    "addToGroup": {"type": "addToGroup", "groupId": "milky-way", "child": {"id": "sun", "type": "system"}},
    "removeFromGroup": {"type": "removeFromGroup", "groupId": "milky-way", "childId": "sun"},
    "moveToGroup": {"type": "moveToGroup", "childId": "sun", "childType": "system", "targetGroupId": "milky-way"},
    "setSmallBodyFields": {"type": "setSmallBodyFields", "fields": {"belt": _FIELD}},
    "updateSmallBodyField": {"type": "updateSmallBodyField", "id": "belt", "patch": {"opacity": 0.4}},
    "removeSmallBodyField": {"type": "removeSmallBodyField", "id": "belt"},
    "setProtoplanetaryDisks": {"type": "setProtoplanetaryDisks", "disks": {"disk": _DISK}},
    "addProtoplanetaryDisk": {"type": "addProtoplanetaryDisk", "disk": _DISK},
    "updateProtoplanetaryDisk": {"type": "updateProtoplanetaryDisk", "id": "disk", "patch": {"style": "thick"}},
    "removeProtoplanetaryDisk": {"type": "removeProtoplanetaryDisk", "id": "disk"},
    "setNebulae": {"type": "setNebulae", "nebulae": {"veil": _NEBULA}},
    "updateNebula": {"type": "updateNebula", "id": "veil", "patch": {"brightness": 0.8}},
    "removeNebula": {"type": "removeNebula", "id": "veil"},
    "updateRing": {"type": "updateRing", "planetId": "saturn", "patch": {"outerRadiusMultiplier": 2.3}},
    "removeRing": {"type": "removeRing", "planetId": "saturn"},
    "replaceSnapshot": {
        "type": "replaceSnapshot",
        "snapshot": {"stars": {}, "rootIds": [], "groups": {}, "rootGroupIds": []},
    },
}
