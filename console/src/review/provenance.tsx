import { Tag } from "../common/controls.tsx";
import type { FieldOrigin, PaperDetails } from "../data/api_types.ts";
import { keyOf } from "./duplicate_dialogs.tsx";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;

type LabelSource = (source: string) => string;

/** Where each value of a paper comes from, and what the other records say. */
export function Provenance({
  paper,
  labelSource,
  onSplit,
}: {
  paper: PaperDetails;
  labelSource: LabelSource;
  /** Called with a record that is not this paper; undefined while no paper can be changed. */
  onSplit: ((record: string) => void) | undefined;
}) {
  const { records, fields } = paper.provenance;
  return (
    <details class="more provenance">
      <summary>{texts.provenance}</summary>
      {records.length < 2 && <p class="quiet small">{texts.onlyOne}</p>}
      <dl class="translations">
        {fields.map((field) => (
          <div key={field.field}>
            <dt>{texts.fieldNames[field.field] ?? field.field}</dt>
            <FieldValues field={field} labelSource={labelSource} />
          </div>
        ))}
      </dl>
      {records.length > 1 && (
        <>
          <h2 class="section-title">{texts.records}</h2>
          <dl class="translations">
            {records.map((record) => (
              <div key={`${record.source} ${record.record_id}`}>
                <dt>{labelSource(record.source)}</dt>
                <dd>
                  <code dir="auto">{record.record_id}</code> <span class="quiet small">{record.reason}</span>{" "}
                  {onSplit && (
                    <button class="link-button small" type="button" onClick={() => onSplit(keyOf(record))}>
                      {reviewTexts.duplicates.notSame}
                    </button>
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </details>
  );
}

function FieldValues({ field, labelSource }: { field: FieldOrigin; labelSource: LabelSource }) {
  return (
    <dd>
      <p>
        <span class="foreign" dir="auto">
          {field.value ?? texts.noValue}
        </span>{" "}
        {field.source && <Tag tone="accent">{labelSource(field.source)}</Tag>}
        {field.agreeing.map((source) => (
          <Tag key={source}>{texts.also(labelSource(source))}</Tag>
        ))}
      </p>
      {field.alternatives.map((other) => (
        <p key={`${other.source} ${other.record_id}`} class="quiet">
          <span class="foreign" dir="auto">
            {other.value}
          </span>{" "}
          <Tag>{labelSource(other.source)}</Tag>
        </p>
      ))}
    </dd>
  );
}
