import { setTimeout } from 'node:timers/promises'
import { AuthService } from '../../../../lib/index.ts'

/**
 * Prints how much the memory of a process grows at most while it fetches keys from a server that
 * turns bad after a few good answers. Arguments: the address of the keys, and the numbers of good
 * and of bad answers.
 */
const [url = '', good = '0', bad = '0'] = process.argv.slice(2)

const service = new AuthService({ publicKeysUrl: url, issuer: 'a', keysTimeout: 30 })
for (let i = 0; i < Number(good); i++) await service.refreshKeys()
globalThis.gc?.()
await setTimeout(200)

const before = process.memoryUsage.rss()
let most = before
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 2)
let failed = 0
for (let i = 0; i < Number(bad); i++) {
  await service.refreshKeys().catch(() => {
    failed += 1
  })
  most = Math.max(most, process.memoryUsage.rss())
}
// Work that goes on after the answer has been given up counts too.
await setTimeout(500)
clearInterval(watch)
service.close()
process.stdout.write(JSON.stringify({ failed, grown: most - before, ready: service.isReady() }))
