import { describeAuthor } from "../common/actor_words.ts";
import { Tag } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Facts } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import { findOnShelf, makePaperAddress } from "./shelf_papers.ts";
import { universeTexts } from "./strings.ts";
import { formatQuantity, nameField, type Origin, tagStatus } from "./value_origins.ts";

const texts = universeTexts.universe;

interface OriginProps {
  universe: string;
  body: string;
  version: number;
  field: string;
  onClose: () => void;
}

/** Where one value comes from: its source with the row or passage, its command, or what it was computed from. */
export function OriginDialog({ universe, body, version, field, onClose }: OriginProps) {
  const origin = useResource(`origin ${universe} ${body} ${field} ${version}`, async (signal) => {
    const path = { universe_id: universe };
    return (await api.get("/api/universes/{universe_id}/cite", {
      path,
      query: { body, field, version },
      signal,
    })) as Origin;
  });
  return (
    <Dialog title={texts.originTitle(nameField(field))} onClose={onClose}>
      <Loaded resource={origin}>{(found) => <OriginFacts origin={found} />}</Loaded>
    </Dialog>
  );
}

function OriginFacts({ origin }: { origin: Origin }) {
  const { command, computed } = origin;
  const tag = tagStatus(origin.status);
  return (
    <div class="origin">
      <p class="origin-value">
        <span class="mono">{formatQuantity(origin.value, origin.unit)}</span>{" "}
        <Tag tone={tag?.tone ?? "yes"}>{tag?.word ?? origin.status}</Tag>
      </p>
      {origin.mark && <p dir="auto">{origin.mark}</p>}
      {origin.withdrawn && <p class="note-box">{texts.withdrawn(nameField(origin.withdrawn))}</p>}
      {origin.sources.map((source) => (
        <OriginSource key={source.id} source={source} />
      ))}
      {computed && (
        <div>
          <h3>{texts.computed(computed.how)}</h3>
          <Facts facts={computed.from.map((one) => [nameField(one.field), formatQuantity(one.value, one.unit)])} />
        </div>
      )}
      {command && (
        <p class="quiet small" dir="auto">
          {texts.command(command.type, command.version, describeAuthor(command.author, command.actor))},{" "}
          <When at={command.at} />
        </p>
      )}
    </div>
  );
}

function OriginSource({ source }: { source: Origin["sources"][number] }) {
  const row = source.location?.row;
  const address = useResource(`paper at ${source.id} ${row?.join("|") ?? ""}`, async (signal) => {
    const paper = await findOnShelf(source, signal);
    return paper ? await makePaperAddress(paper, source.location, signal) : "";
  }).value.value;
  return (
    <div class="origin-source">
      <p>
        <span dir="auto">{source.shortCitation}</span>{" "}
        <cite class="foreign" dir="auto">
          {source.title}
        </cite>
      </p>
      {row && (
        <p class="origin-row mono small" dir="auto">
          {row.join(" | ")}
        </p>
      )}
      {source.location?.passage && (
        <blockquote class="foreign" dir="auto">
          {source.location.passage}
        </blockquote>
      )}
      {source.conversion && <p class="mono small">{source.conversion}</p>}
      {source.reason && <p class={source.status === "supported" ? "quiet" : "problem"}>{source.reason}</p>}
      {source.note && <p class="quiet small">{source.note}</p>}
      {address && (
        <a class="button" href={address}>
          {row || source.location?.passage ? texts.openAtRow : texts.openPaper}
        </a>
      )}
      {address === "" && <p class="quiet small">{texts.notOnShelf}</p>}
    </div>
  );
}
