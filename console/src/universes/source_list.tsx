import { useResource } from "../data/resource.ts";
import { findOnShelf, makePaperAddress, type Source } from "./shelf_papers.ts";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universe;

/** The publications of the values, by number, with those on a shelf as links. */
export function SourceList({ sources, numbers }: { sources: readonly Source[]; numbers: Map<string, number> }) {
  const used = sources.filter((source) => numbers.has(source.id));
  used.sort((a, b) => (numbers.get(a.id) ?? 0) - (numbers.get(b.id) ?? 0));
  if (!used.length) return <p class="quiet small">{texts.noSources}</p>;
  return (
    <div class="source-list">
      <h3>{texts.sources}</h3>
      <ol>
        {used.map((source) => (
          <li key={source.id} value={numbers.get(source.id)}>
            <span dir="auto">{source.shortCitation}</span>{" "}
            <cite class="foreign" dir="auto">
              {source.title}
            </cite>{" "}
            <ShelfLink source={source} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function ShelfLink({ source }: { source: Source }) {
  const found = useResource(`on shelf ${source.doi} ${source.arxiv}`, async (signal) => {
    const paper = await findOnShelf(source, signal);
    return paper ? { ...paper, address: await makePaperAddress(paper, undefined, signal) } : null;
  }).value.value;
  if (!found) return null;
  return (
    <a class="tag accent" href={found.address}>
      {texts.onShelf(found.shelf)}
    </a>
  );
}
