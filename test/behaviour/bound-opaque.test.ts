import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundApp } from '../helpers/app/bound-app.ts'
import { authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { HOLDER } from '../helpers/tokens/bound.ts'

const { thumbprint: jkt } = HOLDER

class Bound {
  get jkt() {
    return jkt
  }
}

/** What an application may give for a binding that JSON would lose. */
const HIDDEN: readonly [what: string, cnf: unknown][] = [
  ['a Map', new Map([['jkt', jkt]])],
  ['an object of a class', new Bound()],
  ['an object that inherits it', Object.create({ jkt })],
  ['a function', () => ({ jkt })],
]

for (const [what, cnf] of HIDDEN) {
  test(`an opaque token whose cnf is ${what} is no bearer token`, async (t) => {
    const names = { iss: authority.issuer, aud: authority.audience, sub: 'u', resources: RIGHTS }
    for (const confirmation of ['check', 'refuse']) {
      const opaqueToken = () => ({ ...names, cnf })
      const app = await boundApp(t, { opaqueToken, confirmation })
      const headers = { authorization: 'Bearer opaque' }
      const response = await app.inject({ url: '/me', headers })
      assert.match(outcome(response), /^(?:401|503) /, confirmation)
    }
  })
}
