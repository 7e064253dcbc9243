import { useState } from "preact/hooks";
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
} from "../common/controls.tsx";
import { ICON_NAMES, Icon } from "../common/icon.tsx";
import { Card } from "../common/layout.tsx";
import { ReasonChips, type Verdict, VerdictRadios } from "../review/verdict.tsx";

export const TONES: readonly Tone[] = ["neutral", "accent", "yes", "no", "maybe", "waiting"];
const KINDS = ["primary", "plain", "danger", "quiet"] as const;
const REASONS = ["Wrong question", "Wrong object", "No full text"];
const CHOICES = [
  { value: "a", label: "First" },
  { value: "b", label: "Second" },
] as const;
const doNothing = () => undefined;

export function Buttons() {
  return (
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
          <ButtonLink href="/styleguide" kind="primary" keyHint="n">
            link with key
          </ButtonLink>
          <IconButton icon="close" label="Close" onClick={doNothing} />
          <Key>Ctrl K</Key>
        </div>
      </div>
    </Card>
  );
}

export function Marks() {
  return (
    <Card title="Tags, states and icons">
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
        <div class="tags">
          {ICON_NAMES.map((name) => (
            <Icon key={name} name={name} />
          ))}
        </div>
      </div>
    </Card>
  );
}

export function Fields() {
  const [text, setText] = useState("typed");
  const [choice, setChoice] = useState<"a" | "b">("a");
  const [isChecked, setChecked] = useState(true);
  return (
    <Card title="Fields">
      <div class="card-body">
        <TextField label="Text" value={text} onInput={setText} hint="A hint" />
        <TextField label="Empty" value="" onInput={doNothing} placeholder="what belongs here" />
        <TextField label="Query" value='"hill stability" AND moon' onInput={doNothing} isMono />
        <TextField label="Secret" value="not shown" onInput={doNothing} isSecret />
        <TextField label="Only to read" value="cannot be changed" onInput={doNothing} isReadOnly />
        <TextField label="With a problem" value="0" onInput={doNothing} problem="Use a number from 1 to 1000." />
        <TextField label="Several lines" value={text} onInput={setText} lines={3} />
        <Checkbox label="A checkbox" hint="What it does" isChecked={isChecked} onChange={setChecked} />
        <Checkbox label="Another checkbox" isChecked={!isChecked} onChange={() => setChecked(!isChecked)} />
        <Choices label="Choices" value={choice} choices={CHOICES} onChange={setChoice} />
        <Select label="Select" value={choice} choices={CHOICES} onChange={setChoice} />
        <CopyLine text="uraniborg serve --open" label="the command" />
        <CopyLine text="uraniborg connect --all" label="a command that was copied" />
      </div>
    </Card>
  );
}

/** Every verdict, with and without a reason. */
export function Verdicts() {
  return (
    <Card title="Verdicts">
      <div class="card-body">
        {([undefined, "include", "maybe", "exclude"] as const).map((verdict) => (
          <VerdictChoice key={verdict} first={verdict} />
        ))}
        <ReasonChips reasons={REASONS} chosen={undefined} onChange={doNothing} />
      </div>
    </Card>
  );
}

function VerdictChoice({ first }: { first: Verdict | undefined }) {
  const [verdict, setVerdict] = useState(first);
  const [reason, setReason] = useState<string | undefined>(REASONS[0]);
  return (
    <>
      <VerdictRadios value={verdict} onChange={setVerdict} />
      {verdict === "exclude" && <ReasonChips reasons={REASONS} chosen={reason} onChange={setReason} />}
    </>
  );
}
