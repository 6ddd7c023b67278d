import fc from 'fast-check'

/** One step of a generated workload. Any command may come at any time: where it cannot succeed, its refusal is known. */
export type WorkloadCommand = { readonly id: string; readonly handle: number } & (
  | {
      readonly do:
        | 'create'
        | 'resume'
        | 'flush'
        | 'close'
        | 'abandon'
        | 'delete'
        | 'fork'
        | 'verify'
        | 'reopen'
        | 'list'
    }
  | { readonly do: 'annotate'; readonly text: string }
  | { readonly do: 'append'; readonly what: 'turn' | 'group' | 'open-turn' | 'message'; readonly text: string }
  | { readonly do: 'read'; readonly from: number; readonly count: number; readonly reverse: boolean }
)

/** Few ids, so that commands meet. */
const id = fc.constantFrom('a', 'b', 'c')
const text = fc.string({ unit: 'binary', maxLength: 24 })

/** How often each command comes: what makes logs grow comes most. */
function command(handles: number): fc.Arbitrary<WorkloadCommand> {
  const handle = fc.nat(handles - 1)
  const plain = (
    ...names: readonly (
      | 'create'
      | 'resume'
      | 'flush'
      | 'close'
      | 'abandon'
      | 'delete'
      | 'fork'
      | 'verify'
      | 'reopen'
      | 'list'
    )[]
  ) => fc.record({ do: fc.constantFrom(...names), id, handle })
  const append = fc.record({
    do: fc.constant('append' as const),
    id,
    handle,
    what: fc.constantFrom('turn' as const, 'group' as const, 'open-turn' as const, 'message' as const),
    text,
  })
  const read = fc.record({
    do: fc.constant('read' as const),
    id,
    handle,
    from: fc.nat(40),
    count: fc.nat(60),
    reverse: fc.boolean(),
  })
  const annotate = fc.record({ do: fc.constant('annotate' as const), id, handle, text })
  return fc.oneof(
    { weight: 8, arbitrary: append },
    { weight: 4, arbitrary: plain('create', 'resume') },
    { weight: 3, arbitrary: plain('flush', 'close') },
    { weight: 3, arbitrary: read },
    { weight: 2, arbitrary: plain('abandon', 'delete', 'fork') },
    { weight: 2, arbitrary: plain('reopen', 'list', 'verify') },
    { weight: 1, arbitrary: annotate },
  )
}

/** Workloads for so many handles on one medium. */
export function workloads(handles: number, commandsMax = 30): fc.Arbitrary<readonly WorkloadCommand[]> {
  return fc.array(command(handles), { minLength: 3, maxLength: commandsMax })
}

/** Short, for a failure message: `create a, append a turn, close a`. */
export function workloadText(commands: readonly WorkloadCommand[]): string {
  const handles = new Set(commands.map(({ handle }) => handle)).size
  return commands
    .map((one) => {
      const through = handles > 1 ? ` by handle ${one.handle + 1}` : ''
      if (one.do === 'reopen' || one.do === 'list') return `${one.do}${through}`
      return `${one.do} ${one.id}${one.do === 'append' ? ` (${one.what})` : ''}${through}`
    })
    .join(', ')
}
