"use strict";
// The token lives in this page alone: a reload signs out.
const views = {
  jobs: ["/api/jobs", (a) => a.jobs.map((j) => `${j.id}  ${j.status}  ${j.job_type}`)],
  backends: ["/api/storage/backends", (a) => a.backends.map((b) => `${b.active ? "*" : " "} ${b.id}  ${b.label}`)],
  audit: ["/api/audit/verify", (a) => [`${a.count} entries, ${a.ok ? "intact" : `broken at ${a.first_broken_seq}`}`]],
};

async function show(token) {
  for (const [id, [path, lines]] of Object.entries(views)) {
    const answer = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    const body = await answer.json();
    document.getElementById(id).textContent = answer.ok ? lines(body).join("\n") || "none" : JSON.stringify(body.detail);
  }
  document.getElementById("views").hidden = false;
}

document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = await fetch("/api/auth/login", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
  const body = await answer.json();
  document.getElementById("told").textContent = answer.ok ? `signed in as ${body.username}` : body.detail;
  if (answer.ok) await show(body.access_token);
});
