import type { FastifyRequest } from 'fastify'
import type { Actor, DecisionEvent, DocumentEvent, Stats } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

export function onDecision(event: DecisionEvent): void {
  // Prevents that a subscriber counts on a request, or on a user, that need not be there.
  expectType(event.request).is<FastifyRequest | null>()
  expectType(event.outcome).is<'admitted' | 'refused' | 'internal'>()
  expectType(event.code).is<string | null>()
  expectType(event.statusCode).is<number | null>()
  expectType(event.reason).is<string | null>()
  expectType(event.issuer).is<string | null>()
  expectType(event.sub).is<string | null>()
  expectType(event.actor).is<Actor | null>()
  expectType(event.tenant).is<string | null>()
  expectType(event.required).is<readonly string[] | null>()
  expectType(event.cached).is<boolean | null>()
  expectType(event.bound).is<'dpop' | 'mtls' | null>()
  // @ts-expect-error what was decided is reported, not written
  event.outcome = 'admitted'
}

export function onDocument(event: DocumentEvent): void {
  expectType(event.kind).is<'keys' | 'issuer' | 'tenants' | 'denyList'>()
  expectType(event.name).is<string>()
  expectType(event.event).is<'fetched' | 'failed' | 'stale' | 'gone' | 'changed'>()
  expectType(event.added).is<readonly string[] | undefined>()
  expectType(event.removed).is<readonly string[] | undefined>()
  // Prevents that the age of what never came is taken for 0.
  expectType(event.age).is<number | null>()
  expectType(event.reason).is<string | null>()
}

const stats = app.authService.stats()
expectType(stats).is<Stats>()
expectType(stats.decisions.admitted).is<number>()
// Prevents that a code that did not occur is taken for 0.
expectType(stats.decisions.refused['ERR_AUTH_TOKEN_MISSING']).is<number | undefined>()
expectType(stats.tokenCache.hits).is<number>()
expectType(stats.keys.unknownKid).is<number>()
expectType(stats.proofs.replayed).is<number>()
// @ts-expect-error it is a copy, for reading
stats.tokenCache.hits = 0
