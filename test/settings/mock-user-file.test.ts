import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import { loadMockUser } from '../../lib/settings/mock-user-file.ts'
import { Options } from '../../lib/settings/options.ts'
import { configError } from '../helpers/config-error.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const folder = tempFolder()
const missing = join(folder.path, 'missing.json')
const BUILT_IN = {
  sub: 'dev',
  preferred_username: 'dev',
  resources: { default: [], 'test-tenant': [] },
}

test('a file gives the mock user, claims of its own included, deeply frozen', () => {
  const user = {
    sub: 'u1',
    preferred_username: 'Ann',
    resources: { '*': ['a:b'], acme: [] },
    department: { name: 'x' },
  }
  const loaded = loadMockUser(folder.write(JSON.stringify(user)), true)
  assert.deepEqual(loaded, user)
  for (const part of [loaded, loaded.resources, loaded.resources?.['*'], loaded['department']]) {
    assert.ok(Object.isFrozen(part))
  }
})

test('a user without name and resources is one too', () => {
  assert.deepEqual(loadMockUser(folder.write('{ "sub": "u1" }'), true), { sub: 'u1' })
})

test('a file that nobody named is read where it exists', () => {
  assert.equal(loadMockUser(folder.write('{ "sub": "u1" }'), false).sub, 'u1')
})

test('a relative path counts from the working directory', () => {
  const path = relative(process.cwd(), folder.write('{ "sub": "u1" }'))
  assert.equal(loadMockUser(path, true).sub, 'u1')
})

describe('the built-in user', () => {
  test('stands in for a file that nobody named and that does not exist', () => {
    assert.deepEqual(loadMockUser(missing, false), BUILT_IN)
  })

  test('stands in for the default file', {
    skip: existsSync(Options.properties.devUserInfoPath.default) && 'this machine has that file',
  }, () => {
    assert.deepEqual(loadMockUser(Options.properties.devUserInfoPath.default, false), BUILT_IN)
  })

  test('is frozen, and another object for each service', () => {
    const user = loadMockUser(missing, false)
    assert.ok(Object.isFrozen(user.resources?.['default']))
    assert.notEqual(loadMockUser(missing, false), user)
  })
})

test('a configured file must be there', () => {
  assert.throws(
    () => loadMockUser(missing, true),
    configError('devUserInfoPath: expected a JSON file with user info', 'found none', missing),
  )
})

for (const isConfigured of [true, false]) {
  const kind = isConfigured ? 'configured' : 'default'

  test(`a ${kind} file must be a file`, () => {
    assert.throws(
      () => loadMockUser(folder.path, isConfigured),
      configError('devUserInfoPath: ', 'found one that cannot be read', folder.path),
    )
  })

  for (const text of [
    '',
    'sub: dev',
    '{ "sub": "u1", }',
    '[]',
    'null',
    '"u1"',
    '{}',
    '{ "sub": "" }',
    '{ "sub": 7 }',
    '{ "__proto__": { "sub": "u1" } }',
    '{ "sub": "u1", "preferred_username": 7 }',
    '{ "sub": "u1", "resources": null }',
    '{ "sub": "u1", "resources": ["acme"] }',
    '{ "sub": "u1", "resources": { "acme": "a:b" } }',
    '{ "sub": "u1", "resources": { "acme": [7] } }',
    '{ "sub": "u1", "resources": { "acme": { "0": "a:b" } } }',
  ]) {
    test(`a ${kind} file must not say ${text || 'nothing'}`, () => {
      const file = folder.write(text)
      assert.throws(
        () => loadMockUser(file, isConfigured),
        configError('devUserInfoPath: expected', 'sub, preferred_username, resources', file),
      )
    })
  }
}
