import { useState } from "preact/hooks";
import { ApiError, makeOfflineError } from "../api_error.ts";
import {
  Button,
  ButtonLink,
  Checkbox,
  Choices,
  CopyLine,
  Dot,
  IconButton,
  Key,
  Select,
  Tag,
  TextField,
  type Tone,
} from "../components/controls.tsx";
import { ConfirmDialog } from "../components/dialog.tsx";
import { ForeignText, ForeignTree } from "../components/foreign_text.tsx";
import { Card, Facts, Table } from "../components/layout.tsx";
import { ROW_HEIGHT, Row } from "../components/row.tsx";
import { EmptyState, ErrorNote, ErrorState, LoadingState } from "../components/states.tsx";
import { showToast, Toasts } from "../components/toasts.tsx";
import { ReasonChips, type Verdict, VerdictRadios } from "../components/verdict.tsx";
import { VirtualList } from "../components/virtual_list.tsx";

const TONES: readonly Tone[] = ["neutral", "accent", "yes", "no", "maybe", "waiting"];
const KINDS = ["primary", "plain", "danger", "quiet"] as const;
const LONG = "A title that is long enough for two lines and then some, so that the third line of it has to be cut off";
const ROWS = Array.from({ length: 1_000 }, (_, index) => `Row ${index + 1}`);
const refused = new ApiError("max_results must be between 1 and 1000, got 0.", "Use 100.", "invalid_input", 422);

/** Every component in every state; only in development builds. */
export function StyleguidePage() {
  const [verdict, setVerdict] = useState<Verdict>("exclude");
  const [reason, setReason] = useState<string | undefined>("Wrong question");
  const [isAsking, setAsking] = useState(false);
  const [text, setText] = useState("typed");
  const [choice, setChoice] = useState<"a" | "b">("a");
  const choices = [
    { value: "a", label: "First" },
    { value: "b", label: "Second" },
  ] as const;
  return (
    <div class="plain-page styleguide">
      <h1>Style guide</h1>
      <Card title="Buttons">
        <div class="card-body">
          {KINDS.map((kind) => (
            <div class="tags" key={kind}>
              <Button kind={kind}>{kind}</Button>
              <Button kind={kind} keyHint="a">
                with key
              </Button>
              <Button kind={kind} icon="copy">
                with icon
              </Button>
              <Button kind={kind} isDisabled>
                disabled
              </Button>
              <Button kind={kind} isBusy>
                busy
              </Button>
            </div>
          ))}
          <div class="tags">
            <ButtonLink href="/styleguide">link</ButtonLink>
            <IconButton icon="close" label="Close" onClick={() => undefined} />
            <Button onClick={() => setAsking(true)}>Ask</Button>
            <Button onClick={() => showToast("Approved.")}>Toast</Button>
            <Button onClick={() => showToast("The server does not answer.", "no")}>Error toast</Button>
            <Key>Ctrl K</Key>
          </div>
        </div>
      </Card>
      <Card title="Tags and states">
        <div class="card-body">
          <div class="tags">
            {TONES.map((tone) => (
              <Tag key={tone} tone={tone}>
                {tone}
              </Tag>
            ))}
          </div>
          <div class="tags">
            {[...TONES, "hollow" as const].map((tone) => (
              <Dot key={tone} tone={tone}>
                {tone}
              </Dot>
            ))}
          </div>
        </div>
      </Card>
      <Card title="Fields">
        <div class="card-body">
          <TextField label="Text" value={text} onInput={setText} hint="A hint" />
          <TextField label="Query" value='"hill stability" AND moon' onInput={() => undefined} isMono />
          <TextField
            label="With a problem"
            value="0"
            onInput={() => undefined}
            problem="Use a number from 1 to 1000."
          />
          <TextField label="Several lines" value={text} onInput={setText} lines={3} />
          <Checkbox label="A checkbox" hint="What it does" isChecked onChange={() => undefined} />
          <Choices label="Choices" value={choice} choices={choices} onChange={setChoice} />
          <Select label="Select" value={choice} choices={choices} onChange={setChoice} />
          <CopyLine text="uraniborg serve --open" label="the command" />
        </div>
      </Card>
      <Card title="Verdicts">
        <div class="card-body">
          <VerdictRadios value={verdict} onChange={setVerdict} />
          <ReasonChips
            reasons={["Wrong question", "Wrong object", "No full text"]}
            chosen={reason}
            onChange={setReason}
          />
        </div>
      </Card>
      <Card title="Tables and facts" aside="2">
        <Table
          label="Sources"
          columns={[{ title: "Source" }, { title: "At most", isNumber: true }, { title: "State" }]}
          rows={[
            ["arXiv", 100, <Dot tone="yes">ready</Dot>],
            ["Semantic Scholar", 0, <Dot tone="hollow">off: no key</Dot>],
          ]}
        />
        <div class="card-body">
          <Facts
            facts={[
              ["Semi-major axis", <code>1.000 AU</code>],
              ["A long value", LONG],
            ]}
          />
        </div>
      </Card>
      <Card title="Foreign text">
        <div class="card-body">
          <ForeignText
            text="A moon survives below a critical mass. שלום <b>not bold</b>"
            terms={["moon", "critical mass"]}
          />
          <ForeignText text={"long ".repeat(10_000)} />
          <ForeignTree
            nodes={[
              {
                tag: "p",
                children: ["H", { tag: "sub", children: ["2"] }, "O and ", { tag: "em", children: ["more"] }],
              },
              { tag: "p", children: [{ tag: "a", href: "https://doi.org/10.1086/341477", children: ["a link"] }] },
            ]}
          />
        </div>
      </Card>
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
      <Card title="States">
        <EmptyState title="Nothing waits for you." hint="The next question will appear here.">
          <ButtonLink href="/styleguide">Start a search</ButtonLink>
        </EmptyState>
        <LoadingState />
        <ErrorState error={refused} onRetry={() => undefined} />
        <ErrorNote error={makeOfflineError()} onRetry={() => undefined} />
      </Card>
      <Toasts />
      {isAsking && (
        <ConfirmDialog
          title="Delete this search?"
          text="Its papers and decisions are deleted, too. This cannot be undone."
          action="Delete"
          onConfirm={() => setAsking(false)}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}
