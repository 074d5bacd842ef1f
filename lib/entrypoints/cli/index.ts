#!/usr/bin/env node
import { COMMANDS, runCommandLine } from './main.ts'

// A reader that goes away, such as `head`, changes nothing of what a command finds, or serves.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, process)
