import { render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { Loaded } from "../src/common/states.tsx";
import { useReloadOnReturn, useResource } from "../src/data/resource.ts";

function Page({ version, load }: { version: number; load: () => Promise<string> }) {
  const resource = useResource(`values ${version}`, load, undefined, "values");
  return <Loaded resource={resource}>{(text) => <p>{text}</p>}</Loaded>;
}

test("the last value of a subject stays until the next one arrives, and goes if that cannot be read", async () => {
  const { findByText, getByText, queryByText, rerender } = render(<Page version={1} load={async () => "first"} />);
  await findByText("first");
  let answer: ((text: string) => void) | undefined;
  const wait = () =>
    new Promise<string>((resolve) => {
      answer = resolve;
    });
  rerender(<Page version={2} load={wait} />);
  await vi.waitFor(() => expect(answer).toBeDefined());
  getByText("first");
  answer?.("second");
  await findByText("second");
  expect(queryByText("first")).toBeNull();
  const refuse = () => Promise.reject(new Error("refused"));
  rerender(<Page version={3} load={refuse} />);
  await findByText("Try again");
  expect(queryByText("second")).toBeNull();
});

test("data that other programs change unannounced are read again when the reader returns to the window", async () => {
  const texts = ["first", "second", "third"];
  function Watched() {
    const resource = useResource("watched", async () => texts.shift());
    useReloadOnReturn(resource);
    return <Loaded resource={resource}>{(text) => <p>{text}</p>}</Loaded>;
  }
  const { findByText, unmount } = render(<Watched />);
  await findByText("first");
  dispatchEvent(new Event("focus"));
  await findByText("second");
  unmount();
  dispatchEvent(new Event("focus"));
  expect(texts).toEqual(["third"]);
});
