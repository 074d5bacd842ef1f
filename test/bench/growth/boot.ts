import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions } from 'fastify-tenant-auth'
import { median, quartiles } from '../statistics.ts'

const ROUNDS = 7

const ROUTES = 10_000

interface Boot {
  /** Undefined: without the plugin. */
  readonly options?: AuthOptions
  readonly isChildScope: boolean
}

/** What the plugin adds to the boot of an application with many routes. */
export async function printBoot(
  options: AuthOptions,
  print: (line: string) => void,
): Promise<void> {
  print('\n| boot of 10 000 routes | against the same without the plugin |\n|---|---|')
  for (const isChildScope of [false, true]) {
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const without = await bootTime({ isChildScope })
      ratios.push((await bootTime({ isChildScope, options })) / without)
    }
    const [low, high] = quartiles(ratios)
    const spread = `${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
    print(`| ${isChildScope ? 'child scope' : 'root instance'} | ${spread} |`)
  }
}

/** Of one application, in a process of its own: this file again. */
async function bootTime(boot: Boot): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url))
  child.send(boot)
  const [[seconds]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return Number(seconds)
}

/** Says what a boot cost: seconds of CPU time. */
if (process.send !== undefined) {
  process.once('message', async ({ options, isChildScope }: Boot) => {
    const app = Fastify()
    const build = async (scope: FastifyInstance): Promise<void> => {
      if (options) await scope.register(tenantAuth, options)
      for (let i = 0; i < ROUTES; i++) scope.get(`/r${i}/:id`, async () => ({ ok: true }))
    }
    const start = process.cpuUsage()
    if (isChildScope) app.register(build)
    else await build(app)
    await app.ready()
    const { user, system } = process.cpuUsage(start)
    process.send?.((user + system) / 1e6)
    process.disconnect()
  })
}
