import { act, fireEvent, render, waitFor } from "@testing-library/preact";
import { useState } from "preact/hooks";
import { expect, test, vi } from "vitest";
import { Button, CopyLine, TextField } from "../src/common/controls.tsx";
import { ConfirmDialog, Dialog } from "../src/common/dialog.tsx";
import { checkLink, ForeignText, splitAtTerms } from "../src/common/foreign_text.tsx";
import { ErrorNote } from "../src/common/states.tsx";
import { commonTexts } from "../src/common/strings.ts";
import { type Problems, SubmitForm, useSubmission } from "../src/common/submit_form.tsx";
import { showError, Toasts } from "../src/common/toasts.tsx";
import { findVisible, VirtualList } from "../src/common/virtual_list.tsx";
import { ApiError, makeOfflineError } from "../src/data/api_error.ts";
import { readDraftRevision, useDraft } from "../src/data/draft.ts";
import { connection } from "../src/data/live.ts";
import { formatAge, formatWhen } from "../src/data/times.ts";
import { ErrorBoundary } from "../src/frame/error_boundary.tsx";
import { filterEntries } from "../src/frame/palette.tsx";
import { type Question, QuestionContents } from "../src/inbox/question_view.tsx";
import { inboxTexts } from "../src/inbox/strings.ts";
import { libraryTexts } from "../src/library/strings.ts";
import { checkWorkerAddress, WORKER_ADDRESS } from "../src/trusted_types.ts";

test("text that looks like HTML stays text", () => {
  const { container } = render(<ForeignText text={"<img src=x onerror=alert(1)> & so on"} terms={["so"]} />);
  expect(container.querySelector("img")).toBeNull();
  expect(container.textContent).toBe("<img src=x onerror=alert(1)> & so on");
  expect(container.querySelector("mark")?.textContent).toBe("so");
});

test("only web addresses become links", () => {
  const links = ["http://a.b", "https://a.b"];
  const others = ["javascript:1", "java\tscript:1", " JavaScript:1", "data:text/html,x", "vbscript:1", "blob:null/1"];
  expect([...links, ...others, "file:///etc/passwd", "ftp://a.b", "//a", ""].map(checkLink)).toEqual([
    ...links,
    ...Array.from({ length: others.length + 4 }, () => undefined),
  ]);
});

test("a foreign word finds no text that every object has", () => {
  const tables: Readonly<Record<string, string>>[] = [libraryTexts.paper.notices, inboxTexts.actions];
  for (const word of ["__proto__", "constructor", "toString"]) {
    expect(tables.map((table) => table[word])).toEqual([undefined, undefined]);
  }
});

test("terms are marked as whole words in any case, and their characters mean themselves", () => {
  expect(splitAtTerms("Moons and moonshine, C++ and (moon)", ["moon", "c++"])).toEqual([
    "Moons and moonshine, ",
    "C++",
    " and (",
    "moon",
    ")",
  ]);
});

test("a text of ten megabytes is shown in part until all of it is asked for", () => {
  const { container, getByText } = render(<ForeignText text={"word ".repeat(2_000_000)} />);
  expect(container.textContent?.length).toBeLessThan(30_000);
  expect(getByText(/Show all 10,000,000 characters/)).toBeTruthy();
});

test("a list of ten thousand rows draws only those in view", () => {
  const items = Array.from({ length: 10_000 }, (_, index) => `row ${index}`);
  const { container } = render(
    <VirtualList items={items} heightOf={() => 100} keyOf={(item) => item} label="rows" render={(item) => item} />,
  );
  const rows = container.querySelectorAll("li");
  expect(rows.length).toBeLessThan(30);
  expect(rows[0]?.getAttribute("aria-setsize")).toBe("10000");
  const ends = Float64Array.from(items, (_, index) => (index + 1) * 100);
  expect(findVisible(ends, 250, 450)).toEqual([2, 5]);
  expect(findVisible(ends, -400, 0)).toEqual([0, 1]);
  expect(findVisible(new Float64Array(0), 0, 100)).toEqual([0, 0]);
});

test("the palette finds entries by words in any order", () => {
  const entries = ["Go to Inbox", "Start a search", "Inbox: approve"].map((label) => ({ label, run: () => undefined }));
  expect(filterEntries(entries, "inbox").map((one) => one.label)).toEqual(["Inbox: approve", "Go to Inbox"]);
  expect(filterEntries(entries, "search start").map((one) => one.label)).toEqual(["Start a search"]);
});

