import type { AuthOptions, IssuerRules } from '../../lib/index.ts'

export const listed: AuthOptions = {
  audience: 'lunch',
  issuers: [
    { issuer: 'https://login.example.com', tenants: '*' },
    { issuer: 'https://idp.acme.example/realms/staff', tenants: ['acme', 'acme-test'] },
  ],
}

/** In earnest a table of a database. */
const providers = new Map<string, IssuerRules>([
  ['https://idp.acme.example/realms/staff', { name: 'acme', tenants: ['acme', 'acme-test'] }],
])

async function providerOf(issuer: string): Promise<IssuerRules | undefined> {
  return providers.get(issuer)
}

export const asked: AuthOptions = {
  audience: 'lunch',
  issuers: async (issuer) => (await providerOf(issuer)) ?? null,
}
