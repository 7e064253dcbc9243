import { Button, Tag } from "../common/controls.tsx";
import { markCode } from "../common/states.tsx";
import type { Diagnostic } from "../data/api_types.ts";
import { workflowTexts as texts } from "./strings.ts";

const SHOWN = 200;
const SHOWN_NAMES = 10;

interface Props {
  findings: readonly Diagnostic[];
  /** Returns the line of a finding, if that is known. */
  findLine?: ((finding: Diagnostic) => number | undefined) | undefined;
  /** Shows where a finding is; without it the path is plain text. */
  onShow?: ((finding: Diagnostic) => void) | undefined;
  /** Returns the words of a correction that can be applied, or undefined. */
  describeCorrection?: ((finding: Diagnostic) => string | undefined) | undefined;
  onCorrect?: ((finding: Diagnostic) => void) | undefined;
}

/** The findings of the checker: what is wrong, where, what is allowed, and a correction by one click. */
export function FindingList({ findings, findLine, onShow, describeCorrection, onCorrect }: Props) {
  return (
    <ul class="findings" aria-label={texts.findings}>
      {findings.slice(0, SHOWN).map((finding, index) => {
        const correction = describeCorrection?.(finding);
        const line = findLine?.(finding);
        // The editor lists the types of nodes beside the text: a person needs neither a tool nor a command
        const hint = finding.hint?.includes("`browse_components`") ? undefined : finding.hint;
        const position = [line === undefined ? "" : texts.line(line), finding.path].filter(Boolean).join(" ");
        return (
          <li key={`${finding.path} ${finding.code} ${index}`}>
            <p class="tags">
              <Tag tone={finding.severity === "error" ? "no" : "maybe"}>
                {finding.severity === "error" ? texts.error : texts.warning}
              </Tag>
              {onShow && position ? (
                <button type="button" class="link-button mono" onClick={() => onShow(finding)} dir="auto">
                  {position}
                </button>
              ) : (
                <code dir="auto">{position}</code>
              )}
            </p>
            <p dir="auto">{markCode(finding.message)}</p>
            {hint && (
              <p class="quiet small" dir="auto">
                {markCode(hint)}
              </p>
            )}
            {correction === undefined && (finding.available?.length ?? 0) > 0 && !hint && (
              <p class="quiet small" dir="auto">
                {listAvailable(finding)}
              </p>
            )}
            {correction !== undefined && (
              <Button icon="check" onClick={() => onCorrect?.(finding)}>
                {texts.change(correction.slice(0, 80))}
              </Button>
            )}
          </li>
        );
      })}
      {findings.length > SHOWN && <li class="quiet">{texts.moreFindings(findings.length - SHOWN)}</li>}
    </ul>
  );
}

function listAvailable({ available = [], more_available: more }: Diagnostic): string {
  const left = available.length - SHOWN_NAMES;
  return texts.available(available.slice(0, SHOWN_NAMES).join(", "), Math.max(0, left) + (more ?? 0));
}
