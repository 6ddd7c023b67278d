// Makes one module of the package in the current directory, beside the declarations that the compiler wrote: whoever imports it
// opens one file in the place of a hundred, which takes half the time. The build of each library runs it.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const directory = process.cwd()
const dist = join(directory, 'dist')

// What an earlier build left: all JavaScript here is the bundle's.
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (/\.js(\.map)?$/.test(entry.name)) rmSync(join(entry.parentPath, entry.name))
}

const build = await rolldown({
  input: join(directory, 'src', 'index.ts'),
  platform: 'node',
  transform: { target: 'node20' },
  // Other packages stay what their own versions are; only what the compiler needs for old syntax comes in.
  external: /^(?!@oxc-project\/)[@\w](?!:)/,
  onLog(level, log, report) {
    report(level === 'warn' ? 'error' : level, log)
  },
})
await build.write({ dir: dist, format: 'esm', sourcemap: true })
await build.close()
