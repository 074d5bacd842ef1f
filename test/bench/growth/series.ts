/** What is done so often. */
export type Work = (times: number) => void | Promise<void>

/** One size of what grows. */
export interface Size {
  readonly size: string
  readonly subject: Work
  /** The same without what grows: it is measured beside the subject, in each round. */
  readonly control: Work
  /** Memory that each one keeps alive; undefined: too few for a figure. */
  readonly bytes?: number | undefined
}

/** Sizes that should cost the same, the smallest first. */
export interface Series {
  readonly what: string
  readonly sizes: readonly Size[]
  /** False: the figures are told, and are not to be the same. */
  readonly isFlat: boolean
  /** Lets go what was built. */
  close?(): Promise<void>
}

/** One thing that grows, and the ways in which a request can meet it. */
export interface Row {
  readonly name: string
  readonly sizes: readonly number[]
  /** Each is built when the one before it has been measured. */
  series(sizes: readonly number[]): AsyncIterable<Series>
}
