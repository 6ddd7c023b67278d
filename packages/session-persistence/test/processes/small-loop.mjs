// The smallest whole agent loop: a turn of two steps, with a tool call in the first. It is plain JavaScript so that
// child processes can run it on every supported Node version. Its model only knows what it is sent.

const environment = { model: 'echo-1', system: 'You answer from what you are shown.', tools: ['look'] }

/** @type {import('./small-loop.d.mts').runTurn} */
export async function runTurn(session, prompt) {
  const turn = session.summary().turns + 1
  const messages = [...session.messages()]
  const add = (type, data) => {
    session.append(type, { turn, ...data })
    messages.push(data.message)
  }
  if (turn === 1) session.append('request/header', environment)
  session.append('turn/start', { turn })
  add('user/message', { message: { role: 'user', content: prompt } })

  session.append('step/start', { turn, step: 1 })
  await session.checkpoint({ ...environment, messages: [...messages] })
  for (const text of ['I ', 'will ', 'look.']) {
    session.append('assistant/chunk', { turn, step: 1, kind: 'text', index: 0, text })
  }
  const call = { callId: `call-${turn}`, name: 'look', arguments: { turn } }
  add('assistant/message', { step: 1, message: { role: 'assistant', content: 'I will look.' }, toolCalls: [call] })
  await session.beginCall({ turn, step: 1, ...call, effect: 'read-only' })
  add('tool/result', { step: 1, callId: call.callId, message: { role: 'tool', content: `thing ${turn}` } })
  session.append('step/end', { turn, step: 1 })

  session.append('step/start', { turn, step: 2 })
  await session.checkpoint({ ...environment, messages: [...messages] })
  const asked = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const seen = messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  const content = `You asked: ${asked.join(' ')} I saw: ${seen.join(', ')}.`
  add('assistant/message', { step: 2, message: { role: 'assistant', content }, toolCalls: [] })
  await session.closeTurn({ reason: { kind: 'completed' } })
  return content
}
