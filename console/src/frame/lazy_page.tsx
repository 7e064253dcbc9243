import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorState, LoadingState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { ApiError, makeOfflineError } from "../data/api_error.ts";
import { connection } from "../data/live.ts";
import type { Params } from "../data/router.ts";

export type PageComponent = ComponentType<{ params: Params }>;

/** Return a page whose code is loaded when it is first shown, and again when a lost connection is back. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | undefined;
  return function LazyPage({ params }) {
    const [component, setComponent] = useState<{ page: PageComponent | undefined }>({ page: loaded });
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded) return undefined;
      const start = () =>
        load().then(
          (page) => {
            loaded = page;
            setComponent({ page });
          },
          () => setFailed(true),
        );
      void start();
      let last = connection.peek();
      return connection.subscribe((state) => {
        if (state === "live" && last === "reconnecting" && !loaded) {
          setFailed(false);
          void start();
        }
        last = state;
      });
    }, []);
    const Page = component.page;
    if (Page) return <Page params={params} />;
    if (!hasFailed) return <LoadingState />;
    const error =
      connection.value === "reconnecting"
        ? makeOfflineError()
        : new ApiError(commonTexts.errors.broken, commonTexts.errors.brokenHint, "page_not_loaded", -1);
    return <ErrorState error={error} onRetry={() => location.reload()} />;
  };
}
