"use strict";
const byId = (id) => document.getElementById(id);
let newest = 0;  // an answer that is no longer waited for is not shown

function say(text, bad) {
  byId("status").textContent = text;
  byId("status").classList.toggle("bad", Boolean(bad));
}

function show(alternatives) {
  const rows = alternatives.map(({ text, score }) => {
    const row = document.createElement("tr");
    for (const value of [text, score === null ? "" : score.toFixed(3)]) {
      row.appendChild(document.createElement("td")).textContent = value;
    }
    return row;
  });
  byId("answers").querySelector("tbody").replaceChildren(...rows);
  byId("answers").hidden = false;
}

async function ask(text, alternatives) {
  const headers = { "Content-Type": "application/json" };
  if (byId("token").value) headers.Authorization = "Bearer " + byId("token").value;
  const answer = await fetch("translate", { method: "POST", headers, body: JSON.stringify({ text, alternatives }) });
  if (answer.status === 401) {
    for (const part of document.querySelectorAll(".secret")) part.hidden = false;
    byId("token").focus();
  }
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

async function translate() {
  const own = ++newest;
  const text = byId("source").value.trim();
  if (!text) return say("Type a sentence first.");
  say("Translating …");
  byId("translate").disabled = true;
  const start = performance.now();
  try {
    const body = await ask(text, Number(byId("alternatives").value) || 1);
    if (own !== newest) return;
    show(body.alternatives);
    say(`${Math.round(performance.now() - start)} ms`);
  } catch (error) {
    if (own === newest) say(error.message || "The server does not answer.", true);
  } finally {
    if (own === newest) byId("translate").disabled = false;
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  translate();
});
byId("source").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) translate();
});
