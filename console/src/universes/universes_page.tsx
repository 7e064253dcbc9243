import { useState } from "preact/hooks";
import { describeAuthor } from "../common/actor_words.ts";
import { Button, TextField } from "../common/controls.tsx";
import { ConfirmDialog, Dialog } from "../common/dialog.tsx";
import { PlainPage } from "../common/layout.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { Age } from "../common/time.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { UniverseFacts } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate, query } from "../data/router.ts";
import { CreateDialog } from "./create_dialog.tsx";
import { OrbitPicture } from "./orbit_picture.tsx";
import { universeTexts } from "./strings.ts";

const PAGE = 24;
const texts = universeTexts.universes;

/** All universes with moving pictures: open, create, rename and delete them. */
export function UniversesPage() {
  const [limit, setLimit] = useState(PAGE);
  const [toDelete, setToDelete] = useState<UniverseFacts>();
  const [toRename, setToRename] = useState<UniverseFacts>();
  const universes = useResource(
    `universes ${limit}`,
    (signal) => api.get("/api/universes", { query: { limit }, signal }),
    (change) => change.kind === "universe",
    "universes",
  );
  const isCreating = query.value.has("new");
  const create = () => navigate("/universes?new=1");
  useKeys(commonTexts.pages.universes, [{ keys: "n", label: texts.create, run: create }]);
  return (
    <PlainPage title={commonTexts.pages.universes}>
      {universes.value.value?.universes.length !== 0 && (
        <div class="toolbar">
          <Button kind="primary" icon="plus" keyHint="n" onClick={create}>
            {texts.create}
          </Button>
        </div>
      )}
      <Loaded resource={universes}>
        {(page) =>
          page.universes.length ? (
            <>
              <ul class="universe-cards" aria-label={commonTexts.pages.universes}>
                {page.universes.map((one) => (
                  <UniverseCard
                    key={one.id}
                    universe={one}
                    onRename={() => setToRename(one)}
                    onDelete={() => setToDelete(one)}
                  />
                ))}
              </ul>
              {page.next !== null && <Button onClick={() => setLimit(limit + PAGE)}>{texts.more}</Button>}
            </>
          ) : (
            <EmptyState title={texts.empty} hint={texts.emptyHint} command={texts.emptyCommand}>
              <Button kind="primary" icon="plus" onClick={create}>
                {texts.create}
              </Button>
            </EmptyState>
          )
        }
      </Loaded>
      {isCreating && <CreateDialog onClose={() => navigate("/universes", { replace: true })} />}
      {toRename && <RenameDialog universe={toRename} onClose={() => setToRename(undefined)} />}
      {toDelete && (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText(toDelete.name, toDelete.version)}
          action={texts.remove}
          onConfirm={async () => {
            await api.delete("/api/universes/{universe_id}", { path: { universe_id: toDelete.id } });
            showToast(texts.removed);
          }}
          onClose={() => {
            setToDelete(undefined);
            universes.reload();
          }}
        />
      )}
    </PlainPage>
  );
}

function UniverseCard(props: { universe: UniverseFacts; onRename: () => void; onDelete: () => void }) {
  const { universe } = props;
  return (
    <li class="universe-card">
      <a href={formatPath("/universes/{id}", { id: universe.id })}>
        <OrbitPicture universe={universe.id} name={universe.name} />
        <span class="universe-card-name" dir="auto">
          {universe.name}
        </span>
      </a>
      <div class="universe-card-facts">
        <span class="quiet small">
          {texts.version(universe.version)}, <Age at={universe.updatedAt} />
        </span>
        <span>
          <Button kind="quiet" label={`${texts.rename}: ${universe.name}`} onClick={props.onRename}>
            {texts.rename}
          </Button>
          <Button kind="quiet" label={`${texts.remove}: ${universe.name}`} onClick={props.onDelete}>
            {texts.remove}
          </Button>
        </span>
      </div>
      {universe.createdBy && (
        <p class="universe-card-actors quiet small" dir="auto">
          {texts.createdBy(describeAuthor(null, universe.createdBy))}
          {universe.renamedBy && `; ${texts.renamedBy(describeAuthor(null, universe.renamedBy))}`}
        </p>
      )}
    </li>
  );
}

function RenameDialog({ universe, onClose }: { universe: UniverseFacts; onClose: () => void }) {
  const [name, setName] = useState(universe.name);
  const submission = useSubmission();
  async function rename(): Promise<void> {
    await api.put("/api/universes/{universe_id}", { path: { universe_id: universe.id }, body: { name } });
    onClose();
  }
  return (
    <Dialog title={texts.rename} onClose={onClose}>
      <SubmitForm submission={submission} action={texts.rename} onSubmit={rename} onCancel={onClose}>
        <TextField label={texts.name} value={name} onInput={setName} maxLength={200} autoFocus />
      </SubmitForm>
    </Dialog>
  );
}
