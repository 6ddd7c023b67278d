/** How the page looks, by role, for light and for dark. Text has a contrast of at least 4.5 on its ground. */
export const PAGE_STYLE = `
  :root {
    color-scheme: light dark;
    --paper: #ffffff; --ink: #1c2024; --quiet: #56616b; --line: #d9dfe4; --track: #eef1f4;
    --bar: #2f6f9f; --bar-light: #7fabca; --reference: #a9b4be; --goal: #b3400a; --good: #1a6b3c;
    --good-ground: #e6f4ea; --bad-ground: #fdeae1; --unsure-ground: #fdf6d8;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --paper: #14181c; --ink: #e6eaee; --quiet: #a2aeb9; --line: #333c45; --track: #222930;
      --bar: #5c9fd6; --bar-light: #34638b; --reference: #5f6b76; --goal: #f3a26b; --good: #7fd3a1;
      --good-ground: #16301f; --bad-ground: #3a2113; --unsure-ground: #352f14;
    }
  }
  body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 64rem; background: var(--paper); color: var(--ink);
    font: 16px/1.5 system-ui, sans-serif; }
  h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; }
  h2 { font-size: 1.3rem; margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 2px solid var(--line); }
  h3 { font-size: 1rem; font-weight: 600; margin: 1.75rem 0 .5rem; }
  p { margin: .4rem 0; }
  .quiet { color: var(--quiet); font-size: .93rem; }
  nav { margin: 1.25rem 0 0; font-size: .95rem; line-height: 2; }
  nav a { color: inherit; margin-right: 1rem; text-underline-offset: .2em; white-space: nowrap; }
  .verdicts { display: flex; gap: 2.25rem; flex-wrap: wrap; margin: 1.25rem 0; color: var(--quiet); }
  .verdicts strong { display: block; font-size: 2rem; line-height: 1.2; color: var(--ink); font-variant-numeric: tabular-nums; }
  .scroll { overflow-x: auto; margin: .5rem 0; }
  table { border-collapse: collapse; width: 100%; font-size: .9rem; }
  th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
  th { color: var(--quiet); font-weight: 500; }
  th[scope=row] { color: var(--ink); font-weight: 400; }
  .goals td { padding: .35rem .6rem; font-variant-numeric: tabular-nums; min-width: 6.5rem; }
  .goals thead th { padding-left: .6rem; }
  .goals th[scope=row] { min-width: 8rem; position: sticky; left: 0; background: var(--paper); }
  .goals b { font-weight: 600; white-space: nowrap; }
  .goals small { display: block; color: var(--quiet); font-size: .85em; line-height: 1.35; }
  .goals .reached { background: var(--good-ground); }
  .goals .missed { background: var(--bad-ground); }
  .goals .unclear { background: var(--unsure-ground); }
  .nothing { color: var(--quiet); }
  .warning { border-left: 4px solid var(--goal); padding: .25rem 0 .25rem 1rem; }
  details { margin-top: .4rem; }
  summary { cursor: pointer; color: var(--quiet); font-size: .88rem; }
  @media print { details, nav { display: none; } }
`
