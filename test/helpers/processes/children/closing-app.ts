import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { tenantAuth } from '../../../../lib/index.ts'

/**
 * An application that is closed while its keys are being fetched. Prints how long that took, and
 * what is left over since its start. Arguments: the address of the keys, and further options as
 * JSON, and `yes` if the server answers.
 */
const [url = '', options = '{}', isGood = 'no'] = process.argv.slice(2)

const before = process.getActiveResourcesInfo()
const app = Fastify()
await app.register(tenantAuth, { publicKeysUrl: url, issuer: 'a', ...JSON.parse(options) })
const address = await app.listen({ port: 0, host: '127.0.0.1' })
await setTimeout(200)
// A second fetch, which waits for the first to end.
const refreshed = app.authService.refreshKeys().then(
  () => 'refreshed',
  (error: { code: string }) => error.code,
)
await fetch(address).then((response) => response.text())
if (isGood === 'yes') await refreshed

const begin = performance.now()
await app.close()
const closedAfter = performance.now() - begin
// Destroyed sockets and timers are gone in the next turns of the event loop.
await setTimeout(100)
const left = process.getActiveResourcesInfo()
for (const name of before) {
  const at = left.indexOf(name)
  if (at >= 0) left.splice(at, 1)
}
const measured = { closedAfter, left, refreshed: await refreshed }
const end = performance.now()
process.once('exit', () => {
  process.stdout.write(JSON.stringify({ ...measured, exitedAfter: performance.now() - end }))
})
