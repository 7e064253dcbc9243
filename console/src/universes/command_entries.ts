import type { PaletteEntry } from "../frame/palette.tsx";
import type { Body } from "../sky/bodies.ts";
import type { SkyState } from "../sky/sky_state.ts";
import { branchAt, undoLastChange } from "./actions.ts";
import { type CommandSchema, flattenFields } from "./command_fields.tsx";
import type { CommandDraft, PanelState } from "./panel_state.ts";
import { universeTexts } from "./strings.ts";
import { nameField } from "./value_origins.ts";

const texts = universeTexts.universe.palette;
const UPDATE = "updateStar";
/** The values that can be set of every body; of the selected one all can. */
const OF_EVERY_BODY = ["payload.mass", "payload.radius", "payload.name"];

export interface PaletteContext {
  universe: string;
  /** The version that is shown, and whether it is the present one. */
  version: number | undefined;
  isPresent: boolean;
  commands: readonly CommandSchema[];
  bodies: readonly Pick<Body, "id" | "name">[];
  state: Pick<SkyState, "selected" | "followed">;
  panel: PanelState;
}

/** Return what the palette offers on the page of a universe: changes of values, commands, jobs, versions and bodies. */
export function makeUniverseEntries(context: PaletteContext): PaletteEntry[] {
  const { universe, version, commands, bodies, state, panel } = context;
  const selected = state.selected.peek();
  const open = (draft: CommandDraft, body?: string) => () => {
    if (body !== undefined) state.selected.value = body;
    panel.draft.value = { ...draft };
    panel.tab.value = "commands";
  };
  const update = commands.find((one) => one.type === UPDATE);
  const paths = update ? flattenFields(update.fields).map((field) => field.path) : [];
  const settable = paths.filter((path) => path.startsWith("payload."));
  const values = bodies.flatMap(({ id, name }) =>
    settable
      .filter((path) => id === selected || OF_EVERY_BODY.includes(path))
      .map((path) => ({
        group: texts.group,
        key: `set ${id} ${path}`,
        label: texts.set(nameField(path.replace(/^payload\./, "")).toLowerCase(), name),
        isTyped: id !== selected || !OF_EVERY_BODY.includes(path),
        run: open({ type: UPDATE, field: path }, id),
      })),
  );
  const sent = commands.map((command) => ({
    group: texts.group,
    key: `command ${command.type}`,
    label: texts.command(command.type),
    detail: command.description,
    isTyped: true,
    run: open({ type: command.type }),
  }));
  const changes = [
    ...(context.isPresent && version !== undefined && version > 1
      ? [{ group: texts.group, label: universeTexts.universe.undo, run: () => void undoLastChange(universe) }]
      : []),
    ...(version === undefined
      ? []
      : [
          {
            group: texts.group,
            label: universeTexts.universe.branch(version),
            run: () => void branchAt(universe, version),
          },
        ]),
    {
      group: texts.group,
      label: texts.nbody,
      run: () => {
        panel.tab.value = "jobs";
      },
    },
  ];
  const places = bodies.map(({ id, name }) => ({
    group: texts.group,
    key: `go ${id}`,
    label: texts.goTo(name),
    isTyped: true,
    run: () => {
      state.selected.value = id;
      state.followed.value = id;
      panel.tab.value = "body";
    },
  }));
  return [...changes, ...values, ...places, ...sent];
}
