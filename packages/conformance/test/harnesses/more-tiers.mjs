// Two more tiers, as another package brings them: one clause each.

/** @param {'IO' | 'POWER'} family @param {'io' | 'power'} tier @returns {import('@session-persistence/conformance').ConformanceCase} */
const clause = (family, tier) => ({
  id: `${family}-1`,
  level: 'MUST',
  family,
  title: 'An empty medium lists nothing.',
  why: 'What is listed is opened.',
  since: '0.1',
  needs: { tier },
  run: async (context) => {
    const { sessions } = await (await context.open()).list()
    if (sessions.length > 0) throw new Error('not empty')
  },
})

/** @type {readonly import('@session-persistence/conformance').TierExtension[]} */
export const conformanceTiers = [
  { tier: 'io', cases: [clause('IO', 'io')] },
  { tier: 'power', cases: [clause('POWER', 'power')] },
]
