// A range of lines in the address, such as #L12-L20, is marked and shown.
const show = () => {
  for (const line of document.querySelectorAll(".hit")) line.classList.remove("hit");
  const range = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  if (!range) return;
  const first = Number(range[1]), last = Math.min(Number(range[2] ?? first), first + 2000);
  for (let number = first; number <= last; number += 1) document.getElementById(`L${number}`)?.classList.add("hit");
  document.getElementById(`L${first}`)?.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", show);
show();
