/**
 * Plain text of a message in any of the shapes that the core formats use. The names of their parts do not collide, so
 * one reader serves all of them, and logs that mix shapes too.
 */

/** Parts inside parts: no provider nests a tool result in a tool result, so this is far beyond what is real. */
const NESTING_MAX = 16

type Part = { readonly [key: string]: unknown }

/**
 * The text that a person would read: text parts and what tools returned, separated by line feeds. Reasoning, calls,
 * images and everything unknown are left out. Never throws.
 */
export function messageText(message: unknown): string {
  return textOf(message, 0).join('\n')
}

function textOf(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null || depth > NESTING_MAX) return []
  if (Array.isArray(value)) return value.flatMap((part) => textOf(part, depth + 1))
  const part = value as Part
  switch (own(part, 'type')) {
    case undefined:
    case 'message':
      return [
        ...textOf(own(part, 'content') ?? own(part, 'parts') ?? own(part, 'text'), depth + 1),
        ...textOf(own(part, 'refusal'), depth + 1),
      ]
    case 'text':
    case 'input_text':
    case 'output_text':
      return textOf(own(part, 'text'), depth + 1)
    case 'refusal':
      return textOf(own(part, 'refusal'), depth + 1)
    case 'tool_result':
      return textOf(own(part, 'content'), depth + 1)
    case 'function_call_output':
      return textOf(own(part, 'output'), depth + 1)
    case 'tool-result':
      return [
        ...textOf(own(part, 'content'), depth + 1),
        ...toolOutputText(own(part, 'output') ?? own(part, 'result'), depth + 1),
      ]
    default:
      return []
  }
}

/** The output of an AI SDK tool: `{ type, value }`, or, before version 5, the bare result. */
function toolOutputText(output: unknown, depth: number): readonly string[] {
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) {
    const { type, value } = output as Part
    if (type === 'text' || type === 'error-text' || type === 'content') return textOf(value, depth)
    if (type === 'json' || type === 'error-json')
      return typeof value === 'string' ? textOf(value, depth) : jsonText(value)
  }
  return typeof output === 'string' ? textOf(output, depth) : jsonText(output)
}

function jsonText(value: unknown): readonly string[] {
  if (value === undefined) return []
  try {
    return [JSON.stringify(value)]
  } catch {
    // Nested deeper than the stack: no text for anybody to read.
    return []
  }
}

function own(part: Part, key: string): unknown {
  return Object.hasOwn(part, key) ? part[key] : undefined
}
