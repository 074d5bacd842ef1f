import { existsSync } from 'node:fs'

/** Where Debian's chromium is. */
const PATH = '/usr/bin/chromium'

/** For `skip`: why there is no browser here, or false. */
export const noChromium = existsSync(PATH)
  ? false
  : `no browser at ${PATH}; apt-get install chromium`

/**
 * For playwright's `launch`. No sandbox, because tests may run as root, and no network of its own.
 */
export const chromiumOptions = {
  executablePath: PATH,
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
