/** The style of the HTML report. Status is told by words and signs; colour only repeats them. */
export const HTML_STYLE: string = `
:root { color-scheme: light dark; --text: #1c2128; --quiet: #57606a; --page: #fff; --box: #f6f8fa; --line: #d0d7de;
  --good: #116329; --bad: #a40e26; --odd: #7d4e00 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --quiet: #9ea7b3; --page: #0d1117; --box: #161b22; --line: #30363d;
    --good: #56d364; --bad: #ff8b85; --odd: #e3b341 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { font-size: 1.6rem; margin: 0 0 .25rem }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem }
p { margin: .25rem 0 }
.verdict { font-size: 1.15rem; font-weight: 600 }
.quiet { color: var(--quiet) }
.counts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; padding: 0; list-style: none }
.counts li { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .5rem 1rem }
.counts b { font-size: 1.4rem; display: block; font-variant-numeric: tabular-nums }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 600; white-space: nowrap }
td.id, td.status { white-space: nowrap; font-variant-numeric: tabular-nums }
.passed { color: var(--good) } .failed { color: var(--bad); font-weight: 600 } .skipped, .known-failure { color: var(--odd) }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .25rem .9rem }
details[open] { padding-bottom: .9rem }
summary { cursor: pointer; padding: .35rem 0; font-weight: 600 }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow-x: auto;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
`
