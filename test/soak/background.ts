import type { Span } from './history.ts'
import type { Ask, Window } from './oracle.ts'
import { World } from './world.ts'

/** What bears on a request, for a reader. Times are in seconds from its sending on. */
export function backgroundOf({ process, token, tenants }: Ask, world: World, window: Window) {
  const the = world.processes[process]
  const since = (time: number) => Math.round(time - window.from) / 1000
  const spanOf = ({ from, until }: Span) => `${since(from)} to ${since(until)}`
  const claims =
    token !== null && 'claims' in token ? token.claims : the?.opaque.latest(token?.text ?? '')
  const issuer = world.issuers.get(claims?.iss ?? '')
  const user = claims && World.userKey({ issuer: claims.iss, sub: claims.sub })
  const shown = (held: readonly (Span & { readonly value: unknown })[]) =>
    held.slice(-5).map((one) => `${JSON.stringify(one.value)} ${spanOf(one)}`)
  const kids = (held: readonly (Span & { readonly value: ReadonlySet<string> })[]) =>
    shown(held.map((one) => ({ ...one, value: [...one.value] })))
  const served = issuer?.served[process]?.all() ?? []
  return {
    answered: since(window.until),
    wall: window.wall.from / 1000,
    clock: shown(the?.clock.all() ?? []),
    patience: the?.stalls.before(window.until),
    served: kids(served.map((one) => ({ ...one, value: one.value.kids }))),
    published: kids(issuer?.published.all() ?? []),
    keyOutages: issuer?.outages.all().slice(-3).map(spanOf),
    storeOutages: world.store.all().slice(-3).map(spanOf),
    tenant: shown(the?.tenants.all(tenants[0] ?? '') ?? []),
    rights: shown(the?.rights.all(user ?? '') ?? []),
    opaque: shown(the?.opaque.all(token?.text ?? '') ?? []),
    entries: claims && world.revocations.timesOf(claims).map((times) => times.map(since).join(' ')),
  }
}
