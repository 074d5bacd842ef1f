import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { matrixJson, type PolicyMatrix } from '../inspection/policy-matrix.ts'
import { readMatrix } from '../inspection/read-matrix.ts'
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

/** Writes the whole file, or leaves what is there. */
export async function writeMatrixFile(file: string, matrix: PolicyMatrix): Promise<void> {
  const beside = `${file}.${randomUUID()}.new`
  try {
    await writeFile(beside, matrixJson(matrix))
    await rename(beside, file)
  } catch (error) {
    await rm(beside, { force: true })
    throw new CommandFailure(`${file} cannot be written (${errorCode(error)})`)
  }
}
