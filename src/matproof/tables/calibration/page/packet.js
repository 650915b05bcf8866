"use strict";
{
  const form = document.getElementById("form");
  const said = document.getElementById("said");
  let saved = true;
  form.addEventListener("input", () => { saved = false; said.textContent = ""; });
  window.addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const rater = document.getElementById("rater").value.trim();
    if (!rater) { said.textContent = "Please fill in your code."; return; }
    const grade = { packet: form.dataset.packet, sample: form.dataset.sample, rater };
    for (const field of form.querySelectorAll("fieldset")) {
      const chosen = field.querySelector("input:checked");
      if (!chosen) { said.textContent = `Please choose: ${field.dataset.scale.replaceAll("_", " ")}.`; return; }
      grade[field.dataset.scale] = chosen.value === "" ? null : Number(chosen.value);
    }
    grade.notes = document.getElementById("notes").value;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(grade, null, 2) + "\n"], { type: "application/json" }));
    link.download = `${form.dataset.packet}-${rater.replace(/[^\w-]+/g, "_")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    saved = true;
    said.textContent = "Saved in your downloads. Send that file back.";
  });
}
