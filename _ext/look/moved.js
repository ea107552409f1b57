// A link to what has moved leads to its new place.
(() => {
  const moved = JSON.parse(document.getElementById("moved-anchors").textContent);

  const lead = () => {
    const anchor = decodeURIComponent(location.hash.slice(1));
    if (Object.hasOwn(moved, anchor) && !document.getElementById(anchor))
      location.replace(moved[anchor]);
  };
  addEventListener("hashchange", lead);
  lead();
})();
