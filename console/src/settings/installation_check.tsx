import { useState } from "preact/hooks";
import { Button, Dot, type Tone } from "../common/controls.tsx";
import { Card, Table } from "../common/layout.tsx";
import { ErrorNote, markCode } from "../common/states.tsx";
import { useSubmission } from "../common/submit_form.tsx";
import { api } from "../data/api.ts";
import type { CheckFacts } from "../data/api_types.ts";
import { settingsTexts } from "./strings.ts";

const texts = settingsTexts.settings;
const TONES: Record<CheckFacts["status"], Tone | "hollow"> = {
  failure: "no",
  warning: "maybe",
  note: "hollow",
  ok: "yes",
};
const ORDER = Object.keys(TONES);

/** A button that runs the checks of `uraniborg doctor`, and what they found: problems first. */
export function InstallationCheck() {
  const [found, setFound] = useState<readonly CheckFacts[]>();
  const { busy, error, send } = useSubmission();
  const check = () => send("submit", async () => setFound((await api.get("/api/doctor")).checks ?? []));
  return (
    <Card title={texts.check}>
      <div class="card-body">
        <p class="quiet">{texts.checkLead}</p>
        {error && <ErrorNote error={error} />}
        <p role="status" class="status-slot">
          {found && <strong>{texts.checked(countProblems(found), found.length)}</strong>}
        </p>
        <Button isBusy={busy !== undefined} onClick={() => void check()}>
          {found ? texts.checkAgain : texts.check}
        </Button>
      </div>
      {found && <Findings checks={found} />}
    </Card>
  );
}

function countProblems(checks: readonly CheckFacts[]): number {
  return checks.filter((one) => one.status === "failure" || one.status === "warning").length;
}

function Findings({ checks }: { checks: readonly CheckFacts[] }) {
  const remarks = checks
    .filter((one) => one.status !== "ok")
    .toSorted((first, second) => ORDER.indexOf(first.status) - ORDER.indexOf(second.status));
  const fine = checks.filter((one) => one.status === "ok");
  return (
    <>
      {remarks.length > 0 && <CheckTable checks={remarks} />}
      {fine.length > 0 && (
        <details class="more card-body">
          <summary>{texts.fine(fine.length)}</summary>
          <CheckTable checks={fine} />
        </details>
      )}
    </>
  );
}

function CheckTable({ checks }: { checks: readonly CheckFacts[] }) {
  return (
    <Table
      label={texts.check}
      columns={[{ title: texts.result }, { title: texts.topic }, { title: texts.finding }]}
      rows={checks.map((one) => [
        <Dot tone={TONES[one.status]}>{texts.results[one.status]}</Dot>,
        <>
          {one.topic}: {one.name}
        </>,
        <div dir="auto">
          <p>{one.detail}</p>
          {one.hint && <p class="quiet small">{markCode(one.hint)}</p>}
        </div>,
      ])}
    />
  );
}
