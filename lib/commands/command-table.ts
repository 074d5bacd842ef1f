import type { ListedCommand } from './command.ts'

/** Every sub-command, in the order of the help text. */
export const COMMANDS: readonly ListedCommand[] = [
  {
    name: 'policy',
    summary: 'show, write or check who may use each route of an application',
    load: async () => (await import('./policy-command.ts')).policyCommand,
  },
]
