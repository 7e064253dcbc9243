import { Button } from "../common/controls.tsx";
import { checkLink } from "../common/foreign_text.tsx";
import { Icon } from "../common/icon.tsx";
import { Loaded } from "../common/states.tsx";
import { api, formatAddress } from "../data/api.ts";
import { FileLink } from "../data/api_file.tsx";
import type { PaperMetadata } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { formatPath } from "../data/router.ts";
import { describeHit } from "./hit_list.tsx";
import { makePaperAddress } from "./library_query.ts";
import { PaperNote } from "./paper_note.tsx";
import { groupByFields, groupByUniverse } from "./paper_uses.ts";
import type { AddressAt } from "./reading.tsx";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.paper;
const SIMILAR = 5;
const SHOWN_BODIES = 8;

/** What stands beside a paper: citing, outline, links, where it is used, and similar papers. */
export function PaperContext(props: { shelf: string; paper: PaperMetadata; addressAt: AddressAt; onCite: () => void }) {
  const { shelf, paper, addressAt, onCite } = props;
  return (
    <>
      <div class="wide-only context-actions">
        <Button kind="primary" keyHint="c" onClick={onCite}>
          {texts.cite}
        </Button>
      </div>
      {paper.outline.length > 0 && <Outline paper={paper} addressAt={addressAt} />}
      <Links shelf={shelf} paper={paper} />
      <ValueLinks shelf={shelf} title={texts.keywords} name="keyword" values={paper.keywords} />
      <ValueLinks shelf={shelf} title={texts.tags} name="tag" values={paper.tags} />
      <PaperNote shelf={shelf} paper={paper} />
      <Uses shelf={shelf} paper={paper} />
      <Similar shelf={shelf} paper={paper} />
    </>
  );
}

function Outline({ paper, addressAt }: { paper: PaperMetadata; addressAt: AddressAt }) {
  const top = Math.min(...paper.outline.map((heading) => heading.level));
  return (
    <nav aria-labelledby="paper-outline">
      <h2 id="paper-outline" class="section-title">
        {texts.outline}
      </h2>
      <ol class="outline">
        {paper.outline.map((heading) => (
          <li key={heading.offset} class={`depth-${Math.min(3, heading.level - top)}`}>
            <a href={addressAt(heading.offset)} dir="auto">
              {heading.title}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Links({ shelf, paper }: { shelf: string; paper: PaperMetadata }) {
  const linked = new Set(paper.links.map((link) => link.scheme));
  const others = Object.entries(paper.identifiers).filter(([scheme]) => !linked.has(scheme));
  if (!paper.links.length && !others.length && !paper.has_original) return null;
  const path = { shelf, paper_id: paper.paper_id };
  return (
    <section>
      <h2 class="section-title">{texts.links}</h2>
      {paper.has_original && (
        <p>
          <FileLink
            address={formatAddress("/api/shelves/{shelf}/papers/{paper_id}/original", { path })}
            name={`${(paper.citation_key ?? "").replace(/[^\p{L}\p{N}._-]+/gu, "-") || "paper"}.pdf`}
          >
            {texts.savePdf}
          </FileLink>
        </p>
      )}
      <dl class="identifiers">
        {paper.links.map((link) => {
          const href = checkLink(link.url);
          return (
            <div key={link.scheme}>
              <dt>{texts.identifiers[link.scheme] ?? link.label}</dt>
              <dd class="mono">
                {href ? (
                  <a href={href} target="_blank" rel="noopener noreferrer">
                    {link.text} <Icon name="external" />
                  </a>
                ) : (
                  link.text
                )}
              </dd>
            </div>
          );
        })}
        {others.map(([scheme, value]) => (
          <div key={scheme}>
            <dt>{texts.identifiers[scheme] ?? scheme}</dt>
            <dd class="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function ValueLinks(props: { shelf: string; title: string; name: "keyword" | "tag"; values: readonly string[] }) {
  if (!props.values.length) return null;
  const address = formatPath("/library/{shelf}", { shelf: props.shelf });
  return (
    <section>
      <h2 class="section-title">{props.title}</h2>
      <ul class="value-links">
        {props.values.map((value) => (
          <li key={value}>
            <a class="tag" href={`${address}?${new URLSearchParams({ [props.name]: value })}`} dir="auto">
              {value}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The universes whose bodies take values from the paper, and the workflows that mention it. */
function Uses({ shelf, paper }: { shelf: string; paper: PaperMetadata }) {
  const uses = useResource(
    `uses ${shelf} ${paper.paper_id}`,
    (signal) =>
      api.get("/api/shelves/{shelf}/papers/{paper_id}/uses", { path: { shelf, paper_id: paper.paper_id }, signal }),
    (change) => change.kind === "universe" || change.kind === "workflow",
  );
  return (
    <section>
      <h2 class="section-title">{texts.used}</h2>
      <Loaded resource={uses}>
        {(found) => (
          <>
            {found.bodies.length + found.workflows.length === 0 && <p class="quiet small">{texts.notUsed}</p>}
            <ul class="similar">
              {groupByUniverse(found.bodies).map(([id, bodies]) => (
                <li key={id}>
                  <PlaceLink href={formatPath("/universes/{id}", { id })} name={bodies[0]?.universe ?? id} />
                  <ul class="small quiet">
                    {groupByFields(bodies).map(([fields, names]) => (
                      <li key={fields} dir="auto">
                        {texts.usedIn(names.slice(0, SHOWN_BODIES).join(", "), fields)}
                        {names.length > SHOWN_BODIES && ` ${texts.usedMore(names.length - SHOWN_BODIES)}`}
                      </li>
                    ))}
                  </ul>
                </li>
              ))}
              {found.workflows.map((use) => (
                <li key={`${use.source} ${use.name}`}>
                  <PlaceLink href={formatPath("/workflows/{name}", { name: use.name })} name={use.name} />
                  <p class="small quiet" dir="auto">
                    {texts.usedNodes(texts.usedWorkflow[use.source], use.nodes.join(", "))}
                  </p>
                </li>
              ))}
            </ul>
            {!found.is_complete && <p class="quiet small">{texts.usedIncomplete}</p>}
          </>
        )}
      </Loaded>
    </section>
  );
}

function PlaceLink({ href, name }: { href: string; name: string }) {
  return (
    <a href={href} dir="auto">
      {name}
    </a>
  );
}

function Similar({ shelf, paper }: { shelf: string; paper: PaperMetadata }) {
  const similar = useResource(
    `similar ${shelf} ${paper.paper_id}`,
    (signal) =>
      api.get("/api/shelves/{shelf}/papers/{paper_id}/similar", {
        path: { shelf, paper_id: paper.paper_id },
        query: { limit: SIMILAR },
        signal,
      }),
    (change) => change.kind === "shelf",
  );
  return (
    <section>
      <h2 class="section-title">{texts.similar}</h2>
      <Loaded resource={similar}>
        {(page) =>
          page.results.length ? (
            <ul class="similar">
              {page.results.map((hit) => (
                <li key={hit.paper_id}>
                  <a class="foreign" href={makePaperAddress(shelf, hit.paper_id)} dir="auto">
                    {hit.title}
                  </a>
                  <p class="quiet small" dir="auto">
                    {describeHit(hit)}
                  </p>
                </li>
              ))}
            </ul>
          ) : (
            <p class="quiet small">{texts.noSimilar}</p>
          )
        }
      </Loaded>
    </section>
  );
}
