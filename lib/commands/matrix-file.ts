import { readFile, writeFile } from 'node:fs/promises'
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

/** Writes into the file that is there, or the one that a link leads to: it keeps mode and owner. */
export async function writeMatrixFile(file: string, matrix: PolicyMatrix): Promise<void> {
  await writeFile(file, matrixJson(matrix)).catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be written (${errorCode(error)})`)
  })
}
