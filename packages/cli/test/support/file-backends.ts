import { BACKENDS } from 'session-persistence'

/** Schemes of the backends that keep files, but for what this machine could not install. */
export const fileSchemes: readonly string[] = await available()

async function available(): Promise<string[]> {
  const files = BACKENDS.filter(({ place }) => place !== '')
  const states = await Promise.all(files.map((backend) => backend.availability()))
  return files.filter((_, index) => states[index]?.available).map(({ scheme }) => scheme)
}

/** Of a test that needs one backend: what to say where it is missing. */
export const isPresent = (scheme: string): boolean => fileSchemes.includes(scheme)
