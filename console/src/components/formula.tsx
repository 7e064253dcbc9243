import { useEffect, useRef, useState } from "preact/hooks";

type DrawFormula = (tex: string, element: HTMLElement, isBlock: boolean) => boolean;
let loading: Promise<DrawFormula> | undefined;

/** Load the code and the font of formulas, once, when the first formula is shown. */
function loadMath(): Promise<DrawFormula> {
  loading ??= import("../math.ts").then((math) => math.drawFormula);
  loading.catch(() => {
    loading = undefined; // the next formula tries again
  });
  return loading;
}

/** A formula. Until it is drawn, and if it cannot be, its TeX is shown. */
export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    let isCurrent = true;
    loadMath().then(
      (draw) => {
        if (isCurrent && place.current) setDrawn(draw(tex, place.current, isBlock));
      },
      () => undefined, // the TeX stays
    );
    return () => {
      isCurrent = false;
    };
  }, [tex, isBlock]);
  return (
    <span class={isBlock ? "math block" : "math"} dir="ltr">
      <span ref={place} hidden={!isDrawn} />
      {!isDrawn && <code>{tex}</code>}
    </span>
  );
}
