import { keyScopes, nameKeys } from "../keys.ts";
import { hasLetterKeys } from "../preferences.ts";
import { strings } from "../strings.ts";
import { Button, Key } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";

/** What the keys do on this page, and the switch for single letters. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const isOn = hasLetterKeys.value;
  return (
    <Dialog
      title={strings.keys.title}
      onClose={onClose}
      kind="wide"
      footer={
        <>
          <p class="quiet">{isOn ? strings.keys.on : strings.keys.off}</p>
          <Button
            onClick={() => {
              hasLetterKeys.value = !isOn;
            }}
          >
            {isOn ? strings.keys.switchOff : strings.keys.switchOn}
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
