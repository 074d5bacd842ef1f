import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IssuerTable } from '../../../lib/identity/authentication/issuer-table.ts'

/** A table whose answers are the names of their issuers. */
function start(most: number) {
  const displaced: string[] = []
  const table = new IssuerTable<string>(most, (held, hadProved) => {
    displaced.push(hadProved ? `${held} (proved)` : held)
  })
  const add = (...names: string[]) => {
    for (const name of names) {
      table.set(name, { answer: name, renewAt: 1, freshUntil: 2, goodUntil: 3 })
    }
  }
  const prove = (...names: string[]) => {
    for (const name of names) {
      add(name)
      table.noteProof(name)
    }
  }
  return { table, add, prove, displaced: () => displaced.splice(0) }
}

const names = (count: number, letter = 's') => Array.from({ length: count }, (_, i) => letter + i)

test('who has proved a token gives way to others that have, unless it was used', () => {
  const { table, add, prove, displaced } = start(3)
  prove('a', 'b', 'c')
  add(...names(200))
  assert.equal(displaced().length, 136, 'there are 64 places for those without a proof')
  assert.deepEqual(table.values().slice(0, 3), ['a', 'b', 'c'])
  table.noteUse('a')
  prove('d')
  assert.deepEqual(displaced().at(-1), 'b (proved)')
  prove('e')
  assert.deepEqual(displaced().at(-1), 'c (proved)')
  for (const each of ['a', 'd', 'e', 'nobody']) table.noteUse(each)
  prove('f')
  assert.deepEqual(displaced().at(-1), 'd (proved)', 'of those that were all used the oldest')
})

test('who proves a token twice, or is not held, displaces nobody', () => {
  const { table, prove, displaced } = start(1)
  prove('a', 'a', 'a')
  table.noteProof('nobody')
  assert.deepEqual([displaced(), table.values()], [[], ['a']])
})

test('whose keys are waited for stays until the last request waits no more', () => {
  const { table, add, prove, displaced } = start(1)
  add('slow')
  for (const _ of [1, 2]) table.beginWait('slow')
  prove('a')
  table.endWait('slow')
  add(...names(100))
  assert.equal(table.get('slow')?.answer, 'slow')
  table.endWait('slow')
  assert.equal(table.get('slow')?.answer, 'slow', 'its request is not over yet')
  add(...names(64, 't'))
  assert.equal(table.get('slow'), undefined)
  const proved = () => displaced().filter((name) => name.endsWith('(proved)'))
  proved()
  table.beginWait('a')
  prove('b')
  assert.deepEqual([proved(), table.get('a')?.answer], [[], 'a'], 'rather one too many')
  table.endWait('a')
  prove('c')
  assert.deepEqual(proved().length, 2)
  assert.equal(table.get('c')?.answer, 'c')
})

test('all of those without a proof may be waited for, and none of them goes', () => {
  const { table, add, prove } = start(1)
  prove('a')
  for (const name of names(500)) {
    add(name)
    table.beginWait(name)
  }
  assert.equal(table.values().length, 501)
  for (const name of names(500)) table.endWait(name)
  assert.equal(table.values().length, 65)
})

test('one that waits and is gone may come back while it waits', () => {
  const { table, add, prove } = start(1)
  prove('a')
  add('slow')
  table.beginWait('slow')
  table.delete('slow')
  assert.equal(table.get('slow'), undefined)
  add('slow', ...names(100))
  assert.equal(table.get('slow')?.answer, 'slow')
  table.endWait('slow')
  table.noteProof('slow')
  assert.deepEqual(table.values().slice(0, 1), ['slow'])
})

test('what is expired stays until another answer takes its place, with what it had proved', () => {
  const { table, add, prove } = start(10)
  prove('a')
  add('b')
  table.expire((iss) => iss === 'a')
  const found = ['a', 'b'].map((iss) => table.get(iss)?.freshUntil)
  assert.deepEqual(found, [Number.NEGATIVE_INFINITY, 2])
  add('a')
  assert.deepEqual([table.get('a')?.freshUntil, table.isKnown('a')], [2, true])
})