function Draft() {
  const { text, clear } = useDraft("note");
  return (
    <div>
      <input
        aria-label="note"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      <button type="button" onClick={clear}>
        clear
      </button>
    </div>
  );
}

test("what was typed is there again after the page was left, until it is cleared", () => {
  const first = render(<Draft />);
  fireEvent.input(first.getByLabelText("note"), { target: { value: "too broad" } });
  first.unmount();
  const second = render(<Draft />);
  expect((second.getByLabelText("note") as HTMLInputElement).value).toBe("too broad");
  fireEvent.click(second.getByText("clear"));
  second.unmount();
  expect((render(<Draft />).getByLabelText("note") as HTMLInputElement).value).toBe("");
});

function RevisedDraft({ initial, revision }: { initial: string; revision: string }) {
  const { text } = useDraft("revised", initial, revision);
  return (
    <input
      aria-label="revised"
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value;
      }}
    />
  );
}

test("a stored text keeps the revision that it is a change of, until it is the initial text again", () => {
  expect(readDraftRevision("revised")).toBeUndefined();
  const first = render(<RevisedDraft initial="old" revision="r1" />);
  expect(readDraftRevision("revised")).toBeUndefined();
  fireEvent.input(first.getByLabelText("revised"), { target: { value: "mine" } });
  first.unmount();
  expect(readDraftRevision("revised")).toBe("r1");
  const second = render(<RevisedDraft initial="theirs" revision={readDraftRevision("revised") ?? "r2"} />);
  expect((second.getByLabelText("revised") as HTMLInputElement).value).toBe("mine");
  expect(readDraftRevision("revised")).toBe("r1");
  fireEvent.input(second.getByLabelText("revised"), { target: { value: "theirs" } });
  expect(readDraftRevision("revised")).toBeUndefined();
});

test("ages are short, and a clock that is ahead gives no negative age", () => {
  const present = Date.parse("2026-11-17T12:00:00");
  expect([0, -5, 4, 60, 60 * 50].map((minutes) => formatAge(present - minutes * 60_000, present))).toEqual([
    "<1 min",
    "<1 min",
    "4 min",
    "1 h",
    "2 days",
  ]);
  expect(formatWhen(present - 3_600_000, present)).toBe("Today 11:00");
  expect(formatWhen(present - 86_400_000, present)).toBe("Yesterday 12:00");
  expect(formatWhen(present + 3 * 86_400_000, present)).not.toContain("Today");
});

test("a worker may only run the one known script", () => {
  expect(checkWorkerAddress(WORKER_ADDRESS)).toBe(WORKER_ADDRESS);
  for (const address of ["/assets/other.js", "https://evil.example/w.js", "data:text/javascript,1", "blob:x", ""]) {
    expect(() => checkWorkerAddress(address)).toThrow(TypeError);
  }
});

function NameForm({ onSend }: { onSend: (name: string) => Promise<void> }) {
  const [name, setName] = useState("");
  const problems: Problems = { name: name ? undefined : "Give a name." };
  const submission = useSubmission(problems);
  return (
    <SubmitForm submission={submission} action="Send" onSubmit={() => onSend(name)}>
      <TextField label="Name" value={name} onInput={setName} problem={submission.problems.name} />
    </SubmitForm>
  );
}

test("a form shows the problems of its fields at the first attempt, and sends nothing", async () => {
  const sent: string[] = [];
  const { container, queryByText } = render(<NameForm onSend={(name) => Promise.resolve(void sent.push(name))} />);
  expect(queryByText("Give a name.")).toBeNull();
  fireEvent.submit(container.querySelector("form") as HTMLFormElement);
  expect(queryByText("Give a name.")).not.toBeNull();
  expect(sent).toEqual([]);
  await waitFor(() => expect(document.activeElement?.tagName).toBe("INPUT"));
});

