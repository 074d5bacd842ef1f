import { WATCH, type WatchRevocation } from '../authentication/watch-revocation.ts'
import { ATTENDED } from '../outside/attendance.ts'
import type { TokenInfo } from '../tokens/token-info.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import type { DenyEntry } from './deny-entry.ts'
import { DenyListCore } from './deny-list-core.ts'
import type { DenyListRules } from './deny-list-options.ts'
import type { DenyListSource } from './deny-list-source.ts'

/**
 * A deny list, for the option `isRevoked`: tells whether an entry fits a token, and throws where it
 * cannot tell. Several services may have one list. It begins with the first installation of them,
 * and ends with the last.
 */
export interface DenyList {
  (userInfo: UserInfo, token: TokenInfo): boolean
  /**
   * Refuses the tokens that an entry fits: in this process at once, even where the entry cannot be
   * kept for the others, and in each other process as soon as it has asked for changes.
   *
   * @throws TypeError where it is no entry, and where it names a `sub` or `sid` without `issuer`
   * although the services that have the list accept several issuers
   * @throws ERR_AUTH_REVOCATION_UNAVAILABLE where the entry was perhaps not kept: add it again. It
   * never will be in PostgreSQL where a name has U+0000 or half of a surrogate pair: then only an
   * entry without that name, such as one of the `issuer`, reaches the other processes
   */
  add(entry: DenyEntry): Promise<void>
  /** There may be changes: they are asked for now. Does nothing where no service has the list. */
  wake(): void
  /**
   * Asks for changes, and resolves when all that was kept before this call counts here. For tests
   * and scripts.
   *
   * @throws ERR_AUTH_REVOCATION_UNAVAILABLE
   */
  ready(): Promise<void>
  /** How many entries are in memory. */
  size(): number
}

/** @param source undefined: the list of this process alone */
export function denyListFunction<Cursor>(
  rules: DenyListRules,
  source?: DenyListSource<Cursor>,
): DenyList {
  const core = new DenyListCore(rules, source)
  const list = Object.assign(
    (_userInfo: UserInfo, token: TokenInfo): boolean => core.isRevoked(token),
    {
      add: (entry: DenyEntry) => core.add(entry),
      wake: () => core.wake(),
      ready: () => core.ready(),
      size: () => core.size,
    },
  )
  const watch: WatchRevocation = (token, onRevoked) => core.watch(token, onRevoked)
  // Not enumerable: both are of no use to those who look at the function.
  return Object.defineProperties(list, {
    [ATTENDED]: { value: core.attendance },
    [WATCH]: { value: watch },
  })
}
