import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Runs a script of this folder until it prints `done`, kills it with SIGKILL, and returns the lines before. */
export async function runUntilKilled(script: string, args: readonly string[]): Promise<string[]> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  let output = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    output += chunk
    if (output.endsWith('\ndone\n')) child.kill('SIGKILL')
  }
  const cause = await exit
  if (cause !== 'SIGKILL') throw new Error(`${script} was to be killed, but ended with ${cause}`)
  return output.trimEnd().split('\n').slice(0, -1)
}
