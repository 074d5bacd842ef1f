import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { createSigner } from 'fast-jwt'
import { codeBlocks } from '../helpers/documents/markdown.ts'
import { guide } from '../helpers/documents/pages.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { type Account, appWithLogin } from './own-login.ts'

const folder = tempFolder()

/** As the command on the page makes it. */
const [makeKey] = codeBlocks(guide('guides/own-login')).filter(({ language }) => language === 'sh')
execFileSync('sh', ['-c', makeKey?.text ?? ''], { cwd: folder.path, stdio: 'ignore' })
const privateKey = readFileSync(`${folder.path}/private.pem`, 'utf8')

const dora: Account = { id: 'dora', resources: { 'lazy-raccoon': ['menu:read'] } }
const accountOf = async (body: unknown) => (Object(body).password === 'right' ? dora : null)

test('a token of the own login opens the tenants of its account, and no others', async (t) => {
  const app = await appWithLogin(privateKey, accountOf)
  t.after(() => app.close())
  const login = (password: string) =>
    app.inject({ method: 'POST', url: '/login', payload: { password } })
  assert.equal((await login('wrong')).statusCode, 401)

  const { body: token } = await login('right')
  const menuOf = (tenant: string, bearer = token) =>
    app.inject({ url: `/${tenant}/menu`, headers: { authorization: `Bearer ${bearer}` } })
  const own = await menuOf('lazy-raccoon')
  assert.deepEqual([own.statusCode, own.body], [200, 'the menu of lazy-raccoon for dora'])
  assert.equal((await menuOf('busy-beaver')).statusCode, 403)
})

test('a token that is signed with a secret is refused, though all of its claims are good', async (t) => {
  const app = await appWithLogin(privateKey, accountOf)
  t.after(() => app.close())
  const sign = createSigner({
    key: 'a secret of at least 32 characters',
    algorithm: 'HS256',
    ...{ iss: 'https://lunch.example.com', aud: 'lunch', expiresIn: 60_000 },
  })
  const authorization = `Bearer ${sign({ sub: 'dora', resources: dora.resources })}`
  const { statusCode } = await app.inject({ url: '/lazy-raccoon/menu', headers: { authorization } })
  assert.equal(statusCode, 401)
})
