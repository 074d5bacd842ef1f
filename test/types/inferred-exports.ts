import Fastify, { type FastifyRequest } from 'fastify'
import {
  type AuthOptions,
  type Authorization,
  AuthService,
  type DocumentEvent,
  type GuardedRequest,
  type ResourceMetadataOptions,
  type RouteDeclaration,
} from 'fastify-tenant-auth'
import { createTestAuthority, type ProbeOptions } from 'fastify-tenant-auth/testing'

// Exports of an application without annotations. `run.ts` writes their declarations in a folder
// that has installed the package: TypeScript must find a name for each type that they reach.

const auth = new AuthService()
export const app = Fastify()
export const stats = auth.stats()
export const { keys, decisions, tokenCache, proofs } = stats
export const report = () => ({ ...auth.stats(), routes: auth.routes() })
export const { authorization, signal } = await auth.authenticate({ token: 'a.b.c' })
export const stepUp = (user: Authorization) => user.stepUp

export const withRealm = (options: AuthOptions) => ({ ...options, realm: 'orders' })
export const metadata = (options: ResourceMetadataOptions) => ({ ...options, resourceName: 'a' })
export const required = (declaration: RouteDeclaration) => ({ ...declaration, tenant: true })
export const changed = (event: DocumentEvent) => ({ ...event })

export const who = ({ tenant, userInfo, authorization: rights }: FastifyRequest) => ({
  tenant,
  userInfo,
  rights,
})
export const config = (request: GuardedRequest<{ tenant: 'required' }>) =>
  request.routeOptions.config

/** For a handler of any declaration. */
export const ofAny = <Declaration extends RouteDeclaration>({
  tenant,
  userInfo,
  authorization: rights,
}: GuardedRequest<Declaration>) => ({ tenant, userInfo, rights })

export const authority = await createTestAuthority()
export const testOptions = { ...authority.options, realm: 'orders' }
export const probing = (options: ProbeOptions) => ({ ...options, tenant: 'acme' })
export const issuerOfTests = { ...authority.issuerRules({ tenants: '*' }) }
