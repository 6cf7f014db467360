// Convenience only: the page says everything without it.
document.querySelectorAll("[hidden].script").forEach((tool) => { tool.hidden = false; });
document.getElementById("find").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  document.querySelectorAll("#remarks tbody tr").forEach((row) => {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
});
