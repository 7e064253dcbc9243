import { Button, Dot } from "../common/controls.tsx";
import { ForeignText } from "../common/foreign_text.tsx";
import { Formula } from "../common/formula.tsx";
import { Card, Detail, Facts, Panes, Table } from "../common/layout.tsx";
import { ROW_HEIGHT, Row } from "../common/row.tsx";
import { type Block, Passage, TextTree } from "../common/text_tree.tsx";
import { Age, When } from "../common/time.tsx";
import { VirtualList } from "../common/virtual_list.tsx";
import { TONES } from "./control_samples.tsx";

const LONG = "A title that is long enough for two lines and then some, so that the third line of it has to be cut off";
const ROWS = Array.from({ length: 1_000 }, (_, index) => `Row ${index + 1}`);
const MINUTE_MS = 60_000;
const SOME_MINUTES_AGO = new Date(Date.now() - 4.5 * MINUTE_MS).toISOString();
const LONG_AGO = "2020-01-02T12:00:00Z";
const text = (words: string) => ({ type: "text" as const, text: words });
const BLOCKS: readonly Block[] = [
  { type: "heading", level: 2, offset: 0, children: [text("Orbits")] },
  {
    type: "paragraph",
    offset: 10,
    children: [
      text("A moon stays bound if "),
      { type: "math", tex: "a < r_H / 3", display: false },
      text(" for its planet; see "),
      { type: "link", href: "https://doi.org/10.1086/341477", children: [text("a paper")] },
      text("."),
    ],
  },
  { type: "paragraph", offset: 20, children: [text("The passage that was found.")] },
  { type: "math_block", offset: 30, tex: "r_H = a \\left(\\frac{m}{3M}\\right)^{1/3}" },
  {
    type: "list",
    offset: 40,
    ordered: true,
    start: 1,
    items: [
      [{ type: "paragraph", offset: 41, children: [text("First")] }],
      [{ type: "paragraph", offset: 42, children: [text("Second")] }],
    ],
  },
  { type: "quote", offset: 50, children: [{ type: "paragraph", offset: 51, children: [text("Quoted words.")] }] },
  {
    type: "table",
    offset: 60,
    align: ["left", "right"],
    header: [[text("Planet")], [text("Mass")]],
    rows: [{ offset: 61, cells: [[text("h")], [text("0.326")]] }],
  },
  { type: "code_block", offset: 70, language: "python", text: "a = 1.0" },
  {
    type: "figure",
    offset: 80,
    href: "https://example.org/p.png",
    alt: "",
    caption: [text("A figure is a reference.")],
  },
];

export function Tables() {
  return (
    <Card title="Tables, facts and times" aside="2">
      <Table
        label="Sources"
        columns={[{ title: "Source" }, { title: "At most", isNumber: true }, { title: "State" }]}
        rows={[
          ["arXiv", 100, <Dot tone="yes">ready</Dot>],
          ["Semantic Scholar", 0, <Dot tone="hollow">off: no key</Dot>],
        ]}
      />
      <Table
        label="Schedules"
        columns={[{ title: "Workflow" }, { title: "Remove", isTitleHidden: true }]}
        rows={[["digest", <Button kind="quiet">Remove</Button>]]}
      />
      <div class="card-body">
        <Facts
          facts={[
            ["Semi-major axis", <code>1.000 AU</code>],
            ["A long value", LONG],
            ["Age", <Age at={SOME_MINUTES_AGO} />],
            ["Time", <When at={LONG_AGO} />],
          ]}
        />
      </div>
    </Card>
  );
}

export function ForeignTexts() {
  return (
    <Card title="Foreign text">
      <div class="card-body">
        <ForeignText
          text="A moon survives below a critical mass. שלום <b>not bold</b>"
          terms={["moon", "critical mass"]}
        />
        <ForeignText text={"long ".repeat(10_000)} />
        <p class="foreign">
          <Passage nodes={[text("… the "), { type: "strong", children: [text("chain")] }, text(" of resonances …")]} />
        </p>
        <p>
          <Formula tex="E = m c^2" isBlock={false} /> <Formula tex="\\frac{" isBlock={false} />
        </p>
      </div>
    </Card>
  );
}

export function PaperText() {
  return (
    <Card title="The text of a paper">
      <div class="card-body whole">
        <TextTree blocks={BLOCKS} terms={["moon"]} level={3} found={20} />
      </div>
    </Card>
  );
}

export function Rows() {
  return (
    <Card title="Rows">
      <div style={{ height: `${4 * ROW_HEIGHT}px`, display: "flex" }}>
        <VirtualList
          items={ROWS}
          heightOf={() => ROW_HEIGHT}
          keyOf={(item) => item}
          label="Rows"
          render={(item, index) => (
            <Row
              href="/styleguide"
              tag={TONES[index % TONES.length] ?? ""}
              tone={TONES[index % TONES.length] ?? "neutral"}
              aside="4 min"
              title={index % 2 ? item : LONG}
              detail="asked by your agent, round 1"
              isCurrent={index === 1}
              isForeign={index % 3 === 2}
            />
          )}
        />
      </div>
    </Card>
  );
}

/** List, detail with its decision bar, and context. */
export function ThreePanes() {
  return (
    <Card title="Panes">
      <div style={{ height: "320px", display: "flex" }}>
        <Panes
          list={<p class="card-body">The list</p>}
          listLabel="A list"
          backTo="/styleguide"
          detail={
            <Detail
              bar={
                <>
                  <Button kind="primary" keyHint="a">
                    Approve
                  </Button>
                  <Button keyHint="r">Reject</Button>
                </>
              }
            >
              <p>The detail scrolls; the bar below it does not.</p>
            </Detail>
          }
          context={<p class="card-body">The context</p>}
          contextLabel="The context"
        />
      </div>
    </Card>
  );
}
