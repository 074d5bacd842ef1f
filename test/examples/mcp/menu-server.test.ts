import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { menuServer, soupOf } from './menu-server.ts'

/** Rights of a user who calls `change_soup`, and the answer. */
const RIGHTS = [
  [[], 403],
  [['menu:read'], 403],
  [['menu:edit'], 403],
  [['menu:read', 'menu:edit'], 200],
] as const

for (const [scopes, status] of RIGHTS) {
  test(`a user with ${scopes.join(' and ') || 'no right'} who changes the soup gets ${status}`, async () => {
    const tenant = `tenant-${scopes.length}-${scopes[0]}`
    const parsedBody = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'change_soup' },
    }
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    }
    const resource = new URL('https://api.test/acme/mcp')
    const response = await createMcpHandler(() => menuServer(tenant)).fetch(
      new Request(resource, { method: 'POST', headers, body: JSON.stringify(parsedBody) }),
      { parsedBody, authInfo: { token: '', clientId: 'x', scopes: [...scopes], resource } },
    )
    assert.equal(response.status, status)
    await response.text()
    assert.equal(soupOf(tenant), status === 200 ? 'lentil soup' : 'soup of the day')
    const challenge = response.headers.get('www-authenticate')
    if (status === 200) return
    assert.match(String(challenge), /scope="menu:read menu:edit"/)
    assert.match(
      String(challenge),
      /resource_metadata="https:\/\/api\.test\/\.well-known\/oauth-protected-resource\/acme\/mcp"/,
    )
  })
}
