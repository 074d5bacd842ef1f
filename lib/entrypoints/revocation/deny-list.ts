import * as Type from '@sinclair/typebox'
import { entryPointOptions } from '../../config/option-reader.ts'
import { Callable } from '../../config/option-types.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { ownMember } from '../../platform/runtime/own-property.ts'
import { type DenyList, denyListFunction } from './deny-list-function.ts'
import { checkRules, type DenyListRules, RULES } from './deny-list-options.ts'
import type { Changes, KeptEntry } from './entry.ts'
import type { DenyListSource } from './poller.ts'

/** The place of the entries of all processes, and the rules of the list. */
export interface DenyListOptions<Cursor> extends Partial<DenyListRules> {
  /**
   * Returns the entries that were added since a cursor; for `null`, all that have not ended. It is
   * called so at first, and after any failure. It may repeat earlier entries. An answer that is
   * late (10 seconds), or that cannot be read, is a failure, and leaves the list as it is. Not
   * given: the list is that of this process alone.
   */
  readonly changes?: (cursor: Cursor | null) => Changes<Cursor> | Promise<Changes<Cursor>>
  /**
   * Called by `add`: stores an entry, so that `changes` returns it in every process. It takes 10
   * seconds at most. Not given: `add` throws, and the entry counts in this process alone.
   */
  readonly append?: (entry: KeptEntry) => unknown
}

type Functions<Cursor> = Required<Pick<DenyListOptions<Cursor>, 'changes' | 'append'>>

/**
 * For the option `isRevoked`: refuses the tokens that its entries fit. Each process holds all
 * entries in memory, and asks `changes` for new ones every `interval`, so that no request waits for
 * a network.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function denyList<Cursor = unknown>(given: DenyListOptions<Cursor> = {}): DenyList {
  const options = entryPointOptions('denyList', given, {
    // Their answers are checked when they are called.
    changes: Type.Optional(Callable<Functions<Cursor>['changes']>()),
    append: Type.Optional(Callable<Functions<Cursor>['append']>()),
    ...RULES,
  })
  checkRules(options)
  if (options.has('append') && !options.has('changes')) {
    options.refuse('append', 'changes beside it', 'append alone')
  }
  const { changes, append, ...rules } = options.finish()
  const source: DenyListSource<Cursor> | undefined = changes && {
    async changes(cursor) {
      const answer = await changes(cursor)
      const isList = Array.isArray(ownMember(answer, 'entries'))
      if (isList && ownMember(answer, 'cursor') !== undefined) {
        return { entries: [...answer.entries], cursor: answer.cursor }
      }
      throw new Unusable('no entries with a cursor')
    },
    append,
  }
  return denyListFunction(rules, source)
}
