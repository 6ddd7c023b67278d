import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { HeadReceipt } from 'session-persistence'
import type { AgentProcessNews, AgentProcessOptions } from './agent-process.ts'

/** What is known of process A once it is dead. */
export interface InterruptedAgent {
  readonly id: string
  readonly pid: number
  readonly signal: 'SIGKILL'
  /** The last receipt that it told of: everything up to there must be found again. */
  readonly acknowledged: HeadReceipt
  /** Tools that were running. */
  readonly running: readonly string[]
}

const main = fileURLToPath(new URL('../main.js', import.meta.url))
const deadlineMs = 60_000

/**
 * Starts process A, waits until `hold.length` tools are running and `results` tool results are durable, calls
 * `whileItRuns`, and kills it with SIGKILL.
 */
export async function interruptAgent(
  options: AgentProcessOptions & { readonly results: number; readonly signal: AbortSignal },
  whileItRuns: (id: string) => Promise<void>,
): Promise<InterruptedAgent> {
  const { location, reports, hold } = options
  const child = spawn(process.execPath, [main, 'tour-agent', JSON.stringify({ location, reports, hold })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<string>((resolve) => {
    child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.on('error', (error) => resolve(error.message))
  })
  const deadline = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
  const onAbort = (): void => void child.kill('SIGKILL')
  options.signal.addEventListener('abort', onAbort, { once: true })
  try {
    const state = await followNews(
      child,
      ({ running, results }) => running.length === hold.length && results >= options.results,
    )
    if (state === undefined) throw new Error(`the first process ended too early (${await exit})`)
    await whileItRuns(state.id)
    child.kill('SIGKILL')
    const cause = await exit
    if (cause !== 'SIGKILL') throw new Error(`the first process was to be killed, but ended with ${cause}`)
    return { ...state, pid: child.pid ?? 0, signal: cause }
  } finally {
    clearTimeout(deadline)
    options.signal.removeEventListener('abort', onAbort)
    child.kill('SIGKILL')
    await exit
    options.signal.throwIfAborted()
  }
}

interface News {
  readonly id: string
  readonly acknowledged: HeadReceipt
  readonly running: readonly string[]
  readonly results: number
}

/** Reads the child's lines until `reached`; undefined when it ended before. */
async function followNews(child: ChildProcess, reached: (news: News) => boolean): Promise<News | undefined> {
  let news: News = { id: '', acknowledged: { seq: -1, crc: '00000000' }, running: [], results: 0 }
  let rest = ''
  for await (const chunk of child.stdout?.setEncoding('utf8').iterator({ destroyOnReturn: false }) ?? []) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) news = withNews(news, JSON.parse(line))
    if (reached(news)) return news
  }
  return undefined
}

function withNews(before: News, news: AgentProcessNews): News {
  switch (news.kind) {
    case 'started':
      return { ...before, id: news.id }
    case 'held':
      return { ...before, running: [...before.running, news.tool] }
    case 'durable': {
      const { seq, crc, results } = news
      return { ...before, acknowledged: { seq, crc }, results: Math.max(before.results, results) }
    }
  }
}
