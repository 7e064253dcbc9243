import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { Button, TextField } from "../../components/controls.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { PlainPage, Table } from "../../components/layout.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { SubmitForm, useSubmission } from "../../components/submit_form.tsx";
import { showError, showToast } from "../../components/toasts.tsx";
import { useResource } from "../../resource.ts";
import { formatPath } from "../../router.ts";
import { strings } from "../../strings.ts";

const texts = strings.workflows;

/** The workflows that the system runs at fixed times. */
export function ScheduleList() {
  const [toRemove, setToRemove] = useState<string>();
  const { busy, send } = useSubmission({}, showError);
  const schedules = useResource("schedules", (signal) => api.get("/api/schedules", { signal }));
  async function remove(name: string): Promise<void> {
    await send("submit", async () => {
      await api.delete("/api/schedules/{name}", { path: { name } });
      showToast(texts.scheduleRemoved(name));
    });
    setToRemove(undefined);
    schedules.reload();
  }
  return (
    <PlainPage title={texts.viewNames.schedules}>
      <Loaded resource={schedules}>
        {(reply) => (
          <>
            {reply.problem && <p class="note-box">{reply.problem}</p>}
            {reply.schedules.length ? (
              <section class="card">
                <Table
                  label={texts.viewNames.schedules}
                  columns={[
                    { title: texts.workflow },
                    { title: texts.when },
                    { title: texts.scheduler },
                    { title: "" },
                  ]}
                  rows={reply.schedules.map((one) => [
                    <a href={formatPath("/workflows/{name}", { name: one.name })} dir="auto">
                      {one.name}
                    </a>,
                    <code>{one.at}</code>,
                    one.as,
                    <Button
                      kind="quiet"
                      label={`${texts.removeSchedule}: ${one.name}`}
                      onClick={() => setToRemove(one.name)}
                    >
                      {texts.removeSchedule}
                    </Button>,
                  ])}
                />
              </section>
            ) : (
              <EmptyState title={texts.noSchedules} hint={texts.noSchedulesHint} />
            )}
          </>
        )}
      </Loaded>
      {toRemove !== undefined && (
        <ConfirmDialog
          title={texts.removeScheduleTitle}
          text={texts.removeScheduleText(toRemove)}
          action={texts.removeSchedule}
          isBusy={busy !== undefined}
          onConfirm={() => void remove(toRemove)}
          onClose={() => setToRemove(undefined)}
        />
      )}
    </PlainPage>
  );
}

/** Ask when a workflow runs. Its inputs are those of the form; secrets are never written into a schedule. */
export function ScheduleDialog(props: { name: string; onClose: () => void }) {
  const [at, setAt] = useState("mon 07:00");
  const [inputs, setInputs] = useState("{}");
  const parsed = parseObject(inputs);
  const submission = useSubmission({ inputs: parsed ? undefined : texts.wrongTypes.object });
  async function add(): Promise<void> {
    const body = { at, inputs: parsed ?? {} };
    const added = await api.put("/api/schedules/{name}", { path: { name: props.name }, body });
    showToast([texts.scheduled(props.name, added.at, added.as), ...added.notes].join(" "));
    props.onClose();
  }
  return (
    <Dialog title={texts.schedule} onClose={props.onClose}>
      <SubmitForm submission={submission} action={texts.schedule} onSubmit={add} onCancel={props.onClose}>
        <TextField
          label={texts.when}
          hint={texts.whenHint}
          value={at}
          onInput={setAt}
          isMono
          maxLength={200}
          autoFocus
        />
        <TextField
          label={texts.scheduleInputs}
          hint={texts.scheduleInputsHint}
          problem={submission.problems.inputs}
          value={inputs}
          onInput={setInputs}
          lines={4}
          isMono
        />
      </SubmitForm>
    </Dialog>
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
