// Only where `matproof serve` shows the site: tells when the results have changed, and reloads on request.
const bar = document.getElementById("live");
if (bar) {
  let version = null;
  const ask = async () => {
    try {
      const answer = await fetch("/-/state", { cache: "no-store" });
      const state = await answer.json();
      version ??= state.version;
      if (state.version !== version) bar.hidden = false;
    } catch {
      // The server has ended, or the machine sleeps: the page stays as it is.
    }
  };
  bar.querySelector("button").addEventListener("click", () => location.reload());
  setInterval(ask, 3000);
  ask();
}
