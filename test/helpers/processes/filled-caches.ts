import { TokenCache } from '../../../lib/identity/authentication/token-cache.ts'

/** Every token cache of this process that something was put into. The real method does the work. */
export const filledCaches = new Set<TokenCache<unknown>>()

const { set } = TokenCache.prototype
TokenCache.prototype.set = function remember(...args) {
  filledCaches.add(this)
  set.apply(this, args)
}
