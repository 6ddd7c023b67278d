/**
 * The committed baseline, and what may differ from it. Counts are exact and the same on every machine; CPU ratios and
 * peaks of memory are compared only on the platform, Node line and kind of processor that they were taken on.
 */

import fs from 'node:fs'
import os from 'node:os'

export interface GateMetric {
  /** `count`: calls, syncs, bytes. `cpu`: CPU time as a ratio to a reference in the same rounds. `memory`: peak, in MB. */
  readonly kind: 'count' | 'cpu' | 'memory'
  readonly value: number
}

export interface Baseline {
  readonly format: 'session-persistence-bench-baseline'
  readonly version: 1
  /** What CPU ratios and peaks depend on: `linux x64, Node 20, processor 25/1`. */
  readonly platform: string
  readonly metrics: { readonly [name: string]: GateMetric }
}

/**
 * Most that a value may be above its baseline, as a factor. Counts have no noise: a hundredth covers what the width of
 * a number does to bytes. CPU ratios: below what a slowdown of 1.3 measures as (1.23 and more); what one day and machine
 * differ from another by (up to 1.2) is settled beside the code of the baseline, where that can be had. Peaks of the same
 * code differ by one or two percent.
 */
export const TOLERANCE: Tolerance = {
  count: 1.01,
  cpu: 1.2,
  memory: 1.08,
}

/** Where the code that the baseline was taken of is measured in turn: what the machine does to one it does to the other. */
export const TOLERANCE_BESIDE: Tolerance = { ...TOLERANCE, cpu: 1.15 }

export type Tolerance = { readonly [kind in GateMetric['kind']]: number }

export type Finding =
  | ChangeFinding<'worse'>
  /** So much better that the baseline no longer guards it. */
  | ChangeFinding<'better'>
  /** In the baseline and not measured: a metric that vanishes must not pass. */
  | { readonly kind: 'missing'; readonly metric: string }
  | { readonly kind: 'new'; readonly metric: string; readonly value: number }
  /** Taken on another platform. */
  | { readonly kind: 'incomparable'; readonly metric: string }

export interface ChangeFinding<Kind extends string> {
  readonly kind: Kind
  readonly metric: string
  readonly baseline: number
  readonly value: number
  /** Factor of the baseline up to which nothing would have been found. */
  readonly tolerance: number
}

export function compareToBaseline(
  baseline: Baseline,
  platform: string,
  measured: ReadonlyMap<string, GateMetric>,
  tolerances: Tolerance = TOLERANCE,
): readonly Finding[] {
  const findings: Finding[] = []
  for (const [metric, { kind, value: expected }] of Object.entries(baseline.metrics)) {
    const found = measured.get(metric)
    const tolerance = tolerances[kind]
    if (kind !== 'count' && platform !== baseline.platform) findings.push({ kind: 'incomparable', metric })
    else if (found === undefined) findings.push({ kind: 'missing', metric })
    else if (found.value > expected * tolerance) {
      findings.push({ kind: 'worse', metric, baseline: expected, value: found.value, tolerance })
    } else if (found.value * tolerance < expected) {
      findings.push({ kind: 'better', metric, baseline: expected, value: found.value, tolerance })
    }
  }
  for (const [metric, { value }] of measured) {
    if (baseline.metrics[metric] === undefined) findings.push({ kind: 'new', metric, value })
  }
  return findings
}

/** What is nearer to its limit than to its baseline: one measurement cannot tell which it is. */
export function doubtfulMetrics(
  baseline: Baseline,
  platform: string,
  measured: ReadonlyMap<string, GateMetric>,
  tolerances: Tolerance = TOLERANCE,
): readonly string[] {
  return Object.entries(baseline.metrics)
    .filter(([metric, { kind, value }]) => {
      if (kind !== 'count' && platform !== baseline.platform) return false
      return (measured.get(metric)?.value ?? 0) > value * Math.sqrt(tolerances[kind])
    })
    .map(([metric]) => metric)
}

/** The part of a baseline whose metrics are meant. */
export function partOf(baseline: Baseline, isMeant: (metric: string) => boolean): Baseline {
  const kept = Object.entries(baseline.metrics).filter(([metric]) => isMeant(metric))
  return { ...baseline, metrics: Object.fromEntries(kept) }
}

/** What must not land. */
export function isViolation(finding: Finding): boolean {
  return finding.kind === 'worse' || finding.kind === 'missing'
}

export function platformName(): string {
  return `${process.platform} ${process.arch}, Node ${process.versions.node.split('.')[0]}, ${processorName()}`
}

/** By family and model where the kernel tells them: marketing names are shared by processors that differ twofold. */
function processorName(): string {
  try {
    const facts = fs.readFileSync('/proc/cpuinfo', 'utf8')
    const [, family] = /^cpu family\s*:\s*(\d+)$/m.exec(facts) ?? []
    const [, model] = /^model\s*:\s*(\d+)$/m.exec(facts) ?? []
    if (family !== undefined && model !== undefined) return `processor ${family}/${model}`
  } catch {
    // Not on this system.
  }
  return `processor ${os.cpus()[0]?.model.trim() ?? 'unknown'}`
}
