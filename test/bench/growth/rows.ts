import type { Setup } from './application.ts'
import { decisionChannel } from './decision-channel.ts'
import { denyListRow } from './deny-list.ts'
import { everydayRows } from './everyday.ts'
import { issuers } from './issuers.ts'
import type { Row } from './measure.ts'
import { unusedOptions, usedOptions } from './options.ts'
import { users } from './users.ts'

/** All that grows. */
export function rowsOf(setup: Setup): Row[] {
  return [
    ...everydayRows(setup),
    ...[issuers, denyListRow, users, decisionChannel, unusedOptions].map((row) => row(setup)),
    ...usedOptions(setup),
  ]
}
