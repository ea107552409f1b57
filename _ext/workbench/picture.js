// A drawing as a file. A program may have made it up, so that it keeps shapes and text alone.

const SHAPES = "svg g title path polygon polyline ellipse circle rect line text tspan".split(" ");
const NOT_KEPT = /^(on|style$|.*href$|class$|data-)/i;
const SCALE = 2; // a PNG's pixels for each of the drawing's

/** The drawing as the text of a file that asks for nothing; "" if it is none, or shows nothing. */
export function harmless(svg) {
  const root = new DOMParser().parseFromString(String(svg), "image/svg+xml").documentElement;
  if (root.localName !== "svg") return "";
  for (const part of root.querySelectorAll("*"))
    if (!SHAPES.includes(part.localName)) part.remove();
  if (!root.childElementCount) return ""; // some browsers make an empty one of broken text
  for (const part of [root, ...root.querySelectorAll("*")])
    for (const name of part.getAttributeNames())
      if (NOT_KEPT.test(name) || /url\(/i.test(part.getAttribute(name))) part.removeAttribute(name);
  root.setAttribute("font-family", "Verdana, DejaVu Sans, sans-serif");
  return new XMLSerializer().serializeToString(root);
}

/** The drawing as a PNG, on white. */
export async function asPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", { width: image.width * SCALE, height: image.height * SCALE });
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
