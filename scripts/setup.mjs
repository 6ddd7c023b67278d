// Makes a clone ready to run: a Node that is new enough, the dependencies, the build. Quick when there is nothing to do.
import { pathToFileURL } from 'node:url'
import { install } from './install.mjs'
import { pruneBuilds } from './prune-builds.mjs'
import { runCommand } from './run-command.mjs'

const oldestNode = { major: 20, minor: 19 } // the first release line in which require() loads ESM packages

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > oldestNode.major || (major === oldestNode.major && minor >= oldestNode.minor)) return
  throw new Error(`Node ${oldestNode.major}.${oldestNode.minor} or newer is needed; this is ${process.version}`)
}

async function build() {
  pruneBuilds()
  const { ok, output } = await runCommand('turbo', ['run', 'build', '--output-logs=errors-only', '--ui=stream'])
  if (!ok) throw new Error(`the build failed\n\n${output}`)
}

export async function setUp() {
  checkNode()
  await install()
  await build()
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await setUp().catch((error) => {
    console.error(`Setting up failed: ${error.message}`)
    process.exitCode = 1
  })
}
