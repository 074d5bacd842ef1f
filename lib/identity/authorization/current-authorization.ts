import { AsyncLocalStorage } from 'node:async_hooks'
import type { Authorization } from './authorization.ts'

/** Made for the first service that has `asyncContext`. Without one there is nothing to pay for. */
let contexts: AsyncLocalStorage<Authorization | null> | undefined

/** True if any code may run under an authorization. Without that, requests need not look. */
export let hasContexts = false

/** From now on, code may run under an authorization. */
export function openContexts(): void {
  hasContexts = true
  contexts ??= new AsyncLocalStorage()
}

/**
 * The authorization of the request, or of the `actAs`, that this code runs for: anywhere below a
 * handler, after each `await` and in each timer too. Null outside of both, in a route with
 * `noauth`, in a request that is not let through, and if the option `asyncContext` is off.
 *
 * Code that another request calls runs for that one: the listener of an event, and the callback of
 * a pool. `AsyncResource.bind` of node:async_hooks ties such a function to the request that made
 * it.
 */
export function currentAuthorization(): Authorization | null {
  return contexts?.getStore() ?? null
}

/** Runs a function, and all that it begins, under an authorization; for null under none. */
export function runWithAuthorization<T>(authorization: Authorization | null, run: () => T): T {
  if (contexts === undefined || currentAuthorization() === authorization) return run()
  return contexts.run(authorization, run)
}
