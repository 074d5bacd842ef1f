import { visible } from '../settings/shown-value.ts'

/** `ok`: as it should be. `warning`: it works, and is seldom meant. `wrong`: it does not work. */
export type Level = 'ok' | 'warning' | 'wrong'

/** One thing that was looked at, fit for a terminal. */
export interface Finding {
  readonly level: Level
  readonly what: string
  /** What to do; nothing where it is ok. */
  readonly cure?: string
}

export function fine(what: string): Finding {
  return { level: 'ok', what: visible(what) }
}

export function doubtful(what: string, cure: string): Finding {
  return { level: 'warning', what: visible(what), cure: visible(cure) }
}

export function wrong(what: string, cure: string): Finding {
  return { level: 'wrong', what: visible(what), cure: visible(cure) }
}
