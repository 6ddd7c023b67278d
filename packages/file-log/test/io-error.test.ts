// Proves that system errors get the code that a caller can act on, by number where the name is missing.
import { constants } from 'node:os'
import { SessionError } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { ioError, systemErrorName } from '../src/index.ts'

function systemError(errno: number, code = `Unknown system error ${-errno}`): Error {
  return Object.assign(new Error('text with payload'), { errno: -errno, code })
}

it.each([
  ['ENOSPC', 'NO_SPACE'],
  ['EDQUOT', 'NO_SPACE'],
  ['EFBIG', 'NO_SPACE'],
  ['EROFS', 'READ_ONLY'],
  ['EACCES', 'PERMISSION_DENIED'],
  ['EPERM', 'PERMISSION_DENIED'],
  ['ELOOP', 'PERMISSION_DENIED'],
  ['ENOTDIR', 'PERMISSION_DENIED'],
  ['EBUSY', 'BUSY'],
  ['ESTALE', 'IO'],
  ['EMFILE', 'IO'],
  ['ENOENT', 'IO'],
  ['EIO', 'IO'],
] as const)('%s is %s', (name, code) => {
  const cause = systemError(constants.errno[name])
  expect(systemErrorName(cause)).toBe(name)
  const error = ioError(cause, 'do it', '/path', { sessionId: 's' })
  expect(error).toMatchObject({ code, cause, path: '/path', sessionId: 's', message: `cannot do it: ${name}` })
})

it('passes typed errors on, and wraps anything else without its text', () => {
  const typed = new SessionError('CONFLICT', 'x')
  expect(ioError(typed, 'do it', '/path')).toBe(typed)
  expect(ioError(new TypeError('payload'), 'do it', '/path').message).toBe('cannot do it: unexpected error')
  expect(systemErrorName('text')).toBeUndefined()
})
