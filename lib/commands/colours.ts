import type { Shell, Stream } from './command.ts'

/** What a terminal is told before and behind a text. */
const CODES = { red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

type Colour = keyof typeof CODES

/** Gives a text a colour. */
export type Paint = (colour: Colour, text: string) => string

/**
 * Colours for a terminal, and none for a file or a pipe. `NO_COLOR` takes them away, and
 * `FORCE_COLOR` brings them back. An empty variable says nothing.
 */
export function painting(stream: Stream, env: Shell['env']): Paint {
  if (!isColoured(stream, env)) return (_colour, text) => text
  return (colour, text) => {
    const [on, off] = CODES[colour]
    return `\u001b[${on}m${text}\u001b[${off}m`
  }
}

function isColoured(stream: Stream, env: Shell['env']): boolean {
  const forced = env['FORCE_COLOR']
  if (forced) return forced !== '0' && forced !== 'false'
  const isRefused = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  return stream.isTTY === true && !isRefused
}
