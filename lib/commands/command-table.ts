import { authorityCommand } from './authority-command.ts'
import type { Command } from './command.ts'
import { doctorCommand } from './doctor-command.ts'
import { policyCommand } from './policy-command.ts'

/** Every sub-command, in the order of the help text. */
export const COMMANDS: readonly Command[] = [policyCommand, doctorCommand, authorityCommand]
