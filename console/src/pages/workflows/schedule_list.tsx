import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { type ApiError, toApiError } from "../../api_error.ts";
import { Button, TextField } from "../../components/controls.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { PlainPage, Table } from "../../components/layout.tsx";
import { EmptyState, ErrorNote, Loaded } from "../../components/states.tsx";
import { showError, showToast } from "../../components/toasts.tsx";
import { useResource } from "../../resource.ts";
import { formatPath } from "../../router.ts";
import { strings } from "../../strings.ts";

const texts = strings.workflows;

/** The workflows that the system runs at fixed times. */
export function ScheduleList() {
  const [toRemove, setToRemove] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const schedules = useResource("schedules", (signal) => api.get("/api/schedules", { signal }));
  async function remove(name: string): Promise<void> {
    setBusy(true);
    try {
      await api.delete("/api/schedules/{name}", { path: { name } });
      showToast(texts.scheduleRemoved(name));
    } catch (thrown) {
      showError(toApiError(thrown));
    }
    setBusy(false);
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
          isBusy={isBusy}
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
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const parsed = parseObject(inputs);
  async function add(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy || !parsed) return;
    setBusy(true);
    try {
      const added = await api.put("/api/schedules/{name}", {
        path: { name: props.name },
        body: { at, inputs: parsed },
      });
      showToast([texts.scheduled(props.name, added.at, added.as), ...added.notes].join(" "));
      props.onClose();
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  }
  return (
    <Dialog title={texts.schedule} onClose={props.onClose}>
      <form class="form" onSubmit={(event) => void add(event)}>
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
          problem={parsed ? undefined : (texts.wrongTypes.object ?? "")}
          value={inputs}
          onInput={setInputs}
          lines={4}
          isMono
        />
        {error && <ErrorNote error={error} />}
        <footer class="form-footer">
          <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={!parsed}>
            {texts.schedule}
          </Button>
          <Button onClick={props.onClose}>{strings.actions.cancel}</Button>
        </footer>
      </form>
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
