import { fireEvent, render, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { commonTexts } from "../src/common/strings.ts";
import type { PaperMetadata, WorkflowDescription } from "../src/data/api_types.ts";
import { connection } from "../src/data/live.ts";
import type { Change } from "../src/data/server_events.ts";
import { PaperNote } from "../src/library/paper_note.tsx";
import { libraryTexts } from "../src/library/strings.ts";
import { RunForm } from "../src/workflows/run_form.tsx";
import { workflowTexts } from "../src/workflows/strings.ts";
import { WorkflowEditorPage } from "../src/workflows/workflow_editor_page.tsx";

const listeners = vi.hoisted(() => new Set<(change: Change) => void>());
vi.mock("../src/data/live.ts", async (load) => ({
  ...(await load<typeof import("../src/data/live.ts")>()),
  listenForChanges(listener: (change: Change) => void) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
}));

/** The text of the workflow on the server, and the revisions with which it was saved. */
let stored = { title: "first", revision: "r1" };
let sent: { title: string; revision: string }[] = [];
let finishSave: (() => void) | undefined;

async function answer(address: string, init: RequestInit): Promise<Response> {
  if (address.endsWith("/check")) return Response.json({ diagnostics: [] });
  if (address.includes("/api/components")) return Response.json({ nodes: [], total: 0, truncated: false });
  if (init.method === "PUT") {
    const body = JSON.parse(String(init.body)) as { document: { title: string }; revision: string };
    sent.push({ title: body.document.title, revision: body.revision });
    if (body.revision !== stored.revision) {
      const error = { code: "workflow_changed", message: "Somebody has changed the workflow." };
      return Response.json({ error }, { status: 409 });
    }
    await new Promise<void>((resolve) => {
      finishSave = resolve;
    });
    stored = { title: body.document.title, revision: `r${sent.length + 1}` };
    return Response.json({ name: "flow", diagnostics: [], revision: stored.revision });
  }
  const document = { title: stored.title };
  return Response.json({ name: "flow", source: "library", document, revision: stored.revision });
}

beforeEach(() => {
  sessionStorage.clear();
  stored = { title: "first", revision: "r1" };
  sent = [];
  finishSave = undefined;
  vi.stubGlobal("fetch", answer);
});
afterEach(() => vi.unstubAllGlobals());

async function openEditor() {
  const page = render(<WorkflowEditorPage params={{ name: "flow" }} />);
  const area = (await page.findByLabelText(workflowTexts.text)) as HTMLTextAreaElement;
  return {
    page,
    area,
    type: (title: string) => fireEvent.input(area, { target: { value: JSON.stringify({ title }) } }),
    async save() {
      const button = page.getByText(workflowTexts.save).closest("button") as HTMLButtonElement;
      await waitFor(() => expect(button.disabled).toBe(false));
      fireEvent.click(button);
    },
  };
}

test("a text that somebody else writes is shown, unless the person has typed", async () => {
  const { page, area, type } = await openEditor();
  const announce = () => {
    for (const listener of listeners) listener({ kind: "workflow", subject: "flow", source: "library", at: "" });
  };
  stored = { title: "theirs", revision: "r2" };
  await waitFor(() => {
    announce();
    expect(area.value).toContain("theirs");
  });
  type("mine");
  stored = { title: "again", revision: "r3" };
  await waitFor(() => {
    announce();
    expect(page.queryByText(workflowTexts.fileEvents.changed)).toBeTruthy();
  });
  expect(area.value).toContain("mine");
});

test("a restored text does not overwrite a change that somebody made in between", async () => {
  const first = await openEditor();
  first.type("mine");
  first.page.unmount();
  stored = { title: "theirs", revision: "r2" };
  const second = await openEditor();
  expect(second.area.value).toContain("mine");
  await second.save();
  await second.page.findByText(workflowTexts.readAgain);
  expect(sent).toEqual([{ title: "mine", revision: "r1" }]);
  expect(stored.title).toBe("theirs");
  fireEvent.click(second.page.getByText(workflowTexts.discard));
  await waitFor(() => expect(second.area.value).toContain("theirs"));
  second.type("both");
  await second.save();
  await waitFor(() => expect(sent[1]).toEqual({ title: "both", revision: "r2" }));
});

test("a text that the text of somebody else replaces can be shown again, after a reload too, until it is saved", async () => {
  const first = await openEditor();
  first.type("mine");
  stored = { title: "theirs", revision: "r2" };
  await first.save();
  fireEvent.click(await first.page.findByText(workflowTexts.readAgain));
  await waitFor(() => expect(first.area.value).toContain("theirs"));
  first.page.unmount();
  const second = await openEditor();
  expect(second.area.value).toContain("theirs");
  fireEvent.click(await second.page.findByText(workflowTexts.showReplaced));
  await waitFor(() => expect(second.area.value).toContain("mine"));
  expect(second.page.queryByText(workflowTexts.showReplaced)).toBeNull();
  await second.save();
  await waitFor(() => expect(sent[1]).toEqual({ title: "mine", revision: "r2" }));
});

test("a check that the server did not answer is repeated when the server is back", async () => {
  let isAway = true;
  vi.stubGlobal("fetch", (address: string, init: RequestInit) =>
    isAway && address.endsWith("/check") ? Promise.reject(new TypeError("away")) : answer(address, init),
  );
  connection.value = "reconnecting";
  const { page } = await openEditor();
  expect(page.queryByText(workflowTexts.checking)).toBeTruthy();
  isAway = false;
  connection.value = "live";
  await page.findByText(workflowTexts.noFindings);
});

test("a text that is typed during a save stays unsaved, and is saved by the next save", async () => {
  const editor = await openEditor();
  editor.type("second");
  await editor.save();
  await waitFor(() => expect(finishSave).toBeDefined());
  editor.type("third");
  finishSave?.();
  await waitFor(() => expect(stored.title).toBe("second"));
  await editor.save();
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]).toEqual({ title: "third", revision: "r2" });
  editor.page.unmount();
  expect((await openEditor()).area.value).toContain("third");
});

