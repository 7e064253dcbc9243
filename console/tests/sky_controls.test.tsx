import { fireEvent, render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { Toasts } from "../src/common/toasts.tsx";
import type { Cast } from "../src/sky/bodies.ts";
import type { SkyRunner } from "../src/sky/drawing/runner.ts";
import { Controls } from "../src/sky/picture_controls.tsx";
import { makeSkyState } from "../src/sky/sky_state.ts";
import { skyTexts } from "../src/sky/strings.ts";

test("a picture or a model that the browser cannot make is an error that says what to do", async () => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  const runner = {
    screenshot() {
      throw new Error("The context is lost.");
    },
    makeModel: () => Promise.reject(new Error("The code cannot be loaded.")),
  };
  const { findByText, getByText } = render(
    <>
      <Controls
        runner={runner as unknown as SkyRunner}
        state={makeSkyState()}
        cast={{ bodies: [], name: "U1" } as unknown as Cast}
        zone={undefined}
      />
      <Toasts />
    </>,
  );
  fireEvent.click(getByText(skyTexts.save));
  fireEvent.click(getByText(skyTexts.saveModel));
  expect((await findByText(skyTexts.notSaved)).closest("[role=alert]")).not.toBeNull();
  await findByText(skyTexts.notSavedModel);
  vi.unstubAllGlobals();
});
