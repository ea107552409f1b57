// The bundled editor, of which the site has no source: _ext/live/vendor/editor.js.
export function openEditor(
  place: HTMLElement,
  text: string,
  run: () => void,
  leave: () => void,
  change?: () => void,
  label?: string,
): {
  text(): string;
  put(text: string): void;
  focus(): void;
  close(): void;
  mark(problems: { line: number; severity: string; message: string }[]): void;
};
