import { useLayoutEffect, useRef, useState } from "preact/hooks";

type DrawFormula = (tex: string, element: HTMLElement, isBlock: boolean) => boolean;
let loading: Promise<DrawFormula> | undefined;
let loaded: DrawFormula | undefined;

/** Load the code and the font of formulas, once, before the first formula is shown. */
export function loadMath(): Promise<DrawFormula> {
  loading ??= import("./math.ts").then((math) => {
    loaded = math.drawFormula;
    return loaded;
  });
  loading.catch(() => {
    loading = undefined; // the next formula tries again
  });
  return loading;
}

/** A formula. Until its code is loaded, and if it cannot be drawn, its TeX is shown. */
export function Formula({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  useLayoutEffect(() => {
    let isCurrent = true;
    const show = (draw: DrawFormula) => {
      if (isCurrent && place.current) setDrawn(draw(tex, place.current, isBlock));
    };
    if (loaded) show(loaded);
    else loadMath().then(show, () => undefined); // the TeX stays
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
