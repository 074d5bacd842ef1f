import { setTimeout } from 'node:timers/promises'
import type { AuthOptions } from '../../../lib/index.ts'
import { guarded, type Setup } from './application.ts'
import { keptBytes } from './compared.ts'
import { type Ask, exchange } from './exchange.ts'
import { asking, asksOf } from './requests.ts'

/** How many tenants or users ask a fresh process at once. */
const AT_ONCE = 1_000

const IN_TURN = 10_000

/** Milliseconds of one question to a database. */
const QUESTION = 5

const nameOf = (serial: number) => `https://issuer-${serial}.test`

/**
 * What a fresh process answers that a thousand ask at once, and what an issuer takes of ten
 * thousand that ask in turn, as often as `issuersMax` holds them.
 */
export async function printColdStart(
  setup: Setup,
  print: (line: string) => void,
  { atOnce = AT_ONCE, inTurn = IN_TURN }: { atOnce?: number; inTurn?: number } = {},
): Promise<void> {
  const { authority } = setup
  const ofTenants = await asksOf(authority, atOnce, (i) => ({ issuer: nameOf(i), letters: 0 }))
  const ofUsers = await asksOf(authority, atOnce)
  const { issuers } = dynamicIssuers(setup)
  print(await coldStart(setup, 'tenants, an issuer each', { issuers }, ofTenants))
  const resourcesOf: AuthOptions['resourcesOf'] = async () => {
    await setTimeout(QUESTION)
    return { acme: ['menu:read', 'order:read'], '*': ['profile:read'] }
  }
  const known = { ...authority.options, resourcesOf }
  print(await coldStart(setup, 'users under resourcesOf', known, ofUsers))
  print(await issuersInTurn(setup, inTurn))
}

function dynamicIssuers({ authority: { publicKeys, audience } }: Setup) {
  const asked = new Map<string, number>()
  const rules = { publicKeys, audience, tenants: '*' } as const
  const issuers: NonNullable<AuthOptions['issuers']> = async (issuer) => {
    asked.set(issuer, (asked.get(issuer) ?? 0) + 1)
    await setTimeout(QUESTION)
    return rules
  }
  return { asked, issuers }
}

async function coldStart(
  setup: Setup,
  what: string,
  options: AuthOptions,
  asks: readonly Ask[],
): Promise<string> {
  const app = await guarded(setup, options)
  const begun = performance.now()
  const statuses = await Promise.all(asks.map((ask) => exchange(app, ask)))
  const milliseconds = Math.round(performance.now() - begun)
  await app.close()
  const good = statuses.filter((status) => status === 200).length
  if (good < asks.length) throw new Error(`${what}: ${asks.length - good} were not answered`)
  return `cold start, ${asks.length} ${what}: all 200 in ${milliseconds} ms`
}

async function issuersInTurn(setup: Setup, count: number): Promise<string> {
  const { asked, issuers } = dynamicIssuers(setup)
  const asks = await asksOf(setup.authority, count, (i) => ({ issuer: nameOf(i), letters: 0 }))
  // The cache of tokens keeps one, so that each request looks for its issuer.
  const options = { issuers, issuersMax: 2 * count, issuersMaxAge: 86_400, tokenCacheSize: 1 }
  const { made: app, bytes } = await keptBytes(count, async () => {
    const made = await guarded(setup, options)
    await asking(made, asks)(count)
    return made
  })
  await asking(app, asks)(count)
  await app.close()
  const most = Math.max(...asked.values())
  if (asked.size < count || most > 1) throw new Error(`an issuer was asked for ${most} times`)
  return `issuers in turn, ${count}: each asked for once, ${Math.round(bytes ?? 0)} bytes each`
}
