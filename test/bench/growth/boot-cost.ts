import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AuthOptions } from '../../../lib/index.ts'
import type { Boot } from '../boot.ts'
import { median, quartiles } from '../statistics.ts'

const ROUNDS = 7

/** What the plugin adds to the boot of an application with many routes. */
export async function tellBoot(options: AuthOptions, print: (line: string) => void): Promise<void> {
  print('\n| boot of 10 000 routes | against the same without the plugin |\n|---|---|')
  for (const isChildScope of [false, true]) {
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const without = await bootTime({ isChildScope })
      ratios.push((await bootTime({ isChildScope, options })) / without)
    }
    const [low, high] = quartiles(ratios)
    const spread = `${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
    print(`| ${isChildScope ? 'child scope' : 'root instance'} | ${spread} |`)
  }
}

async function bootTime(boot: Boot): Promise<number> {
  const child = fork(fileURLToPath(new URL('../boot.ts', import.meta.url)))
  child.send(boot)
  const [[seconds]] = await Promise.all([once(child, 'message'), once(child, 'exit')])
  return Number(seconds)
}
