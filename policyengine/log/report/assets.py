"""The style and the script of the report."""

CSS = """
:root { color-scheme: light dark;
  --page: #ffffff; --card: #f7f8fa; --ink: #1b1f24; --soft: #57606a; --rule: #d5dae0; --grid: #e4e8ec;
  --tokens: #2563c9; --wash: rgba(37, 99, 201, 0.10); --fast: #12805c; --primary: #2563c9; --fallback: #b3402a;
  --warn: #9a6700; --auto: #c4530c; --hard: #b42318; --compaction: #7a3fc4; --tip: #0b7a8a; --gate: #3d444d;
  --muted: #8b949e; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {
  --page: #14171b; --card: #1c2127; --ink: #e8ebee; --soft: #a3adb8; --rule: #363d46; --grid: #2a3038;
  --tokens: #6ea8ff; --wash: rgba(110, 168, 255, 0.14); --fast: #45c08f; --primary: #6ea8ff; --fallback: #f08a70;
  --warn: #e3b341; --auto: #f0883e; --hard: #ff7b72; --compaction: #b794f6; --tip: #4fc3d5; --gate: #c9d1d9;
  --muted: #79828c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
p { margin: .25rem 0 .75rem; color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .75rem; margin: 1rem 0 2rem; }
dl div { background: var(--card); border-radius: 8px; padding: .6rem .8rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; font-size: 1.25rem; font-weight: 600; white-space: nowrap; }
section { border-top: 1px solid var(--rule); padding: 1.25rem 0; break-inside: avoid; }
.chart { width: 100%; }
details { margin-top: .5rem; } summary { cursor: pointer; color: var(--soft); }
.scroll { overflow-x: auto; max-height: 26rem; overflow-y: auto; }
table { border-collapse: collapse; font-size: .875rem; margin-top: .5rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } td.n, th.n { text-align: right; }
footer { color: var(--soft); font-size: .85rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
@media print { body { font-size: 11pt; } main { max-width: none; padding: 0; } summary { list-style: none; }
  .scroll { max-height: none; overflow: visible; } .modebar { display: none; } }
"""

JS = """
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const config = { responsive: true, displaylogo: false, displayModeBar: false };
  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const filled = value => typeof value === "string" ? value.replace(/var\\((--[a-z]+)\\)/g, (_, name) => css(name))
    : Array.isArray(value) ? value.map(filled)
    : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, filled(v)]))
    : value;
  const axis = own => ({ gridcolor: "var(--grid)", linecolor: "var(--rule)", zerolinecolor: "var(--rule)",
    automargin: true, fixedrange: true, ...own });
  const draw = () => charts.forEach(chart => {
    const narrow = document.getElementById(chart.id).clientWidth < 520;
    const layout = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", height: chart.height,
      font: { color: "var(--ink)", family: "system-ui, sans-serif", size: narrow ? 11 : 13 }, hovermode: "closest",
      margin: { l: narrow ? 40 : 60, r: 12, t: chart.layout.showlegend === false ? 12 : 36, b: 44 }, separators: ". ",
      hoverlabel: { bgcolor: "var(--card)", bordercolor: "var(--rule)", font: { color: "var(--ink)" } },
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" }, ...chart.layout,
      xaxis: axis(chart.layout.xaxis), yaxis: axis(chart.layout.yaxis) };
    Plotly.react(chart.id, filled(chart.traces), filled(layout), config);
  });
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const root = document.documentElement;
  let opened = [];
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach(one => { one.open = true; });
    draw();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.theme;
    opened.forEach(one => { one.open = false; });
    draw();
  });
  root.dataset.drawn = String(charts.length);
})();
"""
