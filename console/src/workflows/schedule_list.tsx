import { useState } from "preact/hooks";
import { describeActor } from "../common/actor_words.ts";
import { Button, ButtonLink, Select, TextField } from "../common/controls.tsx";
import { ConfirmDialog, Dialog } from "../common/dialog.tsx";
import { PlainPage, Table } from "../common/layout.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import { ApiError, toApiError } from "../data/api_error.ts";
import type { WorkflowDescription } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { formatPath } from "../data/router.ts";
import { listFields, readInputs } from "./input_values.ts";
import { InputControl } from "./run_form.tsx";
import { workflowTexts as texts } from "./strings.ts";

/** The workflows that the system runs at fixed times. */
export function ScheduleList() {
  const [toRemove, setToRemove] = useState<string>();
  const schedules = useResource("schedules", (signal) => api.get("/api/schedules", { signal }));
  async function remove(name: string): Promise<void> {
    await api.delete("/api/schedules/{name}", { path: { name } });
    showToast(texts.scheduleRemoved(name));
  }
  return (
    <PlainPage title={commonTexts.pages.schedules}>
      <Loaded resource={schedules}>
        {(reply) => (
          <>
            {reply.problem && <p class="note-box">{reply.problem}</p>}
            {reply.schedules.length ? (
              <section class="card">
                <Table
                  label={commonTexts.pages.schedules}
                  columns={[
                    { title: texts.workflow },
                    { title: texts.when },
                    { title: texts.scheduler },
                    { title: commonTexts.actors.addedBy },
                    { title: texts.removeSchedule, isTitleHidden: true },
                  ]}
                  rows={reply.schedules.map((one) => [
                    <a href={formatPath("/workflows/{name}", { name: one.name })} dir="auto">
                      {one.name}
                    </a>,
                    <code>{one.at}</code>,
                    one.as,
                    <span dir="auto">{describeActor(one.actor)}</span>,
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
              <EmptyState title={texts.noSchedules} hint={texts.noSchedulesHint} command={texts.noSchedulesCommand}>
                <ButtonLink href="/workflows">{texts.chooseWorkflow}</ButtonLink>
              </EmptyState>
            )}
          </>
        )}
      </Loaded>
      {toRemove !== undefined && (
        <ConfirmDialog
          title={texts.removeScheduleTitle}
          text={texts.removeScheduleText(toRemove)}
          action={texts.removeSchedule}
          onConfirm={() => remove(toRemove)}
          onClose={() => {
            setToRemove(undefined);
            schedules.reload();
          }}
        />
      )}
    </PlainPage>
  );
}

type Scheduler = "" | "systemd" | "cron" | "launchd";
const SCHEDULERS: readonly Scheduler[] = ["", "systemd", "cron", "launchd"];

/** Ask when a workflow runs, and for its inputs; secrets are never written into a schedule. */
export function ScheduleDialog({ workflow, onClose }: { workflow: WorkflowDescription; onClose: () => void }) {
  const [at, setAt] = useState("mon 07:00");
  const [scheduler, setScheduler] = useState<Scheduler>("");
  const [given, setGiven] = useState<Record<string, string>>({});
  const all = listFields(workflow.inputs, workflow.template_variables);
  const fields = all.filter((field) => !field.isSecret);
  const { values, problems } = readInputs(fields, given);
  const submission = useSubmission(problems);
  async function add(): Promise<void> {
    const body = { at, inputs: values, scheduler: scheduler || null };
    const path = { name: workflow.name };
    const added = await api.put("/api/schedules/{name}", { path, body }).catch((thrown) => {
      const { message, hint, code, status } = toApiError(thrown);
      // The hint of the server names options of the command line
      throw new ApiError(message, code === "scheduler_unavailable" ? texts.otherScheduler : hint, code, status);
    });
    showToast([texts.scheduled(workflow.name, added.at, added.as), ...added.notes].join(" "));
    onClose();
  }
  return (
    <Dialog title={texts.schedule} onClose={onClose}>
      <SubmitForm submission={submission} action={texts.schedule} onSubmit={add} onCancel={onClose}>
        <TextField
          label={texts.when}
          hint={texts.whenHint}
          value={at}
          onInput={setAt}
          isMono
          maxLength={200}
          autoFocus
        />
        {fields.map((field) => (
          <InputControl
            key={field.name}
            field={field}
            text={given[field.name] ?? ""}
            problem={submission.problems[field.name]}
            onInput={(text) => setGiven({ ...given, [field.name]: text })}
          />
        ))}
        {fields.length < all.length && <p class="quiet small">{texts.scheduleSecrets}</p>}
        <Select
          label={texts.scheduler}
          value={scheduler}
          choices={SCHEDULERS.map((value) => ({ value, label: value || texts.systemScheduler }))}
          onChange={setScheduler}
        />
      </SubmitForm>
    </Dialog>
  );
}
