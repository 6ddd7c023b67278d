import { isPlainPrototype } from './plain-prototype.ts'

/** Short texts by name, as a harness files its sessions. */
export type Labels = { readonly [name: string]: string }

/**
 * A frozen copy of a plain object of strings; undefined for everything that JSON would not give back as it was (a Map,
 * a Date, symbol keys, accessors), and for a proxy that throws.
 */
export function plainLabels(value: unknown): Labels | undefined {
  try {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    if (!isPlainPrototype(value, Object.prototype)) return undefined
    const labels: [string, string][] = []
    for (const key of Reflect.ownKeys(value)) {
      const field = Object.getOwnPropertyDescriptor(value, key)
      if (typeof key !== 'string' || field?.enumerable !== true || typeof field.value !== 'string') return undefined
      labels.push([key, field.value])
    }
    // `fromEntries` defines properties, so that a label may be named `__proto__`.
    return Object.freeze(Object.fromEntries(labels))
  } catch {
    return undefined
  }
}