test("typed inputs are there again after the form was left, and secrets are never stored", () => {
  const inputs = { topic: { type: "string", required: true }, key: { type: "string", required: true, secret: true } };
  const workflow = { name: "flow", inputs, template_variables: [] } as unknown as WorkflowDescription;
  const find = (form: ReturnType<typeof render>, name: string) => form.getByLabelText(name) as HTMLInputElement;
  const first = render(<RunForm workflow={workflow} draftKey="run flow" />);
  fireEvent.input(find(first, "key"), { target: { value: "sk-secret" } });
  fireEvent.input(find(first, "topic"), { target: { value: "moons" } });
  expect([find(first, "topic").value, find(first, "key").value]).toEqual(["moons", "sk-secret"]);
  expect(JSON.stringify({ ...sessionStorage })).not.toContain("sk-secret");
  first.unmount();
  const second = render(<RunForm workflow={workflow} draftKey="run flow" />);
  expect([find(second, "topic").value, find(second, "key").value]).toEqual(["moons", ""]);
});

describe("the note on a paper", () => {
  interface Note {
    text: string;
    collections: string[];
    revision: string;
  }
  let note: Note;
  let attempts: Note[];

  beforeEach(() => {
    note = { text: "first", collections: ["moons"], revision: "r1" };
    attempts = [];
    vi.stubGlobal("fetch", async (_address: string, init: RequestInit) => {
      if (init.method === "PUT") {
        const body = JSON.parse(String(init.body)) as Note;
        attempts.push(body);
        if (body.revision !== note.revision) {
          return Response.json({ error: { code: "note_changed", message: "Tycho has changed it." } }, { status: 409 });
        }
        note = { ...body, revision: "r9" };
      }
      return Response.json({ ...note, paper_id: "p", by: "Tycho", at: "" });
    });
  });

  async function openNote() {
    const page = render(<PaperNote shelf="s" paper={{ paper_id: "p" } as PaperMetadata} />);
    fireEvent.click(await page.findByText(libraryTexts.paper.changeNote));
    const find = (label: string) => page.getByLabelText(label) as HTMLInputElement;
    const type = (label: string, value: string) => fireEvent.input(find(label), { target: { value } });
    return { page, find, type };
  }

  test("does not overwrite the words that somebody saved while this person was on another page", async () => {
    const first = await openNote();
    first.type(libraryTexts.paper.noteLabel, "mine");
    first.type(libraryTexts.paper.collections, "moons, rings");
    first.page.unmount();
    note = { text: "theirs", collections: ["moons"], revision: "r2" };
    const { page, find } = await openNote();
    expect(find(libraryTexts.paper.noteLabel).value).toBe("mine");
    expect(find(libraryTexts.paper.collections).value).toBe("moons, rings");
    page.getByText("theirs");
    fireEvent.click(page.getByText(commonTexts.actions.save));
    await page.findByText("Tycho has changed it.");
    expect(note.text).toBe("theirs");
    fireEvent.click(page.getByText(libraryTexts.paper.replaceNote));
    await waitFor(() => expect(page.queryByText("theirs")).toBeNull());
    expect(page.queryByText("Tycho has changed it.")).toBeNull();
    fireEvent.click(page.getByText(commonTexts.actions.save));
    await page.findByText(libraryTexts.paper.changeNote);
    expect(attempts).toEqual([
      { text: "mine", collections: ["moons", " rings"], revision: "r1" },
      { text: "mine", collections: ["moons", " rings"], revision: "r2" },
    ]);
  });

  test("forgets what was typed when the person cancels", async () => {
    const first = await openNote();
    first.type(libraryTexts.paper.noteLabel, "mine");
    first.type(libraryTexts.paper.collections, "rings");
    fireEvent.click(first.page.getByText(commonTexts.actions.cancel));
    first.page.unmount();
    const { find } = await openNote();
    expect(find(libraryTexts.paper.noteLabel).value).toBe("first");
    expect(find(libraryTexts.paper.collections).value).toBe("moons");
  });
});
