"use strict";
// The token lives in this page alone: a reload signs out.
const refreshPause = 2000;
const barWidth = 20;

function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit < units.length - 1; unit++) bytes /= 1024;
  return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
}

// How far a running job is, such as "[#####               ] 25 %  1 of 4 items  2.0 MiB of 8.0 MiB  1.0 MiB/s  6 s left".
function progress(job) {
  const p = job.progress;
  if (job.status !== "running" || !p) return "";
  const [done, total] = p.bytes_total ? [p.bytes_done, p.bytes_total] : [p.items_done, p.items_total];
  const share = total ? Math.min(1, done / total) : 0;
  const bar = "#".repeat(Math.floor(share * barWidth)).padEnd(barWidth);
  const words = [`[${bar}] ${Math.floor(share * 100)} %`, `${p.items_done} of ${p.items_total} items`];
  if (p.bytes_total) words.push(`${size(p.bytes_done)} of ${size(p.bytes_total)}`);
  if (p.bytes_per_second) words.push(`${size(p.bytes_per_second)}/s`);
  if (p.eta_seconds !== null) words.push(`${p.eta_seconds} s left`);
  return words.join("  ");
}

const jobLine = (j) => [j.id, j.status, j.job_type, progress(j)].filter(Boolean).join("  ");

const views = {
  jobs: ["/api/jobs", (a) => a.jobs.map(jobLine)],
  backends: ["/api/storage/backends", (a) => a.backends.map((b) => `${b.active ? "*" : " "} ${b.id}  ${b.label}`)],
  audit: ["/api/audit/verify", (a) => [`${a.count} entries, ${a.ok ? "intact" : `broken at ${a.first_broken_seq}`}`]],
};

async function show(token, id) {
  const [path, lines] = views[id];
  const answer = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
  const body = await answer.json();
  document.getElementById(id).textContent = answer.ok ? lines(body).join("\n") || "none" : JSON.stringify(body.detail);
  return answer.ok ? body : null;
}

// The list of jobs follows one that runs.
async function follow(token) {
  const body = await show(token, "jobs");
  if (body?.jobs.some((j) => j.status === "running" || j.status === "pending")) setTimeout(() => follow(token), refreshPause);
}

document.getElementById("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = await fetch("/api/auth/login", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
  const body = await answer.json();
  document.getElementById("told").textContent = answer.ok ? `signed in as ${body.username}` : body.detail;
  if (!answer.ok) return;
  await follow(body.access_token);
  for (const id of ["backends", "audit"]) await show(body.access_token, id);
  document.getElementById("views").hidden = false;
});
