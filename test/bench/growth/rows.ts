import { decisionChannel } from './decision-channel.ts'
import { denyListRow } from './deny-list.ts'
import { everydayOptions } from './everyday-options.ts'
import type { Setup } from './guarded.ts'
import { issuers } from './issuers.ts'
import { routes } from './routes.ts'
import type { Row } from './series.ts'
import { tenants } from './tenants.ts'
import { tenantsOfToken } from './tenants-of-token.ts'
import { tokenSize } from './token-size.ts'
import { tokens } from './tokens.ts'
import { users } from './users.ts'

const ROWS = [
  ...[routes, tenants, tenantsOfToken, tokens, tokenSize],
  ...[issuers, denyListRow, users, decisionChannel, everydayOptions],
]

/** All that grows. */
export function rowsOf(setup: Setup): Row[] {
  return ROWS.map((row) => row(setup))
}
