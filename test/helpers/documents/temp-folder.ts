import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** A folder that is removed after the test file, and a way to put a file into it. */
export function tempFolder() {
  const path = mkdtempSync(join(tmpdir(), 'tenant-auth-test-'))
  after(() => rmSync(path, { recursive: true, force: true }))
  let serial = 0
  return {
    path,
    /** Writes a file. Returns its path. */
    write(content: string | Uint8Array, name = `file-${++serial}`): string {
      const file = join(path, name)
      writeFileSync(file, content)
      return file
    },
  }
}
