import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Two lines for a reader to paste: the expected status with what it shows, and a curl command. */
export interface ShownCall {
  readonly status: number
  readonly what: string
  readonly command: string
}

const STATUS_LINE = /^# (\d{3}) (.+)$/

/** The calls that a text shows. */
export function shownCalls(text: string): ShownCall[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const [, status, what] = STATUS_LINE.exec(line) ?? []
    if (status === undefined || what === undefined) return []
    return [{ status: Number(status), what, command: lines[index + 1] ?? '' }]
  })
}

/** The lines of a text that set shell variables for its commands. */
export function shownVariables(text: string): string {
  return [...text.matchAll(/^[A-Z]+=\S+$/gm)].join('\n')
}

/** Runs the command in a shell as it stands. On a machine without curl, uses fetch. */
export async function answerTo(
  command: string,
  variables = '',
): Promise<{ status: number; text: string }> {
  const text = await inShell(`${variables}\n${command}`)
  if (text === undefined) return byFetch(command, variables)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text }
}

async function inShell(command: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command])
    return stdout
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 127) return undefined
    throw error
  }
}

async function byFetch(
  command: string,
  variables: string,
): Promise<{ status: number; text: string }> {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? expanded(double ?? bare ?? '', variables),
  )
  const valuesOf = (flag: string): string[] =>
    words.flatMap((word, index) => (words[index - 1] === flag ? [word] : []))
  const [body] = valuesOf('-d')
  const response = await fetch(words.find((word) => word.startsWith('http:')) ?? '', {
    method: body === undefined ? 'GET' : 'POST',
    headers: valuesOf('-H').map((line): [string, string] => {
      const [name = '', value = ''] = line.split(': ')
      return [name, value]
    }),
    ...(body !== undefined && { body }),
  })
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  return {
    status: response.status,
    text: [...headers, '', await response.text()].join('\n'),
  }
}

function expanded(text: string, variables: string): string {
  return text.replace(
    /\$([A-Z]+)/,
    (_all, name) => new RegExp(`^${name}=(.*)$`, 'm').exec(variables)?.[1] ?? '',
  )
}
