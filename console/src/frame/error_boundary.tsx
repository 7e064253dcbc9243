import { Component, type ComponentChildren } from "preact";
import { ErrorState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { ApiError } from "../data/api_error.ts";

interface Props {
  /** The path of the page: an error stays with the path at which it happened. */
  path: string;
  children: ComponentChildren;
}

interface State {
  error: Error | undefined;
}

/** A page that fails leaves the rest of the console usable. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined };

  static override getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override componentDidUpdate(before: Props): void {
    if (before.path !== this.props.path && this.state.error) this.setState({ error: undefined });
  }

  override render() {
    if (!this.state.error) return this.props.children;
    const error = new ApiError(commonTexts.errors.broken, commonTexts.errors.brokenHint, this.state.error.message, -1);
    return <ErrorState error={error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
