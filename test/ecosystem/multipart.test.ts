import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import multipart from '@fastify/multipart'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

for (const side of SIDES) {
  test(`With @fastify/multipart ${side} the guard no byte of a stranger's upload is read`, async (t) => {
    // With this option the plugin reads the whole body before the handler, for each request that
    // comes so far.
    const { app } = await beside(t, side, (app) =>
      app.register(multipart, { attachFieldsToBody: true }),
    )
    const read: boolean[] = []
    app.addHook('onSend', async ({ raw }) => void read.push(raw.readableDidRead))
    app.post('/:tenant/pictures', async () => 'ok')
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { hostname, port } = new URL(app.listeningOrigin)
    const socket = connect(Number(port), hostname)
    t.after(() => socket.destroy())
    // The answer must come, although the body never does.
    socket.write(
      'POST /lazy-raccoon/pictures HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n' +
        'Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n',
    )
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1.1 401 /)
    assert.deepEqual(read, [false])
  })

  test(`With @fastify/multipart ${side} the guard a user's upload arrives`, async (t) => {
    const { app, authority } = await beside(t, side, (app) => app.register(multipart))
    app.post('/:tenant/pictures', { config: { tenant: true } }, async (request) => {
      const file = await request.file()
      return {
        tenant: request.tenant,
        name: file?.filename,
        size: (await file?.toBuffer())?.length,
      }
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const body = new FormData()
    body.set('picture', new Blob([new Uint8Array(5000)]), 'raccoon.png')
    const answer = await fetch(`${app.listeningOrigin}/lazy-raccoon/pictures`, {
      method: 'POST',
      headers: await authority.headers(ALICE),
      body,
    })
    assert.deepEqual(await answer.json(), {
      tenant: 'lazy-raccoon',
      name: 'raccoon.png',
      size: 5000,
    })
  })
}
