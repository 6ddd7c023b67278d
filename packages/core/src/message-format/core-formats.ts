import { aiSdk } from './ai-sdk.ts'
import { anthropic } from './anthropic.ts'
import type { MessageFormat } from './message-format.ts'
import { openai } from './openai.ts'
import { plain } from './plain.ts'

/** The formats that every persistence knows. */
export const coreMessageFormats: readonly MessageFormat[] = Object.freeze([plain, anthropic, openai, aiSdk])
