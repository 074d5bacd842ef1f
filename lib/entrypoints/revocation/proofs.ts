import { entryPointOptions } from '../../config/option-reader.ts'
import { Size } from '../../config/option-types.ts'
import { localProofTable, MOST_PROOFS, type ProofTable } from '../../identity/proofs/proof-table.ts'

export interface ProofTableOptions {
  /**
   * Most proofs that are held; beyond it, a proof is answered with 503. While one key holds more
   * than a quarter, it is refused first, and all others have up to a quarter more. @default 500000
   */
  readonly max?: number
}

const MEMBERS = { max: Size(MOST_PROOFS, 1) }

/**
 * For the option `proofSeen`: the DPoP proofs that this process has seen, each until it is over. A
 * proof takes about 75 bytes. Where several processes serve one API, use `redisProofs`: a proof
 * that one of them has seen is new to another.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function proofTable(given: ProofTableOptions = {}): ProofTable {
  return localProofTable(entryPointOptions('proofTable', given, MEMBERS).finish())
}
