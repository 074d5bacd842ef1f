import { isProtected } from '../outside/protected-address.ts'
import { TextThat } from '../settings/option-kinds.ts'

/** How a boot error describes what `isServerAddress` accepts. */
export const SERVER_ADDRESS = 'an https URL (http on loopback only) without credentials'

/** The address of a server, as a member of options. */
export const ADDRESS = TextThat(SERVER_ADDRESS, isServerAddress)

/**
 * Whether tokens and secrets may be sent to an address: https, or http on loopback. Logs show
 * addresses, so that credentials must not stand in them. A fragment is never sent.
 */
export function isServerAddress(address: unknown): address is string {
  return typeof address === 'string' && isProtected(address) && !address.includes('#')
}
