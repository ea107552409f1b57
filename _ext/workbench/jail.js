// A worker in a frame that has no origin and reaches no address but those it is given. What runs
// in the frame is the relay below; what a program does, it does in the worker, which has neither
// a document nor WebRTC, and keeps the frame's policy.

async function relay(root) {
  const up = (message) => parent.postMessage(message, "*");
  try {
    const text = await (await fetch(`${root}worker.js`)).text();
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => up(data);
    worker.onerror = (event) => up({ type: "failed", message: event.message ?? "no worker" });
    onmessage = ({ data }) => worker.postMessage(data);
    up({ type: "open" });
  } catch {
    up({ type: "failed", message: "closed" });
  }
}

/** What can be used as a worker; it takes files from the `addresses` alone, of which one is `root`. */
export function jailed(root, addresses) {
  const nonce = crypto.getRandomValues(new Uint32Array(4)).join("-");
  const from = addresses.join(" ");
  const policy =
    `default-src 'none'; script-src 'nonce-${nonce}' ${from} 'wasm-unsafe-eval' blob:; ` +
    `worker-src blob:; connect-src ${from}; base-uri 'none'; form-action 'none'`;
  const frame = make("iframe", { hidden: true, title: "Python" });
  frame.sandbox = "allow-scripts";
  frame.srcdoc =
    `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">` +
    `<script nonce="${nonce}">(${relay})(${JSON.stringify(root)})</script>`;
  const waiting = [];
  let isOpen = false;
  const jail = {
    onmessage: null,
    postMessage(message) {
      if (isOpen) frame.contentWindow.postMessage(message, "*");
      else waiting.push(message);
    },
    terminate() {
      removeEventListener("message", listen);
      frame.remove();
    },
  };
  function listen({ source, data }) {
    if (source !== frame.contentWindow) return;
    if (data?.type === "open") {
      isOpen = true;
      waiting.splice(0).forEach(jail.postMessage);
    } else jail.onmessage?.({ data });
  }
  addEventListener("message", listen);
  document.body.append(frame);
  return jail;
}
