import type { Changes, GivenEntry, KeptEntry } from '../../../lib/entrypoints/revocation/index.ts'

/** What an application keeps its entries in: each has a number, and the cursor is the last one. */
export class EntryLog {
  readonly entries: GivenEntry[] = []
  /** The cursors that were asked for. */
  readonly asked: (number | null)[] = []
  /** How an answer is changed on its way, or held up. */
  onAnswer: (answer: Changes<number>) => unknown = (answer) => answer

  readonly append = async (entry: KeptEntry): Promise<void> => {
    this.entries.push(JSON.parse(JSON.stringify(entry)))
  }

  readonly changes = async (cursor: number | null): Promise<Changes<number>> => {
    this.asked.push(cursor)
    const answer = { entries: this.entries.slice(cursor ?? 0), cursor: this.entries.length }
    return untypedAnswer(await this.onAnswer(answer))
  }
}

/** What an application without types may give. */
const untypedAnswer: (answer: unknown) => Changes<number> = (answer) => Object(wrapped(answer)).it

const wrapped = (it: unknown) => ({ it })
