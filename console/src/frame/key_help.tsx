import { Button, Key } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { commonTexts } from "../common/strings.ts";
import { keyScopes, nameKeys } from "../data/keys.ts";
import { hasLetterKeys } from "../data/preferences.ts";

/** What the keys do on this page, and the switch for single letters. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const isOn = hasLetterKeys.value;
  return (
    <Dialog
      title={commonTexts.keys.title}
      onClose={onClose}
      kind="wide"
      footer={
        <>
          <p class="quiet">{isOn ? commonTexts.keys.on : commonTexts.keys.off}</p>
          <Button
            onClick={() => {
              hasLetterKeys.value = !isOn;
            }}
          >
            {isOn ? commonTexts.keys.switchOff : commonTexts.keys.switchOn}
          </Button>
        </>
      }
    >
      <div class="key-groups">
        {keyScopes.value.map((scope) => (
          <section key={scope.title}>
            <h3>{scope.title}</h3>
            <dl class="facts">
              {scope.commands
                .filter((one) => !one.isHidden)
                .map((one) => (
                  <div key={one.keys}>
                    <dt>{one.help?.label ?? one.label}</dt>
                    <dd>
                      {(one.help ? [one.help.keys] : nameKeys(one.keys)).map((key) => (
                        <Key key={key}>{key}</Key>
                      ))}
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
