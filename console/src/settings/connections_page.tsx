import { useState } from "preact/hooks";
import { Button, CopyLine, Dot } from "../common/controls.tsx";
import { Card, PlainPage, Table } from "../common/layout.tsx";
import { EmptyState, Loaded, markCode } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { ConnectionList, PaperSource, SourceReportReply } from "../data/api_types.ts";
import { useReloadOnReturn, useResource } from "../data/resource.ts";
import { SourceAnswer } from "../searches/search_tags.tsx";
import { settingsTexts } from "./strings.ts";

const texts = settingsTexts.connections;

/** Addresses, agents with lines to copy, sources with their keys, and the last calls. */
export function ConnectionsPage() {
  const connections = useResource(
    "connections",
    (signal) => api.get("/api/connections", { signal }),
    (change) => change.kind === "installation",
  );
  useReloadOnReturn(connections);
  return (
    <PlainPage title={commonTexts.pages.connections}>
      <Loaded resource={connections}>
        {(value) => (
          <>
            <Addresses value={value} />
            <Clients value={value} />
            <Sources value={value} />
            <Calls />
          </>
        )}
      </Loaded>
    </PlainPage>
  );
}

function Addresses({ value }: { value: ConnectionList }) {
  const served = value.parts.flatMap((part) => (part.command ? [{ name: part.name, command: part.command }] : []));
  const names = new Set(value.parts.map((part) => part.name));
  const started = value.servers
    .filter((server) => server.transport === "stdio" && !names.has(server.name))
    .map(({ name, line }) => ({ name, command: line }));
  const lines = [...served, ...started];
  return (
    <Card title={texts.addresses}>
      <Table
        label={texts.addresses}
        columns={[{ title: texts.name }, { title: texts.purpose }, { title: texts.address }, { title: texts.state }]}
        rows={value.parts.map((part) => [
          part.name,
          <span dir="auto">{part.purpose}</span>,
          <code>{part.mcp ?? part.url}</code>,
          part.running ? (
            <Dot tone="yes">{texts.running}</Dot>
          ) : (
            <Dot tone="no">
              {texts.stopped}: {part.problem} {markCode(part.hint ?? "")}
            </Dot>
          ),
        ])}
      />
      {lines.length > 0 && (
        <div class="card-body">
          <h3>{texts.overHttp}</h3>
          {lines.map((line) => (
            <CopyLine key={line.name} text={line.command} label={line.name} />
          ))}
        </div>
      )}
    </Card>
  );
}

function Clients({ value }: { value: ConnectionList }) {
  return (
    <Card title={texts.clients}>
      <div class="card-body">
        <p class="quiet">{value.problem ?? texts.clientsLead}</p>
      </div>
      {value.clients.length > 0 && (
        <Table
          label={texts.clients}
          columns={[{ title: texts.client }, { title: texts.state }, { title: texts.command }]}
          rows={value.clients.map((client) => [
            client.title,
            client.connected.length ? (
              <Dot tone="yes">{texts.connected(client.connected)}</Dot>
            ) : (
              <Dot tone="hollow">{client.problem ?? (client.installed ? texts.connected([]) : texts.notInstalled)}</Dot>
            ),
            <CopyLine text={client.command} label={client.title} />,
          ])}
        />
      )}
    </Card>
  );
}

function describeKey(source: PaperSource, isOffline: boolean): string {
  if (isOffline) return texts.keyNotNeededOffline;
  if (source.has_key) return texts.keyPresent;
  if (source.needs_key) return texts.keyMissing(source.key_variable);
  return source.key_variable ? texts.keyOptional(source.key_variable) : texts.keyNotNeeded;
}

/** Whether a source answers searches now. */
function Readiness({ source, isOffline }: { source: PaperSource; isOffline: boolean }) {
  if (!source.enabled) return <Dot tone="hollow">{texts.disabled}</Dot>;
  const isLocked = source.needs_key && !source.has_key && !isOffline;
  return <Dot tone={isLocked ? "hollow" : "yes"}>{isLocked ? texts.locked : texts.enabled}</Dot>;
}

function Sources({ value }: { value: ConnectionList }) {
  return (
    <Card title={texts.sources}>
      {value.offline && (
        <div class="card-body">
          <p class="quiet">{texts.offline}</p>
        </div>
      )}
      <Table
        label={texts.sources}
        columns={[{ title: texts.source }, { title: texts.state }, { title: texts.key }, { title: texts.answer }]}
        rows={value.sources.map((source) => [
          <span class="whole-words">{source.label}</span>,
          <Readiness source={source} isOffline={value.offline} />,
          <span class="quiet">{describeKey(source, value.offline)}</span>,
          <SourceTest key={source.name} source={source} />,
        ])}
      />
    </Card>
  );
}

/** A button that sends one short query to a source, and how the source answered. */
function SourceTest({ source }: { source: PaperSource }) {
  const [report, setReport] = useState<SourceReportReply>();
  const { busy, error, send } = useSubmission();
  const test = () =>
    send("submit", async () => {
      setReport(undefined);
      setReport(await api.post("/api/search-sources/{name}/check", { path: { name: source.name } }));
    });
  return (
    <div class="source-test">
      <div class="source-answer">
        <div role="status">{report && <SourceAnswer source={report} facts={listFacts(report)} />}</div>
        {error && (
          <span role="alert">
            <Dot tone="no">
              {error.message} {markCode(error.hint)}
            </Dot>
          </span>
        )}
      </div>
      <Button label={texts.testSource(source.label)} isBusy={busy !== undefined} onClick={() => void test()}>
        {texts.test}
      </Button>
    </div>
  );
}

function listFacts({ returned = 0, seconds = 0 }: SourceReportReply): string[] {
  return [...(returned ? [texts.papers(returned)] : []), ...(seconds ? [texts.milliseconds(seconds * 1_000)] : [])];
}

function Calls() {
  const calls = useResource(
    "calls",
    (signal) => api.get("/api/calls", { query: { limit: 50 }, signal }),
    (change) => change.kind === "call",
  );
  return (
    <Card title={texts.calls}>
      <Loaded resource={calls}>
        {(value) =>
          value.calls.length ? (
            <Table
              label={texts.calls}
              columns={[
                { title: texts.tool },
                { title: texts.server },
                { title: texts.client },
                { title: texts.when },
                { title: texts.duration, isNumber: true },
                { title: texts.size, isNumber: true },
                { title: texts.state },
              ]}
              rows={value.calls.map((call) => [
                <code dir="auto">{call.tool}</code>,
                call.server,
                <span dir="auto">{call.client ?? texts.unknownClient}</span>,
                <When at={call.at} />,
                texts.milliseconds(call.duration_ms),
                texts.bytes(call.reply_bytes),
                <Dot tone={call.error ? "no" : "yes"}>{call.error ? <code>{call.error}</code> : texts.ok}</Dot>,
              ])}
            />
          ) : (
            <EmptyState title={texts.noCalls} hint={texts.noCallsHint} />
          )
        }
      </Loaded>
    </Card>
  );
}
