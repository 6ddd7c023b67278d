import type { Session } from '../../src/index.ts'

/** Runs one turn and returns its last answer, which repeats every prompt and every tool result that it was sent. */
export declare function runTurn(session: Session, prompt: string): Promise<string>
