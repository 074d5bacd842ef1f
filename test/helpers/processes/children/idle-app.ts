import Fastify from 'fastify'
import { tenantAuth } from '../../../../lib/index.ts'

/**
 * An application that is made ready and never closed. The guard must not keep its process alive.
 * Arguments: the address of the keys, and further options as JSON.
 */
const [url = '', options = '{}'] = process.argv.slice(2)

const app = Fastify()
await app.register(tenantAuth, { publicKeysUrl: url, issuer: 'a', ...JSON.parse(options) })
await app.ready()
const begin = performance.now()
process.once('exit', () => {
  process.stdout.write(JSON.stringify({ exitedAfter: performance.now() - begin }))
})
