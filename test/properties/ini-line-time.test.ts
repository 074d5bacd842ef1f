import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nearestName } from '../../lib/config/did-you-mean.ts'
import { meantSection, readItems, readLine, readValue } from '../../lib/config/ini-line.ts'
import { showName, showValue } from '../../lib/config/redact.ts'

/**
 * Long enough for a clear difference: a quadratic reading of eight times as much would take 64
 * times as long. It still takes no minutes.
 */
const LENGTH = 4_000

/** Milliseconds that the clock and other work of the machine may add to the fastest reading. */
const NOISE = 0.5

/**
 * Milliseconds of the fastest of several readings, in our own code: neither the time that others
 * have the processor nor that of the system, which hands out memory.
 */
function timeOf(read: (text: string) => unknown, text: string): number {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    read(text)
    return process.cpuUsage(start).user / 1000
  })
  return Math.max(NOISE, Math.min(...times))
}

/**
 * Whether one of several rounds says so. Other work of the machine makes a round slower, and never
 * faster. Linux guesses which part of the time was our own code's, and on a busy machine all of it
 * may seem so again and again.
 */
function isLinear(read: (text: string) => unknown, short: string): boolean {
  const rounds = Array.from({ length: 20 })
  return rounds.some(() => timeOf(read, short.repeat(8)) / timeOf(read, short) < 20)
}

const readWhole = (line: string): unknown => {
  const read = readLine(line)
  return read.kind === 'entry' && read.text !== null
    ? [readValue(read.text), readItems(read.text)]
    : read
}

/** Lines that hold a long run of one text, and their reader. */
const LINES: readonly (readonly [name: string, line: (run: string) => string])[] = [
  ['nothing but the run', (run) => run],
  ['the run before a letter', (run) => `${run}x`],
  ['the run after a key', (run) => `realm${run}x`],
  ['the run before the sign', (run) => `realm${run}= x`],
  ['the run after the sign', (run) => `realm =${run}x`],
  ['the run within a value', (run) => `realm = a${run}b`],
  ['the run after a value', (run) => `realm = a${run}`],
  ['the run before a comment', (run) => `realm = a${run};b`],
  ['the run within quotes', (run) => `realm = "${run}"`],
  ['the run after quotes', (run) => `realm = "a"${run}x`],
  ['the run after an open quote', (run) => `realm = "${run}`],
  ['the run within a section', (run) => `[${run}auth${run}x${run}]`],
  ['the run within an open section', (run) => `[${run}auth${run}`],
  ['the run before a section', (run) => `${run}[auth] x`],
  ['the run after a section', (run) => `[auth]${run}x`],
  ['the run before a bracket', (run) => `auth${run}]${run}x`],
]

describe('eight times as much takes at most twenty times as long', () => {
  const readers: readonly (readonly [string, (text: string) => unknown])[] = [
    ...LINES.map(([name, line]) => [name, (run: string) => readWhole(line(run))] as const),
    ['a section to compare', (run) => meantSection(`auth${run}x`)],
    ['a key to compare', (run) => nearestName(`keys${run}x`, ['keys_max_age'])],
    ['a value to show', (run) => showValue(`https:${run}x`)],
    ['a name to show', (run) => showName(`https:${run}x`)],
  ]
  for (const [name, read] of readers) {
    test(name, () => {
      for (const run of [
        ' ',
        '\t',
        '\u2028',
        '=',
        ';',
        '#',
        '"',
        "'",
        '\\',
        '[',
        ']',
        '/',
        '{',
        'eyJ',
        '-----BEGIN ',
        '@',
      ]) {
        const short = run.repeat(LENGTH / run.length)
        assert.equal(isLinear(read, short), true, `${JSON.stringify(run)}: longer`)
      }
    })
  }
})
