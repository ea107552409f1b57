// What the site's first scripts put on the window: _ext/look/book.js and _ext/progress/kept.js.
import type * as ui from "../../../src/chainview/ui.js";

declare global {
  const make: typeof ui.make;
  const makeButton: typeof ui.makeButton;
  const kept: any;
  const onArrival: (act: (place: HTMLElement | null) => void) => void;
  const MiniSearch: any; // _ext/search/vendor/minisearch.js
  interface Window {
    kept: any;
    onArrival: typeof onArrival;
    courseSections: any[]; // search/index.js, which the build writes
  }
  interface WindowEventMap {
    kept: CustomEvent<string>; // of the page whose work has changed
  }
}
