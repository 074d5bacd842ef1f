import { inspect } from 'node:util'
import type { Shell, Stream } from './command.ts'

type Colour = 'red' | 'green' | 'yellow' | 'bold'

/** Gives a text a colour. */
export type Paint = (colour: Colour, text: string) => string

/**
 * Colours for a terminal, and none for a file or a pipe. `NO_COLOR` takes them away, and
 * `FORCE_COLOR` brings them back.
 */
export function painting(stream: Stream, env: Shell['env']): Paint {
  if (!isColoured(stream, env)) return (_colour, text) => text
  return (colour, text) => {
    const [on, off] = inspect.colors[colour] ?? [0, 0]
    return `\u001b[${on}m${text}\u001b[${off}m`
  }
}

function isColoured(stream: Stream, env: Shell['env']): boolean {
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  const isRefused = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  return stream.isTTY === true && !isRefused
}
