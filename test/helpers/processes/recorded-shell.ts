import { EventEmitter } from 'node:events'
import type { Shell } from '../../../lib/entrypoints/cli/command.ts'

/** A shell of a test: what is printed is kept, and `emit('SIGINT', 'SIGINT')` sends a signal. */
export interface RecordedShell extends Shell {
  readonly printed: { out: string; err: string }
  emit: EventEmitter['emit']
  eventNames: EventEmitter['eventNames']
}

export function recordedShell(env: Shell['env'] = {}, isTTY = false): RecordedShell {
  const printed = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({
    isTTY,
    write: (text: string) => {
      printed[name] += text
    },
  })
  return Object.assign(new EventEmitter(), {
    env: { ...process.env, NO_COLOR: '', FORCE_COLOR: undefined, TERM: 'xterm', ...env },
    stdout: stream('out'),
    stderr: stream('err'),
    printed,
  })
}
