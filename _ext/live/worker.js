// Python in a worker of its own, so that the page stays responsive and Stop can end it.
let python;
let runner;
let graphviz;
let config;
let root; // of all files

const say = (type, content = {}) => postMessage({ type, ...content });

// --- the files of the runtime: counted while they come, and kept for the next time ---------------

const fetchDirectly = self.fetch.bind(self);
const AT_FIRST = /\.wasm$|^python_stdlib|^numpy/; // of the files, those that every start takes
const awaited = new Set(); // names of files
let received = 0;
let total = 0; // bytes of what is awaited
let coming = 0; // files

async function openStore() {
  try {
    const name = `live-cells-${config.version}`;
    for (const other of await caches.keys())
      if (other.startsWith("live-cells-") && other !== name) await caches.delete(other);
    return await caches.open(name);
  } catch {
    return null; // not offered to pages without https, nor to frames without an origin
  }
}

function expectFile(name) {
  if (!awaited.has(name)) total += config.sizes[name] ?? 0;
  awaited.add(name);
}

function counted(response) {
  coming += 1;
  const count = new TransformStream({
    transform(chunk, controller) {
      received += chunk.byteLength;
      say("progress", { received, total: Math.max(received, total) });
      controller.enqueue(chunk);
    },
    flush() {
      coming -= 1;
      if (!coming) say("loaded");
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(count), { status, statusText, headers });
}

/** A browser keeps what it compiled of a response of its own, and of no other: a copy is counted. */
function compiled(response) {
  if (response.ok)
    counted(response.clone())
      .body.pipeTo(new WritableStream())
      .catch(() => {});
  return response;
}

function keepWhatIsFetched(store, runtime) {
  self.fetch = async (input, options) => {
    const address = input instanceof Request ? input.url : String(input);
    if (!address.startsWith(runtime)) return fetchDirectly(input, options);
    expectFile(address.split("/").pop());
    if (address.endsWith(".wasm")) return compiled(await fetchDirectly(input, options));
    const kept = store && (await store.match(address));
    if (kept) return counted(kept);
    const response = await fetchDirectly(input, options);
    if (store && response.ok) store.put(address, response.clone()).catch(() => {});
    return response.ok ? counted(response) : response;
  };
}

// --- starting ------------------------------------------------------------------------------------

async function firstThatAnswers(runtimes) {
  for (const runtime of runtimes) {
    try {
      return [runtime, await import(`${runtime}pyodide.mjs`)];
    } catch (error) {
      console.info(`live cells: no runtime at ${runtime}: ${error.message}`);
    }
  }
  throw new Error("unreachable");
}

async function start() {
  const text = (name) => fetchDirectly(new URL(name, root)).then((r) => r.text());
  config = JSON.parse(await text("config.json"));
  const runtimes = config.runtimes.map((address) => new URL(address, root).href);
  Object.keys(config.sizes)
    .filter((name) => AT_FIRST.test(name))
    .forEach(expectFile);
  const [runtime, { loadPyodide }] = await firstThatAnswers(runtimes);
  keepWhatIsFetched(await openStore(), runtime);
  const [lock, runnerText, checkerText, packages] = await Promise.all([
    text("lock.json"),
    text("runner.py"),
    text("checker.py"),
    fetchDirectly(new URL(config.packages, root)).then((r) => r.arrayBuffer()),
  ]);
  python = await loadPyodide({
    indexURL: runtime,
    lockFileContents: lock,
    packageBaseUrl: runtime,
    packages: ["numpy"],
  });
  python.setStdout({ write: (bytes) => stream("stdout", bytes) });
  python.setStderr({ write: (bytes) => stream("stderr", bytes) });
  python.unpackArchive(packages, "zip", { extractDir: "/lib/live" });
  python.FS.writeFile("/lib/live/live_runner.py", runnerText);
  python.FS.writeFile("/lib/live/live_checker.py", checkerText);
  python.globals.set("sys", python.pyimport("sys"));
  python.runPython("sys.path.insert(0, '/lib/live')");
  const plain = { dict_converter: Object.fromEntries };
  python.registerJsModule("live_page", {
    show: (bundle, place) => say("display", { bundle: bundle.toJs(plain), place }),
    clear: (wait) => say("clear", { wait }),
    graphviz: (source) => graphviz.layout(source, "svg", "dot"),
    typeset: (tex) => self["katex"].renderToString(tex, { output: "mathml", throwOnError: false }),
  });
  runner = python.pyimport("live_runner");
}

const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

function stream(name, bytes) {
  say("stream", { name, text: decoders[name].decode(bytes, { stream: true }) });
  return bytes.length;
}

// --- running -------------------------------------------------------------------------------------

const QUIETLY = { messageCallback: () => {} };
const LOAD = {
  matplotlib: () => python.loadPackage("matplotlib", QUIETLY),
  graphviz: async () => {
    graphviz ??= await (await import(new URL("graphviz.js", root).href)).Graphviz.load();
  },
  katex: () => import(new URL("katex.min.js", root).href), // which sets self.katex
};

/** Load what code imports, and what shows its drawings. */
async function prepare(source) {
  await python.loadPackagesFromImports(source.replace(/^%%writefile .*/, ""), QUIETLY);
  for (const need of JSON.parse(runner.needs(source))) await LOAD[need]();
}

async function run({ source, name }) {
  await prepare(source);
  say("begun");
  return JSON.parse(runner.run_cell(source, name));
}

/** Import what a cell will. */
async function warm({ source }) {
  await prepare(source);
  runner.warm(source);
}

async function check({ exercise, answer }) {
  const sources = [exercise.given, answer, ...exercise.checks.map((part) => part.source)];
  for (const source of sources) await prepare(source);
  say("begun");
  return JSON.parse(runner.check_answer(JSON.stringify(exercise), answer));
}

const typed = ({ name, lines }) => JSON.parse(runner.check_typed(name, JSON.stringify(lines)));

const ACTS = { run, warm, check, typed };

onmessage = async ({ data }) => {
  try {
    if (data.type === "start") {
      root = data.root;
      const early = data.early.map((need) => LOAD[need]());
      await start();
      await Promise.all(early);
      say("ready");
    } else {
      say("done", await ACTS[data.type](data));
    }
  } catch (error) {
    say("failed", { during: data.type, message: String(error.message ?? error) });
  }
};
