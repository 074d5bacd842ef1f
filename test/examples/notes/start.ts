import type { AuthOptions } from '../../../lib/index.ts'
import { createNotesApp } from './app.ts'
import { startDemoAuthority } from './authority.ts'
import { listenOn, portOf } from './ports.ts'
import { devExamples, productionExamples, tokenVariables } from './printed-examples.ts'

const USAGE = `Usage: npm start [-- --dev]
PORT and AUTH_PORT move the application and its authorization server; 0 is any free port.`

/** Things that were started. At the end the last one closes first. */
const closers: (() => Promise<unknown>)[] = []

async function close(): Promise<void> {
  for (let next = closers.pop(); next; next = closers.pop()) await next()
}

async function start(): Promise<void> {
  const isDevMode = readArguments(process.argv.slice(2))
  const port = portOf('PORT', 8080)
  const { options, screen } = isDevMode ? inDevMode() : await withAuthority()
  const app = await createNotesApp(options)
  closers.push(() => app.close())
  const base = await listenOn('PORT', port, () => app.listen({ host: '127.0.0.1', port }))
  // Below npm a terminal's Ctrl-C comes twice: from the terminal, and from npm.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void close())
  console.log((await screen(base)).join('\n\n'))
}

/** Whether dev mode is asked for. */
function readArguments(args: readonly string[]): boolean {
  const unknown = args.filter((arg) => arg !== '--dev')
  if (unknown.length > 0) throw new Error(`Unknown argument: ${unknown.join(' ')}\n${USAGE}`)
  return args.length > 0
}

interface Mode {
  /** Options for the guard; they win over those of app.ini. */
  readonly options: AuthOptions
  /** The paragraphs to print. */
  readonly screen: (base: string) => Promise<readonly string[]>
}

function inDevMode(): Mode {
  return {
    options: { devMode: true },
    screen: async (base) => [
      `The notes application is up in dev mode at ${base}: everybody is the mock user dora.`,
      `Paste any of these into another terminal, or open ${base}/docs in a browser.`,
      ...devExamples(base),
      'Ctrl-C ends the demo.',
    ],
  }
}

async function withAuthority(): Promise<Mode> {
  const port = portOf('AUTH_PORT', 8081)
  const authority = await listenOn('AUTH_PORT', port, () => startDemoAuthority(port))
  closers.push(() => authority.close())
  return {
    // app.ini names the issuer, and its keys are discovered. Options in code win.
    options: process.env['AUTH_PORT'] === undefined ? {} : { issuer: authority.issuer },
    screen: async (base) => [
      `The notes application is up at ${base}; the keys of its authorization server are at ${authority.keysUrl}.`,
      'Paste these tokens into another terminal first. They are good for 12 hours.',
      await tokenVariables(authority),
      `Then paste any of these, or open ${base}/docs in a browser and put a token there.`,
      ...productionExamples(base),
      // npm takes an option of this name for its own, and does not give it to scripts.
      'This is not dev mode. For that: npm start -- --dev (npm keeps a --dev that has no -- before it).',
      'Ctrl-C ends the demo.',
    ],
  }
}

try {
  await start()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
  await close()
}
