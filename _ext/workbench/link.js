// What an address's fragment holds: a view and a program, compressed.

const LONGEST = 100_000; // characters of a program

/** Put bytes through a stream of the browser's own; no more than `most` of what comes out. */
async function through(bytes, stream, most = Infinity) {
  const parts = [];
  let size = 0;
  for (
    let reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), part;
    !(part = await reader.read()).done;
  ) {
    size += part.value.length;
    if (size > most) throw new RangeError("too long");
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** A program and its view as letters, digits, - and _. */
export async function packed(text, view) {
  const bytes = new TextEncoder().encode(JSON.stringify([view, text]));
  const short = await through(bytes, new CompressionStream("deflate-raw"));
  const letters = btoa(String.fromCharCode(...short));
  return letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The view and the program again; null where that is none. */
export async function unpacked(letters) {
  try {
    const short = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(short, (letter) => letter.charCodeAt(0));
    const long = await through(bytes, new DecompressionStream("deflate-raw"), LONGEST);
    const [view, text] = JSON.parse(new TextDecoder().decode(long));
    return typeof text === "string" ? { view, text } : null;
  } catch {
    return null;
  }
}
