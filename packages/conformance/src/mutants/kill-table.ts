/** For each mutant exactly the clauses that it must fail. Checked by running it; written down so that a change is seen. */
export const KILL_TABLE: { readonly [mutant: string]: readonly string[] } = {}
