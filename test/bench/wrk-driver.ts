import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { CONNECTIONS, type Driver } from './load.ts'

/** In the repository, which a bench runs in. */
const SCRIPT = 'test/bench/wrk.lua'

/** Seconds beyond a round until a wrk that hangs is ended. */
const PATIENCE = 30

/** Drives with https://github.com/wg/wrk, in one thread. It knows whole seconds only. */
export const wrkDriver: Driver = {
  async drive(address, { path, authorizations, proofs = [] }, seconds) {
    const duration = Math.ceil(seconds)
    const options = ['-t1', `-c${CONNECTIONS}`, `-d${duration}s`, '--timeout', '10s', '-s', SCRIPT]
    const wrk = spawn('wrk', [...options, `${address}${path}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: (duration + PATIENCE) * 1000,
      killSignal: 'SIGKILL',
    })
    // A wrk that ends early tells why by its status.
    wrk.stdin.on('error', () => undefined)
    const lines = authorizations.map((value, i) => `${value}\t${proofs[i] ?? ''}\n`)
    wrk.stdin.end(lines.join(''))
    const [output, [status]] = await Promise.all([text(wrk.stdout), once(wrk, 'close')])
    const [, failed, counts = ''] = /^failed (\d+)(.*)$/m.exec(output) ?? []
    if (status !== 0 || failed !== '0') throw new Error(`wrk ended with ${status}:\n${output}`)
    return new Map(
      [...counts.matchAll(/ (\d+) (\d+)/g)].map(([, code, count]) => [Number(code), Number(count)]),
    )
  },
}
