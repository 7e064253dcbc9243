import { fireEvent, render } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import { keyScopes, makeListKeys, nameKeys, startKeys, useKeys } from "../src/data/keys.ts";
import { hasLetterKeys } from "../src/data/preferences.ts";
import { KeyHelp } from "../src/frame/key_help.tsx";

startKeys();
const run = vi.fn();

function Page() {
  useKeys("Page", [
    { keys: "j", label: "Next", run: () => run("j") },
    { keys: "g i", label: "Go", run: () => run("g i") },
    { keys: "i", label: "Include", run: () => run("i") },
    { keys: "Enter", label: "Open", run: () => run("Enter") },
    { keys: "ArrowLeft", label: "Turn", run: () => run("ArrowLeft") },
    { keys: "Control+k", label: "Find", run: () => run("Control+k") },
    { keys: "Escape", label: "Back", run: () => run("Escape") },
  ]);
  return (
    <div>
      <input aria-label="field" />
      <button type="button">press</button>
      <input type="radio" aria-label="choice" />
    </div>
  );
}

beforeEach(() => {
  run.mockClear();
  hasLetterKeys.value = true;
});

function press(key: string, target: Element = document.body, options = {}): void {
  fireEvent.keyDown(target, { key, ...options });
}

test("keys run their commands, alone and after a prefix", () => {
  render(<Page />);
  press("j");
  press("g");
  press("i");
  press("i");
  expect(run.mock.calls.flat()).toEqual(["j", "g i", "i"]);
});

test("an unknown key after a prefix runs nothing, and the next key is free again", () => {
  render(<Page />);
  press("g");
  press("j");
  expect(run).not.toHaveBeenCalled();
  press("j");
  press("g");
  press("k", document.body, { ctrlKey: true });
  expect(run.mock.calls.flat()).toEqual(["j", "Control+k"]);
});

test("Escape leaves a field first, and goes back from outside of it", () => {
  const { getByLabelText } = render(<Page />);
  const field = getByLabelText("field");
  field.focus();
  press("Escape", field);
  expect(document.activeElement).toBe(document.body);
  expect(run).not.toHaveBeenCalled();
  press("Escape");
  expect(run.mock.calls.flat()).toEqual(["Escape"]);
});

test("letters typed into a field are text, and Ctrl K works there", () => {
  const { getByLabelText } = render(<Page />);
  press("j", getByLabelText("field"));
  press("k", getByLabelText("field"), { ctrlKey: true });
  expect(run.mock.calls.flat()).toEqual(["Control+k"]);
});

test("Enter on a button belongs to the button", () => {
  const { getByText } = render(<Page />);
  press("Enter", getByText("press"));
  expect(run).not.toHaveBeenCalled();
});

test("an arrow on a radio button chooses in its group", () => {
  const { getByLabelText, getByText } = render(<Page />);
  press("ArrowLeft", getByLabelText("choice"));
  expect(run).not.toHaveBeenCalled();
  press("ArrowLeft", getByText("press"));
  expect(run.mock.calls.flat()).toEqual(["ArrowLeft"]);
});

test("single letters can be switched off", () => {
  hasLetterKeys.value = false;
  render(<Page />);
  press("j");
  press("k", document.body, { ctrlKey: true });
  expect(run.mock.calls.flat()).toEqual(["Control+k"]);
});

test("a page that is left takes its keys with it", async () => {
  render(<Page />).unmount();
  await vi.waitFor(() => expect(keyScopes.value).toEqual([]));
  press("j");
  expect(run).not.toHaveBeenCalled();
});

test("j, k and arrows move the focus through the links of a list and stop at its ends", () => {
  function List() {
    useKeys("List", makeListKeys(".row"));
    return ["a", "b"].map((name) => (
      <a key={name} class="row" href={`/${name}`}>
        {name}
      </a>
    ));
  }
  const { getByText } = render(<List />);
  const presses = { j: "abb", k: "aa", ArrowDown: "bb", ArrowUp: "aa" };
  for (const [key, names] of Object.entries(presses)) {
    for (const name of names) {
      press(key, document.activeElement as Element);
      expect(document.activeElement).toBe(getByText(name));
    }
  }
});

test("the help has one line for a command that stands for several", () => {
  Object.assign(HTMLDialogElement.prototype, { showModal: vi.fn(), close: vi.fn() });
  function Help() {
    useKeys("Reasons", [
      { keys: "1", label: "Reason 1", help: { label: "Reason", keys: "1 to 9" }, run },
      { keys: "2", label: "Reason 2", isHidden: true, run },
    ]);
    return <KeyHelp onClose={run} />;
  }
  const { container } = render(<Help />);
  expect(container.querySelector(".key-groups dl")?.textContent).toBe("Reason1 to 9");
});

test("keys have the names that stand on a keyboard", () => {
  expect(nameKeys(" ")).toEqual(["Space"]);
  expect(nameKeys("Control+s")).toEqual(["Ctrl S"]);
  expect(nameKeys("g i")).toEqual(["g", "i"]);
});