test("a form is sent once however often it is submitted, and keeps its text when the request fails", async () => {
  const sent: string[] = [];
  let fail: (error: ApiError) => void = () => undefined;
  const send = (name: string) => {
    sent.push(name);
    return new Promise<void>((_, reject) => {
      fail = reject;
    });
  };
  const { container, getByLabelText, getByRole, queryByText } = render(<NameForm onSend={send} />);
  const field = getByLabelText("Name") as HTMLInputElement;
  fireEvent.input(field, { target: { value: "Tycho" } });
  const form = container.querySelector("form") as HTMLFormElement;
  fireEvent.submit(form);
  fireEvent.submit(form);
  expect(sent).toEqual(["Tycho"]);
  expect((getByRole("button") as HTMLButtonElement).disabled).toBe(true);
  await act(() => fail(new ApiError("The disk is full.", "Free some space.", "disk_full", 507)));
  await waitFor(() => expect(queryByText("The disk is full.")).not.toBeNull());
  expect(field.value).toBe("Tycho");
  fireEvent.submit(form);
  expect(sent).toEqual(["Tycho", "Tycho"]);
  expect(queryByText("The disk is full.")).toBeNull();
});

test("Ctrl Enter in a field of several lines submits its form, and Enter alone does not", () => {
  const submit = vi.fn((event: Event) => event.preventDefault());
  const reject = vi.fn();
  const { getByLabelText } = render(
    <form onSubmit={submit}>
      <TextField label="Question" value="moons" onInput={vi.fn()} lines={3} />
      <TextField label="Hint" value="moons" onInput={vi.fn()} lines={3} onSubmit={reject} />
    </form>,
  );
  fireEvent.keyDown(getByLabelText("Question"), { key: "Enter" });
  expect(submit).not.toHaveBeenCalled();
  fireEvent.keyDown(getByLabelText("Question"), { key: "Enter", ctrlKey: true });
  expect(submit).toHaveBeenCalledTimes(1);
  fireEvent.keyDown(getByLabelText("Hint"), { key: "Enter", metaKey: true });
  expect([submit.mock.calls.length, reject.mock.calls.length]).toEqual([1, 1]);
});

test("only a question that waits asks for a decision", () => {
  const payload = { query: "moons", total_papers: 2, papers: [] };
  const show = (state: string) => {
    const question = { kind: "result_review", state, payload } as unknown as Question;
    return render(<QuestionContents question={question} />).container.textContent;
  };
  expect(show("pending")).toContain("2 papers were found. Review them one by one, or decide here.");
  expect(show("decided")).toContain("2 papers were found.");
  expect(show("decided")).not.toContain("decide here");
});

test("a dialog has the focus on its first field, else on its main button, and never on one that destroys", async () => {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
    this.querySelector("button")?.focus(); // as browsers do
  };
  HTMLDialogElement.prototype.close = () => undefined;
  const ignore = () => undefined;
  const focused = () => document.activeElement?.textContent || document.activeElement?.tagName;
  const footer = <Button kind="primary">Finish</Button>;
  const view = render(<Dialog title="Finish?" onClose={ignore} footer={footer} children="Sure?" />);
  expect(focused()).toBe("Finish");
  view.unmount();
  const field = <TextField label="Name" value="" onInput={ignore} />;
  const second = render(<Dialog title="Name" onClose={ignore} footer={footer} children={field} />);
  expect(focused()).toBe("INPUT");
  second.unmount();
  const work = async () => undefined;
  const third = render(<ConfirmDialog title="Delete?" text="" action="Delete" onConfirm={work} onClose={ignore} />);
  expect(focused()).toBe("Cancel");
  third.unmount();
  const loading = render(<Dialog title="Load" onClose={ignore} children="Loading" />);
  loading.rerender(<Dialog title="Load" onClose={ignore} children={<form>{field}</form>} />);
  await waitFor(() => expect(focused()).toBe("INPUT"));
});

test("a confirmed command runs once, and if it fails the dialog closes and a message says why", async () => {
  Object.assign(HTMLDialogElement.prototype, { showModal: () => undefined, close: () => undefined });
  const run = vi.fn(() => Promise.reject(new ApiError("The search is locked.", "Try later.", "locked", 409)));
  const close = vi.fn();
  const { findByText, getByText } = render(
    <>
      <ConfirmDialog title="Delete?" text="" action="Delete" onConfirm={run} onClose={close} />
      <Toasts />
    </>,
  );
  fireEvent.click(getByText("Delete"));
  fireEvent.click(getByText("Delete"));
  await findByText("The search is locked. Try later.");
  await waitFor(() => expect(close).toHaveBeenCalledTimes(1));
  expect(run).toHaveBeenCalledTimes(1);
});

