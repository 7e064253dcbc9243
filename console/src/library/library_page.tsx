import { describeActor } from "../common/actor_words.ts";
import { ButtonLink, CopyLine, Tag } from "../common/controls.tsx";
import { PlainPage } from "../common/layout.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { Age } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { ShelfSummary } from "../data/api_types.ts";
import { makeListKeys, useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { formatPath } from "../data/router.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.library;

/** All shelves with their numbers. */
export function LibraryPage() {
  const shelves = useResource(
    "shelves",
    (signal) => api.get("/api/shelves", { signal }),
    (change) => change.kind === "shelf",
  );
  useKeys(commonTexts.pages.library, makeListKeys(".search-item-title a"));
  return (
    <PlainPage title={commonTexts.pages.library}>
      <Loaded resource={shelves}>
        {(reply) =>
          reply.shelves.length ? (
            <>
              <p class="quiet">{texts.lead}</p>
              <ul class="sheet-list" aria-label={texts.shelves}>
                {reply.shelves.map((shelf) => (
                  <ShelfItem key={shelf.name} shelf={shelf} />
                ))}
              </ul>
              <div class="build-hint">
                <p class="quiet small">{texts.buildLabel}</p>
                <CopyLine text={reply.build_command} label={texts.buildLabel} />
              </div>
            </>
          ) : (
            <EmptyState title={texts.none} hint={texts.noneHint}>
              <CopyLine text={reply.build_command} label={texts.buildLabel} />
              <ButtonLink href="/searches" kind="primary">
                {commonTexts.pages.searches}
              </ButtonLink>
            </EmptyState>
          )
        }
      </Loaded>
    </PlainPage>
  );
}

function ShelfItem({ shelf }: { shelf: ShelfSummary }) {
  const isUsable = shelf.problem === null;
  return (
    <li class="shelf-item">
      <div class="search-item-top">
        <h2 class="search-item-title">
          {isUsable ? (
            <a href={formatPath("/library/{shelf}", { shelf: shelf.name })} dir="auto">
              {shelf.name}
            </a>
          ) : (
            <span dir="auto">{shelf.name}</span>
          )}
        </h2>
        <span class="tags">
          {!isUsable && <Tag tone="no">{texts.broken}</Tag>}
          {shelf.is_served && <Tag tone="accent">{texts.served}</Tag>}
          {shelf.is_sample && <Tag>{texts.sample}</Tag>}
        </span>
      </div>
      {isUsable ? (
        <ShelfNumbers shelf={shelf} />
      ) : (
        <p class="problem small">{`${shelf.problem} ${shelf.hint ?? ""}`}</p>
      )}
      <p class="quiet small mono shelf-path">{shelf.path}</p>
    </li>
  );
}

function ShelfNumbers({ shelf }: { shelf: ShelfSummary }) {
  const resource = useResource(`shelf ${shelf.name} ${shelf.build_id}`, (signal) =>
    api.get("/api/shelves/{shelf}", { path: { shelf: shelf.name }, signal }),
  );
  const details = resource.value.value;
  const facts = [texts.papers(shelf.papers)];
  if (details) {
    const { first, last } = details.years;
    if (first !== null && last !== null) facts.push(texts.years(first, last));
    if (details.with_source) facts.push(texts.texts(details.with_source));
    const templates = Object.keys(details.summaries);
    if (templates.length) facts.push(texts.summaries(templates.join(", ")));
    const languages = Object.keys(details.translations);
    if (languages.length) facts.push(texts.translations(languages.join(", ")));
  }
  return (
    <p class="shelf-facts" aria-busy={details || resource.error.value ? undefined : "true"}>
      <span>{facts.join(" · ")}</span>
      {shelf.built_at && (
        <span class="quiet small" title={commonTexts.actors.by(describeActor(shelf.built_by))}>
          {texts.built} <Age at={shelf.built_at} /> {texts.ago}
        </span>
      )}
    </p>
  );
}
