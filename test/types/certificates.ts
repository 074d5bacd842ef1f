import type { FastifyRequest } from 'fastify'
import * as door from 'fastify-tenant-auth/certificates'
import { expectType, expectTypes } from './expect-type.ts'

const { certificateFrom } = door

// Prevents a function that is taken away unnoticed.
expectTypes<keyof typeof door, 'certificateFrom'>()

const proxies = ['10.0.0.0/8', '::1', 'unix'] as const
expectType(certificateFrom('client-cert', { proxies })).is<
  (request: FastifyRequest) => Buffer | null
>()
const headers: door.CertificateHeader[] = ['x-forwarded-client-cert', 'ssl-client-cert']
for (const header of headers) certificateFrom(header, { proxies: ['10.0.0.0/8'] })

// @ts-expect-error there is no header that counts from anywhere
certificateFrom('client-cert')
// @ts-expect-error whose header counts is never a default
certificateFrom('client-cert', {})
// @ts-expect-error there is no such header
certificateFrom('x-client-cert', { proxies })
// @ts-expect-error there is no such name
certificateFrom('client-cert', { proxies, trustProxy: true })
