import type { SourceRecord } from '../source/decode-line.ts'
import { isCount, isRecord } from '../source/record-fields.ts'
import type { DshContext, DshEntry } from './dsh-context.ts'
import { withHeaderDelta } from './request-header.ts'

/** Request environment, title, to-dos and compactions. Each returns false when the record is to be kept whole. */

export function requestHeader(context: DshContext, entry: DshEntry, header: SourceRecord | undefined): boolean {
  if (header === undefined) return false
  const { config, system, tools, ...others } = header
  const model = isRecord(config) ? config.model : undefined
  if (typeof model !== 'string') return false
  context.header = header
  const more = Object.keys(others).length === 0 ? {} : { header: others }
  const data = {
    ...context.log.place.inTurn,
    model,
    config,
    ...(system !== undefined && { system }),
    ...(tools !== undefined && { tools }),
    ...context.imported(entry, more),
  }
  return context.added(entry, context.log.add('request/header', data, entry.when, entry.options))
}

/** Becomes a full snapshot, as core's header always is; the delta itself stays beside it. */
export function requestHeaderDelta(context: DshContext, entry: DshEntry): boolean {
  const delta = entry.fields.rest()
  const header = context.header && delta && withHeaderDelta(context.header, delta)
  return header === undefined ? context.added(entry, undefined) : requestHeader(context, entry, header)
}

export function requestContext(context: DshContext, entry: DshEntry): boolean {
  const { fields } = entry
  context.dropPlace(entry)
  const facts = fields.rest() ?? {}
  const window = facts.contextWindow
  if ((window !== undefined && !isCount(window)) || ['turn', 'step', 'imported'].some((name) => name in facts))
    return false
  const rest = Object.keys(entry.envelope).length === 0 ? {} : { imported: { record: entry.envelope } }
  const data = { ...context.log.place.inTurn, ...facts, ...rest } as { readonly [fact: string]: unknown }
  return context.added(entry, context.log.add('request/context', data, entry.when, entry.options))
}

export function title(context: DshContext, entry: DshEntry): boolean {
  const { fields, when } = entry
  const title = fields.string('title')
  if (title === undefined) return false
  const given = fields.peek('source')
  const source = isRecord(given) && typeof given.kind === 'string' ? given.kind : undefined
  if (isRecord(given) && source !== undefined && Object.keys(given).length === 1) fields.take('source')
  const seqs = fields.peek('messageSeqs')
  const found = Array.isArray(seqs) ? context.seqs.ranges(seqs) : undefined
  if (found?.missing.length === 0) fields.take('messageSeqs')
  const data = { title, ...(source !== undefined && { source }), ...context.imported(entry) }
  const seq = context.log.add('session/title', data, when, { sources: found?.ranges ?? [] })
  return context.added(entry, seq)
}

export function todos(context: DshContext, entry: DshEntry): boolean {
  const todos = entry.fields.peek('todos')
  if (!Array.isArray(todos)) return false
  entry.fields.take('todos')
  context.dropPlace(entry)
  const data = { ...context.log.place.inTurn, todos, ...context.imported(entry) }
  return context.added(entry, context.log.add('todo/write', data, entry.when, entry.options))
}

export function compaction(context: DshContext, entry: DshEntry): boolean {
  const { fields, when } = entry
  context.dropPlace(entry)
  const id = fields.string('compactionId')
  const place = { ...context.log.place.inTurn, ...(id !== undefined && { compactionId: id }) }
  if (String(entry.record.type).endsWith('/start')) {
    return context.added(entry, context.log.add('compaction/start', { ...place, ...context.imported(entry) }, when))
  }
  const outcome = fields.peek('error') === undefined ? 'completed' : 'failed'
  return context.added(
    entry,
    context.log.add('compaction/end', { ...place, outcome, ...context.imported(entry) }, when),
  )
}
