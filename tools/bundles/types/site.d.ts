// What the site's first scripts put on the window: _ext/look/book.js and _ext/progress/kept.js.
import type * as ui from "../../../src/chainview/ui.js";

declare global {
  const make: typeof ui.make;
  const makeButton: typeof ui.makeButton;
  const kept: any;
}
