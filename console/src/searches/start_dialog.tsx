import { useRef, useState } from "preact/hooks";
import { Checkbox, Select, TextField } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { ErrorNote, Loaded } from "../common/states.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { api } from "../data/api.ts";
import type { SearchOptions } from "../data/api_types.ts";
import { useDraft } from "../data/draft.ts";
import { useResource } from "../data/resource.ts";
import { navigate } from "../data/router.ts";
import { searchTexts } from "./strings.ts";

/** Ask for the question of a new search, and open its plan. */
export function StartDialog({ onClose }: { onClose: () => void }) {
  const [isTrial, setTrial] = useState<boolean>();
  const options = useResource(`search-options ${isTrial}`, (signal) =>
    api.get("/api/search-options", { query: { offline: isTrial ?? null }, signal }),
  );
  const last = useRef<SearchOptions>(undefined);
  if (options.value.value) last.current = options.value.value;
  return (
    <Dialog title={searchTexts.searches.start} onClose={onClose} kind="wide">
      {last.current ? (
        <>
          {options.error.value && <ErrorNote error={options.error.value} onRetry={options.reload} />}
          <StartForm
            options={last.current}
            isTrial={isTrial ?? last.current.offline}
            onTrial={setTrial}
            onClose={onClose}
          />
        </>
      ) : (
        <Loaded resource={options}>{() => null}</Loaded>
      )}
    </Dialog>
  );
}

interface FormProps {
  /** The options of searches, or of trials; those of the other kind until they are read after `isTrial` has changed. */
  options: SearchOptions;
  isTrial: boolean;
  onTrial: (isTrial: boolean) => void;
  onClose: () => void;
}

function StartForm({ options, isTrial, onTrial, onClose }: FormProps) {
  const question = useDraft("new-search");
  const [maxResults, setMaxResults] = useState(String(options.default_max_results));
  const [domain, setDomain] = useState(options.default_domain);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const submission = useSubmission();
  const usable = options.sources.filter((source) => source.used);
  const chosen = usable.filter((source) => !left.has(source.name)).map((source) => source.name);

  async function start(): Promise<void> {
    const body = {
      query: question.text.value,
      domain,
      max_results: Number(maxResults) || 0,
      offline: isTrial,
      ...(left.size ? { sources: chosen } : {}),
    };
    const state = await api.post("/api/searches", { body });
    question.clear();
    onClose();
    navigate(`/searches/${state.session_id}`);
  }

  return (
    <SubmitForm
      submission={submission}
      action={searchTexts.searches.startButton}
      onSubmit={start}
      isDisabled={!question.text.value.trim() || !chosen.length || options.offline !== isTrial}
      buttons={<span class="quiet small">{searchTexts.searches.startHint}</span>}
    >
      <TextField
        label={searchTexts.searches.question}
        hint={searchTexts.searches.questionHint}
        value={question.text.value}
        onInput={(value) => {
          question.text.value = value;
        }}
        placeholder={options.example}
        lines={3}
        maxLength={20_000}
        autoFocus
      />
      <details class="more">
        <summary>{searchTexts.searches.options}</summary>
        <div class="form">
          <div class="field-row">
            <TextField label={searchTexts.searches.maxResults} value={maxResults} onInput={setMaxResults} />
            <Select
              label={searchTexts.searches.domain}
              value={domain}
              choices={options.domains.map((name) => ({ value: name, label: name.replaceAll("_", " ") }))}
              onChange={setDomain}
            />
          </div>
          <Checkbox
            label={searchTexts.searches.trial}
            hint={searchTexts.searches.trialHint}
            isChecked={isTrial}
            onChange={onTrial}
          />
          <fieldset class="source-choices">
            <legend>{searchTexts.searches.sources}</legend>
            {usable.map((source) => (
              <Checkbox
                key={source.name}
                label={source.label}
                hint={source.remark}
                isChecked={!left.has(source.name)}
                onChange={(isOn) => setLeft(toggle(left, source.name, !isOn))}
              />
            ))}
            {options.sources
              .filter((source) => !source.used)
              .map((source) => (
                <p key={source.name} class="quiet small">
                  {source.label}: {source.remark}
                </p>
              ))}
            {!chosen.length && <p class="problem">{searchTexts.searches.allOff}</p>}
          </fieldset>
        </div>
      </details>
    </SubmitForm>
  );
}

/** Return the set with or without a value. */
export function toggle<T>(set: ReadonlySet<T>, value: T, isIn = !set.has(value)): ReadonlySet<T> {
  const next = new Set(set);
  if (isIn) next.add(value);
  else next.delete(value);
  return next;
}
