import { randomUUID } from 'node:crypto'
import { chmod, chown, lstat, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { matrixJson, type PolicyMatrix, readMatrix } from '../inspection/policy-matrix.ts'
import { errorCode } from '../outside/error-code.ts'
import { CommandFailure } from './command.ts'

const CURE = "make it with 'fastify-tenant-auth policy --write'"

/** @throws CommandFailure that says why the file cannot be read */
export async function readMatrixFile(file: string): Promise<PolicyMatrix> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be read (${errorCode(error)}); ${CURE}`)
  })
  const matrix = readMatrix(text)
  if (typeof matrix !== 'string') return matrix
  throw new CommandFailure(`${file} cannot be used: ${matrix}; ${CURE}`)
}

/**
 * Writes the file that is there, or the one that a link leads to, which keeps its mode and owner.
 * Where it can, it writes the whole file, or leaves what is there.
 */
export async function writeMatrixFile(file: string, matrix: PolicyMatrix): Promise<void> {
  const text = matrixJson(matrix)
  try {
    const place = await realpath(file).catch(() => file)
    const isReplaced = await replace(place, text)
    if (!isReplaced) await writeFile(file, text)
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written (${errorCode(error)})`)
  }
}

/** What keeps a new file from taking the place of an old one, which may be written all the same. */
const ONLY_IN_PLACE = ['EACCES', 'EPERM', 'EBUSY', 'ENAMETOOLONG']

/** @returns false where the file can only be written in place */
async function replace(file: string, text: string): Promise<boolean> {
  const old = await lstat(file).catch(() => undefined)
  // A link to a file that is not there yet, a pipe, and a file of several names would be cut off.
  if (old !== undefined && (!old.isFile() || old.nlink > 1)) return false
  const beside = `${file}.${randomUUID()}.new`
  try {
    await writeFile(beside, text, { flag: 'wx' })
    if (old !== undefined) {
      await chown(beside, old.uid, old.gid)
      await chmod(beside, old.mode)
    }
    await rename(beside, file)
    return true
  } catch (error) {
    // It may be that no such name can be.
    await rm(beside, { force: true }).catch(() => {})
    if (ONLY_IN_PLACE.includes(errorCode(error))) return false
    throw error
  }
}
