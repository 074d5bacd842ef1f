import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import tls from 'node:tls'
import { findCommand } from './commands.ts'
import { freePort } from './own-server.ts'
import { selfSigned } from './self-signed.ts'

/** Milliseconds until a started proxy must answer. */
const LIMIT = 20_000

/** Where the application listens. */
export interface Upstream {
  readonly port: number
  readonly path: string
}

export interface TlsProxy {
  /** Over TLS, on loopback. */
  readonly port: number
  close(): Promise<void>
}

interface Place extends Upstream {
  readonly folder: string
  /** Where the proxy listens. */
  readonly at: string
  /** Certificates of clients that it trusts. */
  readonly trusted: string
}

/**
 * A real proxy, which ends the TLS of clients, and hands their certificates on: all requests to the
 * port, and those below `/unix` to the socket.
 *
 * @param trusted certificates of clients, in PEM
 */
export async function startTlsProxy(
  kind: keyof typeof PROGRAMS,
  upstream: Upstream,
  trusted: readonly string[],
): Promise<TlsProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tenant-auth-proxy-'))
  const port = await freePort()
  const { cert, key } = selfSigned('proxy.test')
  const files = { folder, trusted: join(folder, 'trusted.pem') }
  writeFileSync(join(folder, 'proxy.pem'), `${cert}${key}`, { mode: 0o600 })
  writeFileSync(files.trusted, trusted.join(''))
  const { settings, args } = PROGRAMS[kind]
  const file = join(folder, 'proxy.conf')
  writeFileSync(file, settings({ ...upstream, ...files, at: `127.0.0.1:${port}` }))
  const command = findCommand(kind) ?? assert.fail(`${kind} is not installed`)
  const child = spawn(command, args(folder, file), { stdio: ['ignore', 'ignore', 'pipe'] })
  const words: string[] = []
  child.stderr.on('data', (chunk) => words.push(String(chunk)))
  const exit = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const close = async () => {
    process.off('exit', kill)
    if (child.exitCode === null && child.signalCode === null) kill()
    await exit
    rmSync(folder, { recursive: true, force: true })
  }
  const end = performance.now() + LIMIT
  while (!(await answers(port))) {
    if (child.exitCode === null && performance.now() < end) await setTimeout(20)
    else {
      await close()
      assert.fail(`${kind} does not answer: ${words.join('')}`)
    }
  }
  return { port, close }
}

async function answers(port: number): Promise<boolean> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(1000) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

// One process each, which does not leave the foreground.
const PROGRAMS = {
  nginx: {
    args: (folder: string, file: string) => ['-p', folder, '-e', 'stderr', '-c', file],
    settings: ({ folder, at, trusted, port, path }: Place) => `
daemon off;
master_process off;
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((what) => `${what}_temp_path ${folder}/${what};`).join('\n  ')}
  server {
    listen ${at} ssl http2;
    ssl_certificate ${folder}/proxy.pem;
    ssl_certificate_key ${folder}/proxy.pem;
    ssl_client_certificate ${trusted};
    ssl_verify_client optional;
    ssl_session_cache shared:sessions:1m;
    proxy_set_header ssl-client-cert $ssl_client_escaped_cert;
    location / { proxy_pass http://127.0.0.1:${port}; }
    location /unix { proxy_pass http://unix:${path}:; }
  }
}
`,
  },
  haproxy: {
    args: (_folder: string, file: string) => ['-db', '-f', file],
    settings: ({ folder, at, trusted, port, path }: Place) => `
defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
frontend tls
  bind ${at} ssl crt ${folder}/proxy.pem ca-file ${trusted} verify optional alpn h2,http/1.1
  http-request del-header client-cert
  http-request set-header client-cert :%[ssl_c_der,base64]: if { ssl_c_used }
  use_backend socket if { path_beg /unix }
  default_backend port
backend port
  server app 127.0.0.1:${port}
backend socket
  server app unix@${path}
`,
  },
}
