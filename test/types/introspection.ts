import * as door from 'fastify-tenant-auth/introspection'
import { expectType, expectTypes } from './expect-type.ts'

const { introspection, seacatExchange, sharedSecret } = door

// Prevents a function that is taken away unnoticed.
expectTypes<keyof typeof door, 'introspection' | 'seacatExchange' | 'sharedSecret'>()

const client = { issuer: 'https://login.example.com', clientId: 'menu-api' }
const ask = introspection({ ...client, clientSecret: 'secret' })
expectType(ask('token')).is<Promise<door.OpaqueAnswer>>()

// Prevents a function that does not fit where tokens are asked of.
const all: door.OpaqueToken[] = [
  ask,
  introspection({ ...client, privateKey: { kty: 'EC' }, signed: true }),
  introspection({ ...client, clientSecret: 'secret', url: 'https://login.example.com/introspect' }),
  seacatExchange({ url: 'https://auth.example.com/nginx/introspect' }),
  sharedSecret({ secrets: 'from the environment', issuer: 'https://own.example.com' }),
  (token) => ({ sub: token }),
  async () => null,
]
expectType(all.length).is<number>()

// @ts-expect-error a client proves itself
introspection(client)
// @ts-expect-error in one way
introspection({ ...client, clientSecret: 'secret', privateKey: {} })
// @ts-expect-error which is never left open
introspection({ ...client, clientSecret: undefined })
// @ts-expect-error as nothing else is
introspection({ ...client, clientSecret: 'secret', url: undefined })
// @ts-expect-error a key is a JWK
introspection({ ...client, privateKey: '-----BEGIN PRIVATE KEY-----' })
// @ts-expect-error there is no such member
introspection({ ...client, clientSecret: 'secret', scope: 'menu' })
// @ts-expect-error the address is not guessed
seacatExchange({})

const own = { secrets: [Buffer.alloc(32), 'a text'], issuer: 'https://own.example.com' }
sharedSecret({ ...own, audience: 'lunch', algorithms: ['HS256', 'HS512'] })
// @ts-expect-error a key is no secret
sharedSecret({ ...own, algorithms: ['RS256'] })
// @ts-expect-error whose tokens they are is never left open
sharedSecret({ secrets: 'a text' })
// @ts-expect-error a variable that may be missing
sharedSecret({ ...own, secrets: process.env['SECRET'] })
