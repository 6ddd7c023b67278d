import type { ConformanceReport } from './conformance-report.ts'
import { levelShortfall } from './level-shortfall.ts'

/** Width of one character of 11 px Verdana, on average; exact enough for a few words. */
const CHARACTER_PX = 7
const PADDING_PX = 7

/** What the badge says of a run: the level reached, or that there is none. */
export function badgeText(report: ConformanceReport): string {
  const known = report.results.filter(({ status }) => status === 'known-failure').length
  const suffix = known === 0 ? '' : `, ${known} known failure${known === 1 ? '' : 's'}`
  const shortfall = levelShortfall(report)
  switch (report.outcome) {
    case 'harness-error':
      return 'no verdict'
    case 'nothing-ran':
      return 'nothing ran'
    case 'violations':
      return `failing${report.reached === 'none' ? '' : `, ${report.reached} reached`}`
    case 'conforms':
      return `${report.reached}${shortfall === undefined ? '' : `; ${shortfall.words}`}${suffix}`
  }
}

/** A badge that names the level reached, as one SVG that loads nothing. The words tell everything; colour repeats it. */
export function badge(report: ConformanceReport): string {
  const [label, value] = ['session-persistence', badgeText(report)]
  const [left, right] = [label, value].map((text) => text.length * CHARACTER_PX + 2 * PADDING_PX) as [number, number]
  const colour = report.outcome !== 'conforms' ? '#b42318' : report.reached === 'none' ? '#8a6100' : '#1b6e3c'
  const title = `${label}: ${value}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">`,
    `  <title>${title}</title>`,
    `  <rect width="${left}" height="20" fill="#3d444d"/>`,
    `  <rect x="${left}" width="${right}" height="20" fill="${colour}"/>`,
    '  <g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-anchor="middle">',
    `    <text x="${left / 2}" y="14" textLength="${left - 2 * PADDING_PX}">${label}</text>`,
    `    <text x="${left + right / 2}" y="14" textLength="${right - 2 * PADDING_PX}">${value}</text>`,
    '  </g>',
    '</svg>',
    '',
  ].join('\n')
}
