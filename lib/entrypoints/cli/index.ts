#!/usr/bin/env node
import { errorCode } from '../../platform/runtime/error.ts'
import { COMMANDS, runCommandLine } from './main.ts'

let unwritten = 0
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    const code = errorCode(error)
    // A reader that goes away, such as `head`, changes nothing of what a command finds, or serves.
    if (code === 'EPIPE' || unwritten !== 0) return
    // The error may come before the exit code of the command, or after it.
    unwritten = 1
    process.exitCode ||= unwritten
    process.stderr.write(`fastify-tenant-auth: the output cannot be written (${code})\n`)
  })
}

process.exitCode = (await runCommandLine(process.argv.slice(2), COMMANDS, process)) || unwritten
