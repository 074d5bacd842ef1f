import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import type { UserInfo } from '../../lib/index.ts'
import { loadMockUser } from '../../lib/settings/mock-user-file.ts'
import { Options } from '../../lib/settings/options.ts'
import { Problems } from '../../lib/settings/problems.ts'
import { configError } from '../helpers/app/config-error.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()
const missing = join(folder.path, 'missing.json')
const BUILT_IN = {
  sub: 'dev',
  preferred_username: 'dev',
  resources: { default: [], 'test-tenant': [] },
}

/** The beginning of the reason if a claim is wrong. */
const MALFORMED = 'user info that cannot be used: sub, resources or preferred_username'

/** @throws ERR_AUTH_CONFIG_INVALID */
function load(path: string, isConfigured: boolean): UserInfo {
  const problems = new Problems()
  const user = loadMockUser(path, isConfigured, problems)
  problems.throwIfAny()
  assert.ok(user, 'neither a user nor a problem')
  return user
}

test('a file gives the mock user, claims of its own included, deeply frozen', () => {
  const user = {
    sub: 'u1',
    preferred_username: 'Ann',
    resources: { '*': ['a:b'], acme: [] },
    department: { name: 'x' },
  }
  const loaded = load(folder.write(JSON.stringify(user)), true)
  assert.deepEqual(loaded, user)
  for (const part of [loaded, loaded.resources, loaded.resources?.['*'], loaded['department']]) {
    assert.equal(Object.isFrozen(part), true)
  }
})

test('a user without name and resources is a user too', () => {
  assert.deepEqual(load(folder.write('{ "sub": "u1" }'), true), { sub: 'u1' })
})

test('the file at the default path is read if it exists', () => {
  assert.equal(load(folder.write('{ "sub": "u1" }'), false).sub, 'u1')
})

test('a relative path counts from the working directory', () => {
  const path = relative(process.cwd(), folder.write('{ "sub": "u1" }'))
  assert.equal(load(path, true).sub, 'u1')
})

describe('the built-in user', () => {
  test('stands in for a default file that does not exist', () => {
    assert.deepEqual(load(missing, false), BUILT_IN)
  })

  test('stands in for the default file', {
    skip: existsSync(Options.properties.devUserInfoPath.default) && 'this machine has that file',
  }, () => {
    assert.deepEqual(load(Options.properties.devUserInfoPath.default, false), BUILT_IN)
  })

  test('is frozen, and each service has its own', () => {
    const user = load(missing, false)
    assert.equal(Object.isFrozen(user.resources?.['default']), true)
    assert.notEqual(load(missing, false), user)
  })
})

test('a configured file must exist', () => {
  assert.throws(
    () => load(missing, true),
    configError('devUserInfoPath: expected a JSON file with user info', 'found none', missing),
  )
})

for (const isConfigured of [true, false]) {
  const kind = isConfigured ? 'configured' : 'default'

  test(`a ${kind} file must be a file`, () => {
    assert.throws(
      () => load(folder.path, isConfigured),
      configError('devUserInfoPath: ', 'found one that cannot be read', folder.path),
    )
  })

  for (const [text, found] of [
    ['', 'text that is no JSON'],
    ['sub: dev', 'text that is no JSON'],
    ['{ "sub": "u1", }', 'no JSON from line 1 on'],
    ['{\n  "sub": "u1",\n  "resources": {},\n}\n', 'no JSON from line 4 on'],
    ['[]', 'user info that cannot be used: the claims are no object'],
    ['null', 'user info that cannot be used: the claims are no object'],
    ['"u1"', 'user info that cannot be used: the claims are no object'],
    ['{}', MALFORMED],
    ['{ "sub": "" }', MALFORMED],
    ['{ "sub": 7 }', MALFORMED],
    ['{ "__proto__": { "sub": "u1" } }', MALFORMED],
    ['{ "sub": "u1", "preferred_username": 7 }', MALFORMED],
    ['{ "sub": "u1", "resources": null }', MALFORMED],
    ['{ "sub": "u1", "resources": ["acme"] }', MALFORMED],
    ['{ "sub": "u1", "resources": { "acme": "a:b" } }', MALFORMED],
    ['{ "sub": "u1", "resources": { "acme": [7] } }', MALFORMED],
    ['{ "sub": "u1", "resources": { "acme": { "0": "a:b" } } }', MALFORMED],
  ] as const) {
    test(`a ${kind} file must not say ${text || 'nothing'}`, () => {
      const file = folder.write(text)
      assert.throws(
        () => load(file, isConfigured),
        configError(
          'devUserInfoPath: expected a JSON file with user info: sub, preferred_username, resources',
          `, found ${found}`,
          `(${file})`,
        ),
      )
    })
  }

  test(`no message repeats the contents of a ${kind} file`, () => {
    for (const text of [
      'sub: hunter2',
      '"hunter2" at position 5',
      '{ "sub": { "hunter2": "hunter2" } }',
    ]) {
      assert.throws(() => load(folder.write(text), isConfigured), {
        message: /^devUserInfoPath: (?!.*hunter2)/,
      })
    }
  })
}
