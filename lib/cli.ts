#!/usr/bin/env node
import { COMMANDS } from './commands/command-table.ts'
import { runCommandLine } from './commands/run-command-line.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, process)
