import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'

const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yml'))
    .map((name) => ({ name, text: readFileSync(`${folder}/${name}`, 'utf8') }))

const workflows = filesIn('.github/workflows')

/** The only package beside the lock file. */
const NEXT_FASTIFY = 'npm install --ignore-scripts --no-save fastify@^6.0.0-alpha'

interface Job {
  readonly steps: readonly {
    readonly run?: string
    readonly with?: Readonly<Record<string, unknown>>
  }[]
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> }
  readonly 'continue-on-error'?: boolean
}

for (const { name, text } of workflows) {
  test(`${name} names each action by its commit, and its version beside it`, () => {
    const uses = text.split('\n').filter((line) => /\buses:/.test(line))
    assert.notEqual(uses.length, 0)
    const loose = uses.filter((line) => !/uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))
    assert.deepEqual(loose, [])
  })

  test(`${name} installs what the lock file names, and runs no code of it`, () => {
    const installs = [...text.matchAll(/npm (?:ci|install|i)\b.*/g)].map(([line]) => line)
    const more = name === 'ci.yml' ? [NEXT_FASTIFY] : []
    assert.deepEqual(new Set(installs), new Set(['npm ci --ignore-scripts', ...more]))
  })
}

test('the next Fastify is installed over the lock file by one job, which may fail', () => {
  const { jobs }: { jobs: Record<string, Job> } = parse(
    readFileSync('.github/workflows/ci.yml', 'utf8'),
  )
  const installing = Object.entries(jobs).filter(([, { steps }]) =>
    steps.some(({ run }) => run === NEXT_FASTIFY),
  )
  const found = installing.map(([name, job]) => [name, job['continue-on-error']])
  assert.deepEqual(found, [['next-fastify', true]])
})

test('the lock file holds no download addresses', () => {
  assert.equal(readFileSync('package-lock.json', 'utf8').includes('"resolved"'), false)
})

test('a release publishes the package, its notes and its reference', () => {
  const release: { jobs: object } = parse(readFileSync('.github/workflows/release.yml', 'utf8'))
  assert.deepEqual(Object.keys(release.jobs), ['publish', 'notes', 'reference'])
})

test('a release is of the version in package.json, or nothing is published', () => {
  const { jobs }: { jobs: Record<string, Job> } = parse(
    readFileSync('.github/workflows/release.yml', 'utf8'),
  )
  const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
  const check = jobs['publish']?.steps.find(({ run }) => run?.includes('$TAG'))?.run ?? ''
  const statusFor = (TAG: string) =>
    spawnSync('sh', ['-c', check], { env: { ...process.env, TAG } }).status
  assert.deepEqual([`v${version}`, version, `v${version}-next`].map(statusFor), [0, 1, 1])
})

test('the tests run on each Node that is supported, and with Fastify 6 on Node 24', () => {
  const { jobs }: { jobs: Record<string, Job> } = parse(
    readFileSync('.github/workflows/ci.yml', 'utf8'),
  )
  assert.deepEqual(jobs['test']?.strategy?.matrix['node'], [20, 22, 24, 26])
  const versions = jobs['next-fastify']?.steps.flatMap((step) => step.with?.['node-version'] ?? [])
  assert.deepEqual(versions, [24])
})
