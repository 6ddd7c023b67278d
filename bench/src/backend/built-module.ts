/** Address of a backend's built module, also from its source: other processes import it, and plain Node runs no TypeScript. */
export function builtModule(name: string): string {
  return new URL(`../../dist/backend/${name}.js`, import.meta.url).href
}
