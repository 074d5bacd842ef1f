import Fastify from 'fastify'
import { type BenchSetup, GUARDS, guards } from './guards.ts'

process.on('disconnect', () => process.exit(0))
if (!process.connected) process.exit(0)

/** A guarded server in a process of its own, steered by messages. It ends with who steers it. */
process.once('message', async ({ name, setup }: { name: string; setup: BenchSetup }) => {
  const guard = GUARDS.find((known) => known === name)
  if (guard === undefined) throw new Error(`no guard named ${name}`)
  const app = Fastify()
  await guards[guard](app, setup)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
  process.send?.({ address })
})
