import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { LOADER, onceBundled } from './program.ts'

/**
 * The JSON that a program of `children/` wrote. The program must end by itself within so many
 * milliseconds.
 */
export async function runChild(
  name: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
  limit = 60_000,
  env: NodeJS.ProcessEnv = {},
): Promise<Record<string, unknown>> {
  const program = [...LOADER, onceBundled(name)]
  const child = spawn(
    process.execPath,
    [...nodeOptions, '--unhandled-rejections=strict', ...program, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limit,
      killSignal: 'SIGKILL',
      env: { ...process.env, ...env },
    },
  )
  const [out, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  assert.equal(signal, null, `${name} had not ended after ${limit} ms: ${errors}`)
  assert.equal(code, 0, `${name} ended with ${code}: ${errors}`)
  return JSON.parse(out)
}

/** A number that a child has printed. */
export function numberOf(printed: Record<string, unknown>, name: string): number {
  const value = printed[name]
  assert.ok(typeof value === 'number', `${name} is ${value}`)
  return value
}
