import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import {
  COUNT_VARIABLE,
  FOLDER_VARIABLE,
  readReports,
} from '../../../../lib/entrypoints/cli/observe/report.ts'
import { tempFolder } from '../../../helpers/documents/temp-folder.ts'
import { LOADER, onceBundled } from '../../../helpers/processes/program.ts'

const folder = tempFolder()
const PROGRAM = [...LOADER, onceBundled('watched-program')]

/** The output and the report of a program of watched-program.ts. */
async function watched(name: string, env: NodeJS.ProcessEnv = {}) {
  const reports = mkdtempSync(join(folder.path, 'reports-'))
  const child = spawn(process.execPath, [...PROGRAM, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, [FOLDER_VARIABLE]: reports, ...env },
  })
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const said: unknown[] = out
    .split('\n')
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line))
  const [report, ...more] = readReports(reports)
  assert.deepEqual(more, [])
  const urls = report?.applications.map(({ routes }) =>
    routes.filter(({ method }) => method === 'GET').map(({ url }) => url),
  )
  return { code, said, report, urls }
}

/** Programs, their output, and the guarded routes of each instance. */
const PROGRAMS: readonly [name: string, said: unknown[], urls: string[][]][] = [
  [
    'promise',
    [
      [null],
      ['http://127.0.0.1:8080', { address: '127.0.0.1', family: 'IPv4', port: 8080 }],
      ['http://127.0.0.1:8080'],
    ],
    [['/menu']],
  ],
  ['callback', [['nothing'], [null, 'http://127.0.0.1:80']], [['/menu']]],
  [
    'server',
    [['listening'], ['called back', { address: '127.0.0.1', family: 'IPv4', port: 8080 }]],
    [['/menu']],
  ],
  ['server without callback', [[true]], [['/menu']]],
  ['path', [['/run/app.sock', '/run/app.sock']], [['/menu']]],
  ['server with a path', [['/run/app.sock']], [['/menu']]],
  ['closed at once', [[false], [true], [false, null]], [['/menu']]],
  ['waiting for a signal', [], [['/menu']]],
  ['two in turn', [], [['/public'], ['/admin']]],
  ['scopes', [], [['/one', '/two']]],
  ['one unguarded', [], [['/menu']]],
  ['unguarded', [], []],
  ['a decoration of the same name', [], []],
  ['a guard without routes', [], [[]]],
]

for (const [name, said, urls] of PROGRAMS) {
  test(`a program of the kind "${name}" reports its routes, listens nowhere, and ends`, async () => {
    const found = await watched(name)
    assert.deepEqual(found.said, said)
    assert.deepEqual(found.urls, urls)
    assert.deepEqual([found.code, found.report?.exitCode, found.report?.silent], [0, 0, 0])
    assert.deepEqual([found.report?.unlisted, found.report?.isForeign], [[], false])
  })
}

test('an application that comes late is found where two are waited for, and only there', async () => {
  assert.deepEqual((await watched('late')).urls, [['/public']])
  const { code, urls } = await watched('late', { [COUNT_VARIABLE]: '2' })
  assert.deepEqual([code, urls], [0, [['/public'], ['/admin']]])
})

test('routes that listen outside of every guard are reported, and no others', async () => {
  const { report, urls } = await watched('outside of the guard')
  const both = (url: string) => ['GET', 'HEAD'].map((method) => ({ method, url }))
  const places = (lists: readonly (readonly object[])[] | undefined) =>
    lists?.map((list) => list.map((each) => JSON.stringify(each)).sort())
  assert.deepEqual(urls, [['/inside']])
  const beside = report?.applications.map((application) => application.beside)
  assert.deepEqual(places(beside), places([[...both('/outside'), ...both('/outside/')]]))
  assert.deepEqual(places(report?.unguarded), places([both('/metrics')]))
  assert.equal(report?.isInDevMode, false)
})

test('early routes of a guarded application are not outside of its guard', async () => {
  const { report, urls } = await watched('one service')
  assert.deepEqual(urls, [
    ['/public', '/public/early'],
    ['/admin', '/admin/early'],
  ])
  assert.deepEqual(
    report?.applications.map(({ beside }) => beside),
    [[], []],
  )
  assert.deepEqual(report?.unguarded, [])
})

test('dev mode is reported', async () => {
  const { report } = await watched('promise')
  assert.deepEqual([report?.isInDevMode, report?.unguarded], [true, []])
})

for (const name of ['broken promise', 'broken callback', 'broken server']) {
  test(`a boot error reaches the program as ever: ${name}`, async () => {
    const { said, report } = await watched(name)
    assert.deepEqual(said, [['no database']])
    assert.deepEqual([report?.made, report?.listened, report?.applications], [1, 0, []])
  })
}

test('a guarded instance that never listens is reported', async () => {
  const { report, urls } = await watched('silent')
  assert.deepEqual([report?.made, report?.listened, report?.silent], [2, 1, 1])
  assert.deepEqual(urls, [['/menu']])
})

for (const name of ['other exit code', 'exit code for later']) {
  test(`a program that fails after it listened reports its exit code: ${name}`, async () => {
    const { code, report } = await watched(name)
    assert.deepEqual([code, report?.exitCode], [3, 3])
  })
}

test('a guard that does not show its settings is reported, as another copy of the package has it', async () => {
  const { report } = await watched('a service that shows nothing')
  assert.deepEqual([report?.isForeign, report?.applications], [true, [{ routes: [], beside: [] }]])
})

test('the places that a guard covers and does not list are reported', async () => {
  const { report } = await watched('a guard that lists nothing')
  const places = report?.unlisted.map(({ method, url }) => `${method} ${url}`).sort()
  assert.deepEqual(places, ['GET /menu', 'HEAD /menu'])
})

test('a process that makes no Fastify instance reports nothing', async () => {
  assert.equal((await watched('no fastify')).report, undefined)
})

test('without a folder for reports nothing is watched', async () => {
  const { report } = await watched('broken promise', { [FOLDER_VARIABLE]: undefined })
  assert.equal(report, undefined)
})

test('implied ids are reported: those of all guards of an application together', async () => {
  const { report } = await watched('implied ids')
  assert.deepEqual(
    report?.applications.map(({ implies }) => implies),
    [{ 'menu:edit': ['menu:read', 'order:read'] }, undefined],
  )
})

test('routes of one url are reported with their constraints', async () => {
  const { report } = await watched('versions')
  assert.deepEqual(
    report?.applications[0]?.routes.map(({ url, seen, constraints }) => [url, seen, constraints]),
    [
      ['/orders', true, { host: '/^a/i', version: '1.0.0' }],
      ['/orders', true, undefined],
      ['/orders', false, { host: 'early.example' }],
    ],
  )
})
