import { Panes } from "../components/layout.tsx";
import { EmptyState } from "../components/states.tsx";
import type { Params } from "../router.ts";
import { strings } from "../strings.ts";

export function InboxPage({ params }: { params: Params }) {
  return (
    <Panes
      listLabel={strings.inbox.waiting}
      list={<h1 class="pane-title">{strings.inbox.waiting}</h1>}
      hasDetail={params.id !== undefined}
      backTo="/inbox"
      detail={<EmptyState title={strings.inbox.empty} hint={strings.inbox.emptyHint} />}
    />
  );
}
