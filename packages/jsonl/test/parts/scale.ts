/** Multiplies the runs of generated tests; 1 by default, more in CI. */
export const SCALE: number = Math.max(1, Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? '1') || 1)
