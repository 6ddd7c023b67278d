/** The style of the HTML report. Status is told by words and signs; colour only repeats them. */
export const HTML_STYLE: string = `
:root { color-scheme: light dark; --text: #1c2128; --quiet: #57606a; --page: #fff; --box: #f6f8fa; --line: #d0d7de;
  --good: #116329; --bad: #a40e26; --odd: #7d4e00 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --quiet: #9ea7b3; --page: #0d1117; --box: #161b22; --line: #30363d;
    --good: #56d364; --bad: #ff8b85; --odd: #e3b341 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1rem 4rem }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .75rem }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem }
p { margin: .25rem 0 }
a { color: inherit }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, monospace }
.verdict { font-size: 1.15rem; font-weight: 600; padding: .6rem .9rem; margin: 0 0 .75rem; background: var(--box);
  border: 1px solid var(--line); border-left: 6px solid var(--odd); border-radius: 6px }
.verdict.conforms { border-left-color: var(--good) } .verdict.violations { border-left-color: var(--bad) }
.quiet, small { color: var(--quiet) }
small { font-size: .8em }
.counts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 0; padding: 0; list-style: none }
.counts li { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .5rem 1rem }
.counts b { font-size: 1.4rem; line-height: 1.2; display: block; font-variant-numeric: tabular-nums }
.reasons { margin: 0; padding-left: 1.1rem } .reasons li { margin: .35rem 0 }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line) }
th:first-child { width: 14rem } table tr:last-child > * { border-bottom: 0 }
th { font-weight: 600 }
.id { white-space: nowrap; font-variant-numeric: tabular-nums }
.clauses td.id { width: 11rem } .clauses td.status { width: 9.5rem; white-space: nowrap }
.passed { color: var(--good) } .failed { color: var(--bad); font-weight: 600 } .skipped, .known-failure { color: var(--odd) }
.not-applicable { color: var(--quiet) }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .25rem .9rem }
details[open] { padding-bottom: .6rem }
summary { cursor: pointer; padding: .35rem 0; font-weight: 600 }
dl { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: .5rem .75rem; margin: .5rem 0 0 }
dt { color: var(--quiet) } dd { margin: 0 }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; margin: 0;
  white-space: pre-wrap; overflow-wrap: anywhere }
.line { display: inline-block; padding-left: 2em; text-indent: -2em } .expected { color: var(--good) } .found { color: var(--bad) }
@media (max-width: 40rem) {
  main { padding-top: 1.25rem }
  th:first-child { width: auto }
  dl { grid-template-columns: minmax(0, 1fr); gap: .15rem } dd { margin-bottom: .6rem }
  .clauses tr { display: grid; grid-template-columns: 1fr auto; border-bottom: 1px solid var(--line); padding: .4rem 0 }
  .clauses tr:last-child { border-bottom: 0 }
  .clauses td { border: 0; padding: 0 } .clauses td.id, .clauses td.status { width: auto; font-weight: 600 }
  .clauses td:last-child { grid-column: 1 / -1 }
}
@media print { details > :not(summary) { display: revert } }
`
