import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { observeProgram } from '../../../../lib/entrypoints/cli/observe/run-program.ts'
import { tempFolder } from '../../../helpers/documents/temp-folder.ts'
import { recordedShell } from '../../../helpers/processes/recorded-shell.ts'
import { guarded, reporting, reportOf } from '../../../helpers/processes/reporting-program.ts'
import { until } from '../../../helpers/processes/until.ts'

/** Whether a process runs. One that has ended, and whose parent has not asked for it, does not. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const file = `/proc/${pid}/stat`
  return !existsSync(file) || !/\) Z /.test(readFileSync(file, 'utf8'))
}

const LONG = { limit: 60_000, count: 0 }
const folder = tempFolder()

/** Ends by itself long after a test that failed. */
const STAY = 'exec sleep 100'

function sh(script: string): readonly [string, ...string[]] {
  return ['sh', '-c', script]
}

test('a program that ends is reported with its exit code', async () => {
  const { exitCode, signal, isLate, reports } = await observeProgram(
    sh('exit 3'),
    recordedShell(),
    LONG,
  )
  assert.deepEqual([exitCode, signal, isLate, reports], [3, null, false, []])
})

test('a program that a signal kills is reported with it', async () => {
  const { exitCode, signal } = await observeProgram(sh('kill -9 $$'), recordedShell(), LONG)
  assert.deepEqual([exitCode, signal], [null, 'SIGKILL'])
})

test('a program that cannot be started is named', async () => {
  await assert.rejects(observeProgram(['/no/such/program'], recordedShell(), LONG), {
    message: 'cannot start /no/such/program: ENOENT',
  })
})

test('a program whose name Node refuses at once is named', async () => {
  const program = join(import.meta.filename, 'program')
  await assert.rejects(observeProgram([program], recordedShell(), LONG), {
    message: `cannot start ${program}: ENOTDIR`,
  })
})

test('a missing folder for temporary files is named', async (t) => {
  const { TMPDIR } = process.env
  t.after(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  })
  process.env['TMPDIR'] = '/no/such/folder'
  await assert.rejects(observeProgram(sh('true'), recordedShell(), LONG), {
    message: 'cannot make a folder in /no/such/folder: ENOENT',
  })
})

test('a program that reports and stays is ended, with what it started', async () => {
  const pids = join(folder.path, 'pids')
  const script = `sleep 100 & echo $! >${pids}; ${STAY}`
  const observed = await observeProgram(reporting([reportOf()], script), recordedShell(), LONG)
  assert.equal(observed.isLate, false)
  assert.equal(observed.reports.length, 1)
  await until(() => !isRunning(Number(readFileSync(pids, 'utf8'))))
})

test('a program that ignores the signal to end is killed', async () => {
  const pids = join(folder.path, 'stubborn')
  const script = `trap '' TERM; echo $$ >${pids}; for i in $(seq 100); do sleep 1; done`
  const { isLate } = await observeProgram(sh(script), recordedShell(), { ...LONG, limit: 500 })
  assert.equal(isLate, true)
  await until(() => !isRunning(Number(readFileSync(pids, 'utf8'))))
})

test('a process that has begun is waited for, and one that began much later is not', async () => {
  const running = reportOf({ pid: process.pid, exitCode: undefined, endedAt: undefined })
  const later = { ...running, startedAt: Date.now() + 10_000 }
  const awaited = await observeProgram(reporting([reportOf(), running], STAY), recordedShell(), {
    ...LONG,
    limit: 3000,
  })
  assert.equal(awaited.isLate, true)
  const ignored = await observeProgram(reporting([reportOf(), later], STAY), recordedShell(), LONG)
  assert.equal(ignored.isLate, false)
})

test('where fewer applications have come than are waited for, the program may stay', async () => {
  const reports = [reportOf({ applications: [guarded([])] })]
  const all = await observeProgram(reporting(reports, STAY), recordedShell(), { ...LONG, count: 1 })
  assert.equal(all.isLate, false)
  const fewer = { limit: 3000, count: 2 }
  const { isLate } = await observeProgram(reporting(reports, STAY), recordedShell(), fewer)
  assert.equal(isLate, true)
  const { exitCode } = await observeProgram(reporting(reports), recordedShell(), {
    ...LONG,
    count: 2,
  })
  assert.equal(exitCode, 0)
})

test('of a program that has ended, a process that still runs is waited for', async () => {
  const running = reportOf({ pid: process.pid, exitCode: undefined, endedAt: undefined })
  const { isLate, exitCode } = await observeProgram(reporting([running]), recordedShell(), {
    ...LONG,
    limit: 3000,
  })
  assert.deepEqual([isLate, exitCode], [true, 0])
})

test('a process that was killed without a last report has no exit code', async () => {
  const killed = reportOf({ exitCode: undefined, endedAt: undefined })
  const { reports } = await observeProgram(reporting([killed]), recordedShell(), LONG)
  const shown = reports.map(({ exitCode }) => exitCode)
  assert.deepEqual(shown, [null])
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} is passed on, and the program ends as it likes`, async () => {
    const [ready, trapped] = [join(folder.path, `ready-${signal}`), join(folder.path, signal)]
    const name = signal.slice(3)
    const script = `trap 'echo x >${trapped}; exit 0' ${name}; echo x >${ready}; for i in $(seq 500); do sleep 0.1; done`
    const shell = recordedShell()
    const observed = observeProgram(sh(script), shell, LONG)
    await until(() => existsSync(ready))
    shell.emit(signal, signal)
    assert.equal((await observed).passedOn, signal)
    assert.equal(existsSync(trapped), true, 'the signal reached the program')
    assert.deepEqual(shell.eventNames(), [])
  })
}

test('Node options that are there already stay, and no folder is left behind', async (t) => {
  const { TMPDIR = '' } = process.env
  t.after(() => {
    if (TMPDIR === '') delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  })
  process.env['TMPDIR'] = mkdtempSync(join(folder.path, 'tmp-'))
  const found = join(folder.path, 'options')
  const env = { NODE_OPTIONS: '--max-old-space-size=200' }
  const patience = { ...LONG, count: 3 }
  const script = `echo "$NODE_OPTIONS" $FASTIFY_TENANT_AUTH_POLICY_APPLICATIONS >${found}`
  await observeProgram(sh(script), recordedShell(env), patience)
  const [first, second, count] = readFileSync(found, 'utf8').trim().split(' ')
  assert.equal(count, '3')
  assert.equal(first, '--max-old-space-size=200')
  const shown = String(second)
  assert.match(shown, /^--import=file:\/\/\/\S+\/lib\/entrypoints\/cli\/observe\/preload\.[jt]s$/)
  assert.deepEqual(readdirSync(process.env['TMPDIR']), [])
})
