import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api_error.ts";
import type { Params } from "../router.ts";
import { strings } from "../strings.ts";
import { ErrorState, LoadingState } from "./states.tsx";

export type PageComponent = ComponentType<{ params: Params }>;

/** Return a page whose code is loaded when it is first shown. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  let loaded: PageComponent | undefined;
  return function LazyPage({ params }) {
    const [component, setComponent] = useState<{ page: PageComponent | undefined }>({ page: loaded });
    const [error, setError] = useState<ApiError>();
    useEffect(() => {
      if (loaded) return;
      load().then(
        (page) => {
          loaded = page;
          setComponent({ page });
        },
        () => setError(new ApiError(strings.errors.broken, strings.errors.brokenHint, "page_not_loaded", -1)),
      );
    }, []);
    const Page = component.page;
    if (Page) return <Page params={params} />;
    return error ? <ErrorState error={error} onRetry={() => location.reload()} /> : <LoadingState />;
  };
}
