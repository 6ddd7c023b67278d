import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string }

/** Version of this kit, for reports. */
export const KIT_VERSION: string = manifest.version
