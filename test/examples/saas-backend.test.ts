import assert from 'node:assert/strict'
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { installBuilt } from '../helpers/documents/built-package.ts'
import { codeBlocks, sectionOf } from '../helpers/documents/markdown.ts'
import { writeApplication } from '../helpers/documents/page-application.ts'
import { shownCalls } from '../helpers/documents/shown-calls.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { programFile } from '../helpers/processes/program.ts'
import { until } from '../helpers/processes/until.ts'

// The application of the guide, as somebody builds it who has nothing but the page.
// test/types/run.ts compiles it.

const { path: folder } = tempFolder()
const { page: PAGE, files } = writeApplication('guides/saas-backend', folder)
const command = installBuilt(folder)

/** Milliseconds. A busy machine is slow to start a database. */
const START_LIMIT = 240_000

/**
 * A database that runs for seconds is not worth what an optimizing compiler costs, nor files of its
 * own.
 */
const OPTIONS = [
  ...['--liftoff-only', '--import', 'tsx'],
  ...['--import', programFile('test/helpers/servers/prepared-database.ts')],
]
const SERVER = [...OPTIONS, 'src/server.ts']

/** As in a terminal, and not below npm and a test. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|DATABASE_URL$)/i.test(name)),
)

/** Starts a program in the folder. What it prints is kept. */
function start(args: readonly string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...env, ...more } })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    printed.out += text
  })
  child.stderr.on('data', (text) => {
    printed.err += text
  })
  after(() => end(child))
  return { child, printed }
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill(signal)
  await closed
}

/** The application with one of its files of settings, on a free port. */
async function serve(configFile: string) {
  const { child, printed } = start([...SERVER, configFile], { PORT: '0' })
  const port = () => /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(printed.out)?.[1]
  await until(() => port() !== undefined || child.exitCode !== null, START_LIMIT)
  assert.ok(port(), printed.err)
  return { child, port: port() ?? '' }
}

/** The statuses that a block of commands gives, pasted as it is into a shell. */
async function pasted(block: string, port: string): Promise<number[]> {
  const text = block.replaceAll(':3000', `:${port}`).replaceAll('curl -i', 'curl -s -i')
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', text], { cwd: folder, env })
  return [...stdout.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
}

function callsOf(heading: string): { block: string; statuses: number[] } {
  const blocks = codeBlocks(sectionOf(PAGE, heading))
  const block = blocks.find(({ text }) => shownCalls(text).length > 0)?.text ?? ''
  return { block, statuses: shownCalls(block).map(({ status }) => status) }
}

const hasCurl = (): boolean => {
  try {
    execFileSync('curl', ['--version'])
    return true
  } catch {
    return false
  }
}
const skip = hasCurl() ? false : 'there is no curl'

test('each file stands below its name, and no file is missing', () => {
  for (const { file } of files) {
    const [above = ''] = PAGE.split(`<!-- ${file} -->`)
    assert.equal(above.trimEnd().endsWith(`${file}:`), true, file)
  }
  const sources = files.filter(({ file }) => file.endsWith('.ts'))
  for (const { file, text } of sources) {
    for (const [, target = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
      const imported = join(dirname(file), target)
      assert.ok(
        sources.some((each) => each.file === imported),
        `${file} imports ${imported}`,
      )
    }
  }
})

test('its own tests pass', async () => {
  const { child, printed } = start([...OPTIONS, '--test', 'src/app.test.ts'])
  const [code] = await once(child, 'close')
  assert.equal(code, 0, printed.out)
  // Newer Nodes write another summary, where nobody looks on too.
  assert.match(printed.out, /^[#ℹ] pass 6$/mu)
})

test('in dev mode its routes answer as the page says', { skip }, async () => {
  const { child, port } = await serve('dev.ini')
  const { block, statuses } = callsOf('First minutes: dev mode')
  assert.equal(statuses.length, 10)
  assert.deepEqual(await pasted(block, port), statuses)
  await end(child, 'SIGINT')
  assert.equal(child.exitCode, 0)
})

test('with tokens its routes answer as the page says', { skip }, async () => {
  const shown = PAGE.split('npx fastify-tenant-auth authority ')[1]?.split(' > ')[0] ?? ''
  const authority = start([command, 'authority', '--port', '0', ...shown.split(' ')])
  await until(() => authority.printed.out.split('\n').length === 3, START_LIMIT)
  writeFileSync(join(folder, 'tokens.txt'), authority.printed.out)
  const [, issuer = ''] = / listens at (http:\/\/localhost:\d+), /.exec(authority.printed.err) ?? []
  const settings = readFileSync(join(folder, 'local.ini'), 'utf8')
  const moved = settings.replace('http://localhost:8081', issuer)
  assert.notEqual(moved, settings)
  writeFileSync(join(folder, 'moved.ini'), moved)

  const { port } = await serve('moved.ini')
  const { block, statuses } = callsOf('With tokens')
  assert.equal(statuses.length, 10)
  assert.deepEqual(await pasted(block, port), statuses)
})

test('its lock is written and holds, and a route that is opened breaks it', async () => {
  const policy = async (...args: string[]) => {
    const limit = ['--timeout', '240']
    const { child, printed } = start([
      command,
      'policy',
      ...args,
      ...limit,
      '--',
      'node',
      ...SERVER,
    ])
    const [code] = await once(child, 'close')
    return { code, ...printed }
  }
  assert.equal((await policy('--write', 'policy.json')).code, 0)
  assert.equal((await policy('--check', 'policy.json')).code, 0)
  const menu = join(folder, 'src/routes/menu.ts')
  writeFileSync(menu, readFileSync(menu, 'utf8').replace(`require: 'dish:edit'`, 'require: false'))
  const opened = await policy('--check', 'policy.json')
  assert.equal(opened.code, 1)
  assert.match(opened.out + opened.err, /opens +POST \/:tenant\/menu/)
})

test('package.json has the commands of the page, and npm adds what is installed', () => {
  const { scripts, ...others } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  assert.deepEqual(Object.keys(others), ['name', 'private', 'type'])
  assert.deepEqual(Object.keys(scripts), [
    'dev',
    'local',
    'test',
    'lock',
    'check',
    'build',
    'start',
  ])
  for (const [, script = ''] of PAGE.matchAll(/^npm (?:run )?([\w:]+)$/gm)) {
    assert.ok(Object.hasOwn(scripts, script), script)
  }
})
