import { parseArgs } from 'node:util'
import type { AuthOptions } from '../../../lib/index.ts'
import { createNotesApp } from './app.ts'
import { createAuthority } from './authority.ts'
import { listenOn, portOf } from './ports.ts'
import { devExamples, productionExamples } from './printed-examples.ts'

// npm start [-- --dev]
// PORT and AUTH_PORT move the application and its authorization server; 0 is any free port.

/** What has been started, for the end: the last first. */
const closers: (() => Promise<unknown>)[] = []

async function close(): Promise<void> {
  for (let next = closers.pop(); next; next = closers.pop()) await next()
}

async function start(): Promise<void> {
  const { values } = parseArgs({ options: { dev: { type: 'boolean', default: false } } })
  const port = portOf('PORT', 8080)
  const { options, print } = values.dev ? inDevMode() : await withAuthority()
  const app = await createNotesApp(options)
  closers.push(() => app.close())
  const base = await listenOn('PORT', port, () => app.listen({ host: '127.0.0.1', port }))
  // A terminal's Ctrl-C comes twice below npm: from the terminal, and from npm.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void close())
  await print(base)
}

interface Mode {
  /** For the guard, over those of app.ini. */
  readonly options: AuthOptions
  readonly print: (base: string) => Promise<void>
}

function inDevMode(): Mode {
  return {
    options: { devMode: true },
    print: async (base) => {
      const intro = `The notes application is up in dev mode at ${base}: no tokens, one mock user.`
      printAll(intro, base, devExamples(base))
    },
  }
}

async function withAuthority(): Promise<Mode> {
  const port = portOf('AUTH_PORT', 8081)
  const authority = await createAuthority()
  const url = await listenOn('AUTH_PORT', port, () => authority.listen(port))
  closers.push(() => authority.close())
  return {
    // app.ini says where the keys are; what is given in code wins.
    options: process.env['AUTH_PORT'] === undefined ? {} : { publicKeysUrl: url },
    print: async (base) => {
      const intro = `The notes application is up at ${base}; the keys of its authorization server are at ${url}.`
      printAll(intro, base, await productionExamples(base, authority))
    },
  }
}

function printAll(intro: string, base: string, examples: readonly string[]): void {
  const outro = `Paste any of these into another terminal, or open ${base}/docs in a browser and put a token there. Ctrl-C ends the demo.`
  console.log([intro, ...examples, outro].join('\n\n'))
}

try {
  await start()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
  await close()
}
