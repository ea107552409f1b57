// A browser may store nothing: it blocks the data of sites, shows the page in a frame without an
// origin, or has no room left. The theme's script would end there, and with it search and the choice
// of light or dark. What it stores then lasts as long as the page; what the reader writes is
// refused as before, for kept.js to say so. Within all pages, before the first script of the theme.
(() => {
  const OURS = "backpropagation-course/";

  /** The storage of this name, if the browser has one, and what it refuses with. */
  function refusal(name) {
    let real;
    try {
      real = window[name];
      real.setItem(`${OURS}probe`, "");
      real.removeItem(`${OURS}probe`);
    } catch (error) {
      return { real, error };
    }
  }

  function standIn({ real, error }) {
    const held = new Map();
    const passOn = (what, name, ...rest) => {
      if (!real) throw error;
      return real[what](name, ...rest);
    };
    const isOurs = (name) => String(name).startsWith(OURS);
    const acts = {
      getItem: (name) => held.get(name) ?? real?.getItem(name) ?? null,
      setItem(name, value) {
        if (isOurs(name)) passOn("setItem", name, value);
        else held.set(name, String(value));
      },
      removeItem(name) {
        held.delete(name);
        if (real || isOurs(name)) passOn("removeItem", name);
      },
    };
    const get = (target, key) => acts[key] ?? Reflect.get(target, key, target);
    return new Proxy(real ?? {}, { get });
  }

  for (const name of ["localStorage", "sessionStorage"]) {
    const refused = refusal(name);
    if (!refused) continue;
    Object.defineProperty(window, name, { value: standIn(refused), configurable: true });
    document.documentElement.dataset[name] =
      refused.error.name === "QuotaExceededError" ? "full" : "denied";
  }
})();
