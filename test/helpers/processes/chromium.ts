import { existsSync } from 'node:fs'

/** Where Debian has it. The one without windows costs half as much. */
const PATHS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

const executablePath = PATHS.find((path) => existsSync(path)) ?? ''

/** For `skip`: why there is no browser here, or false. */
export const noChromium =
  executablePath === ''
    ? `no browser at ${PATHS.join(' or ')}; apt-get install chromium-headless-shell`
    : false

/**
 * For playwright's `launch`. No sandbox, because tests may run as root, and no network of its own.
 */
export const chromiumOptions = {
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
}