test("a click beside a dialog closes it, and a selection that ends there does not", () => {
  Object.assign(HTMLDialogElement.prototype, { showModal: () => undefined, close: () => undefined });
  let closed = 0;
  const field = <TextField label="Name" value="" onInput={() => undefined} />;
  const { container, getByLabelText } = render(<Dialog title="Rename" onClose={() => closed++} children={field} />);
  const dialog = container.querySelector("dialog") as HTMLDialogElement;
  const drag = (from: Element) => {
    fireEvent.pointerDown(from);
    fireEvent.click(dialog);
  };
  drag(getByLabelText("Name"));
  expect(closed).toBe(0);
  drag(dialog);
  expect(closed).toBe(1);
});

test("a page that failed is drawn again by its button and at another path, and one that did not fail stays", async () => {
  let fails = true;
  let mounted = 0;
  function Page({ path }: { path: string }) {
    useState(() => mounted++);
    if (fails) throw new Error("broken");
    return <p>This is {path}</p>;
  }
  const show = (path: string) => (
    <ErrorBoundary path={path}>
      <Page path={path} />
    </ErrorBoundary>
  );
  const { findByText, getByText, queryByText, rerender } = render(show("/runs/1"));
  await findByText(commonTexts.errors.broken);
  fireEvent.click(getByText(commonTexts.errors.retry));
  await findByText(commonTexts.errors.broken);
  fails = false;
  fireEvent.click(getByText(commonTexts.errors.retry));
  await findByText("This is /runs/1");
  fails = true;
  rerender(show("/runs/2"));
  await findByText(commonTexts.errors.broken);
  fails = false;
  rerender(show("/runs"));
  await findByText("This is /runs");
  const before = mounted;
  rerender(show("/runs/3"));
  await findByText("This is /runs/3");
  expect([mounted, queryByText(commonTexts.errors.broken)]).toEqual([before, null]);
});

test("a line that was copied says so for some seconds, and one that the browser refuses to copy says so, too", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const copied: string[] = [];
  const writeText = async (text: string) => void copied.push(text);
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  const { getByRole, queryByText } = render(<CopyLine text="uraniborg serve" label="command" />);
  const wait = (milliseconds: number) => act(async () => void (await vi.advanceTimersByTimeAsync(milliseconds)));
  const press = async () => {
    fireEvent.click(getByRole("button"));
    await wait(0);
  };
  await press();
  expect([copied, getByRole("button").textContent]).toEqual([["uraniborg serve"], commonTexts.actions.copied]);
  await wait(10_000);
  expect(getByRole("button").textContent).toBe(commonTexts.actions.copy);
  vi.stubGlobal("navigator", {}); // without https, browsers have no clipboard
  await press();
  await wait(10_000);
  expect(queryByText(commonTexts.actions.notCopied)).not.toBeNull();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("that the server is away is said once, and no longer when it answers again", async () => {
  function Form() {
    const submission = useSubmission();
    return (
      <>
        <SubmitForm submission={submission} action="Send" onSubmit={() => Promise.reject(makeOfflineError())}>
          <p>A form.</p>
        </SubmitForm>
        <Toasts />
      </>
    );
  }
  connection.value = "live";
  const { getByText, queryAllByText } = render(<Form />);
  fireEvent.click(getByText("Send"));
  act(() => showError(makeOfflineError()));
  await waitFor(() => expect(queryAllByText(/does not answer/)).toHaveLength(2));
  act(() => {
    connection.value = "reconnecting"; // the bar above the page says it now
  });
  expect(queryAllByText(/does not answer/)).toHaveLength(0);
  act(() => showError(makeOfflineError()));
  expect(queryAllByText(/does not answer/)).toHaveLength(0);
  act(() => {
    connection.value = "live";
  });
  expect(queryAllByText(/does not answer/)).toHaveLength(0);
});

test.each([
  ["Set `ignore_errors` to `<b>true</b>`.", ["ignore_errors", "<b>true</b>"]],
  ["A single ` is a sign like any other.", []],
])("words in backticks of a hint are code: %s", (hint, codes) => {
  const { container } = render(<ErrorNote error={new ApiError("It failed.", hint, "failed", 500)} />);
  expect([...container.querySelectorAll("code")].map((one) => one.textContent)).toEqual(codes);
  expect(container.textContent).toContain(codes.length ? hint.replaceAll("`", "") : hint);
});
