import { bootWarnings } from '../settings/boot-warnings.ts'
import type { LoadedSettings } from '../settings/load-settings.ts'
import { doubtful, type Finding } from './finding.ts'

/** By the beginning of a warning. */
const CURES: readonly (readonly [start: string, cure: string])[] = [
  ['dev mode', 'take dev_mode away for production; then keys and tokens are looked at too'],
  ['superuserResource', 'say which tenants exist: [tenants] ids or tenant_url'],
  ['publicKeysUrl is not', 'give issuer, whose keys are then discovered, or public_keys_url'],
  ['publicKeysUrl of', 'use https there'],
  ['tenants is plain http', 'use https in tenant_url'],
  ['issuer', 'give issuer, exactly as the tokens name it'],
  ['audience', 'give audience: the name of this API at the server'],
  ['confirmation', 'take confirmation away, unless such a gateway stands in front'],
]

/** What the boot would warn of. */
export function examineSettings(loaded: LoadedSettings): Finding[] {
  return bootWarnings(loaded).map((warning) => {
    return doubtful(warning, cureOf(warning))
  })
}

export function cureOf(warning: string): string {
  const [, cure] = CURES.find(([start]) => warning.startsWith(start)) ?? []
  return cure ?? 'see the option in the README'
}
