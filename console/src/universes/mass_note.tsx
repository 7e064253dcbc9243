import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import type { Change } from "../data/server_events.ts";
import { universeTexts } from "./strings.ts";
import { describePlanetMass, formatQuantity, SOLAR_MASSES } from "./value_origins.ts";

const texts = universeTexts.universe;

interface MassNoteProps {
  universe: string;
  /** The mass as typed. */
  text: string;
  /** The body that changes, unless it is a new one. */
  body: string | undefined;
  /** The parent as typed, if one is. */
  parent: string | undefined;
}

interface MassiveBody {
  name: string;
  mass: number | undefined;
  parentId: string | undefined;
  /** Whether the unit of its mass is the solar mass. */
  isSolar: boolean;
}

/** What a typed mass means: in masses of planets, and a warning if the body becomes heavier than its parent. */
export function MassNote({ universe, text, body, parent }: MassNoteProps) {
  const isAffected = (change: Change) => change.kind === "universe" && change.subject === universe;
  const own = useResource(`mass ${universe} ${body}`, (signal) => loadBody(universe, body, signal), isAffected);
  const parentId = parent || own.value.value?.parentId;
  const found = useResource(
    `mass ${universe} ${parentId}`,
    (signal) => loadBody(universe, parentId, signal),
    isAffected,
  );
  const above = found.value.value;
  const mass = text.trim() ? Number(text) : Number.NaN;
  if (!(mass > 0)) return null;
  const words = own.value.value?.isSolar || above?.isSolar ? describePlanetMass(mass) : undefined;
  return (
    <div class="mass-note" role="status">
      {words && <p class="hint">{texts.sameMass(words)}</p>}
      {above?.mass !== undefined && mass > above.mass && (
        <p class="problem" dir="auto">
          {texts.heavierThanParent(above.name, formatQuantity(above.mass, above.isSolar ? SOLAR_MASSES : ""))}
        </p>
      )}
    </div>
  );
}

/** Return a body, or null if there is none with this id: it may be typed in part. */
async function loadBody(universe: string, id: string | undefined, signal: AbortSignal): Promise<MassiveBody | null> {
  if (!id) return null;
  const reply = await api.get("/api/universes/{universe_id}", {
    path: { universe_id: universe },
    query: { ids: [id], format: "compact" },
    signal,
  });
  const { state } = reply as { state?: { stars?: Record<string, MassReply> } };
  const star = state?.stars?.[id];
  if (!star) return null;
  return {
    name: star.name || id,
    mass: typeof star.mass === "number" ? star.mass : undefined,
    parentId: star.parentId ?? undefined,
    isSolar: star.kepler?.units === "astronomical" || star.physical?.massKg !== undefined,
  };
}

interface MassReply {
  name?: string;
  mass?: unknown;
  parentId?: string | null;
  kepler?: { units?: string };
  physical?: { massKg?: number };
}
