// How the report looks (report_html.h).
#pragma once

#include <string_view>

namespace anesi {

inline constexpr std::string_view kReportStyle = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59626e; --line: #d6dbe1; --tint: #f4f6f8; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --ink: #e6e9ed; --soft: #9fa8b3; --line: #343a42; --tint: #1d2127; --accent: #7ab8f5; }
  .series-0 { stroke: #4aa8e8; fill: #4aa8e8; } .series-1 { stroke: #f08a3c; fill: #f08a3c; } .series-2 { stroke: #2fc79b; fill: #2fc79b; }
  .series-3 { stroke: #e3a1c6; fill: #e3a1c6; } .series-4 { stroke: #f2b73a; fill: #f2b73a; } .series-5 { stroke: #8fd0f5; fill: #8fd0f5; }
  .chart-band { stroke: none; } .chart-paper { fill: #14171b; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main, footer { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; padding-top: .8rem; border-top: 2px solid var(--ink); overflow-wrap: anywhere; }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .5rem; }
p { margin: .5rem 0; max-width: 50rem; }
a { color: var(--accent); }
.lead { font-size: 1.08rem; }
.soft, figcaption, caption { color: var(--soft); }
.note { border-left: 4px solid var(--ink); background: var(--tint); padding: .5rem .8rem; }
nav ul { list-style: none; padding: 0; margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0; padding: 0; }
.tiles div { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; background: var(--tint); }
.tiles dt { color: var(--soft); font-size: .85rem; } .tiles dd { margin: 0; font-size: 1.45rem; font-variant-numeric: tabular-nums; white-space: nowrap; } .tiles span { font-size: .95rem; color: var(--soft); }
.charts > section { min-width: 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1.2rem 2rem; align-items: start; }
figure { margin: .6rem 0; break-inside: avoid; }
figcaption { font-size: .92rem; margin-bottom: .3rem; } figcaption b { color: var(--ink); }
.chart { display: block; width: 100%; max-width: 36rem; height: auto; }
.scroll { overflow-x: auto; max-width: 100%; }
.machine { background: #fff; border: 1px solid var(--line); max-width: none; height: auto; display: block; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; margin: .5rem 0; }
caption { text-align: left; padding: .2rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--ink); vertical-align: bottom; } .runs tbody th { white-space: nowrap; }
td.number, th.number { text-align: right; } td.number { white-space: nowrap; }
tr.total th, tr.total td { border-top: 2px solid var(--ink); font-weight: 600; }
td.word { overflow-wrap: anywhere; min-width: 8rem; }
details { margin: .5rem 0; } summary { cursor: pointer; color: var(--accent); }
code, pre { font: .86rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; } th code { white-space: nowrap; }
pre { background: var(--tint); padding: .6rem .8rem; border-radius: .4rem; overflow-x: auto; margin: .4rem 0; }
.mistakes { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem; align-items: start; }
.mistakes > li { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; min-width: 0; break-inside: avoid; }
.mistakes h3 { margin: 0 0 .4rem; }
.mistakes img { background: #fff; padding: 6px; border-radius: 4px; max-width: calc(100% - 14px); max-height: 28rem; image-rendering: pixelated; border: 1px solid var(--line); box-sizing: content-box; }
.mistakes img[width] { height: auto; }
footer { padding: 2rem 1.25rem 3rem; }
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #333; --line: #999; --tint: #fff; --accent: #000; }
  body { font-size: 10.5pt; } nav, details:not([open]) { display: none; } .chart { max-width: 12cm; } h2 { break-after: avoid; } a { text-decoration: none; }
}
)css";

}  // namespace anesi
