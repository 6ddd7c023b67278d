/** Which objects JSON gives back as they were. */

/**
 * True for the prototypes of plain objects and arrays. Those of another realm count as well: test runners and `vm`
 * contexts mix realms, and the values of built-in APIs then carry the outer one's prototypes.
 */
export function isPlainPrototype(value: object, own: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === own) return true
  if (prototype === null) return own === Object.prototype
  if (typeof prototype !== 'object' || prototype === null) return false
  const root: unknown = Object.getPrototypeOf(prototype)
  if (own === Object.prototype) return root === null && isForeignIntrinsic(prototype, 'Object')
  return (
    typeof root === 'object' &&
    root !== null &&
    Array.isArray(prototype) &&
    isForeignIntrinsic(prototype, 'Array') &&
    isForeignIntrinsic(root, 'Object')
  )
}

function isForeignIntrinsic(prototype: object, name: 'Object' | 'Array'): boolean {
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  // ECMA-262 fixes the source text of intrinsics; a class of the same name shows its body, a bound function no name.
  return (
    typeof maker === 'function' && Function.prototype.toString.call(maker) === `function ${name}() { [native code] }`
  )
}
